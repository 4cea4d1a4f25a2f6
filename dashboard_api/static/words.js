// An alert in words: what it is called, and why it was raised.
import { duration, metres, moment, speed, word } from "./units.js";

const NAMES = {
  geofence_enter: "Entered", geofence_exit: "Left", geofence_crossed: "Drove through", geofence_dwell: "Stays in",
  overspeed: "Too fast", idle: "Stands idle", silent: "Silent", feed_silent: "No truck reports",
};
const CAUSES = {
  first_fix: "it was there with its first fix", fence_created: "the fence was drawn around it", fence_edited: "the fence was changed",
  fence_deleted: "the fence was deleted", schedule_open: "it was inside when the fence's hours began",
};
const silence = (told, after_s) => `last heard ${moment(told.last_record_time)}; silence counts from ${duration(after_s)}`;
/** From the numbers that raised it. */
const REASONS = {
  geofence_enter: (told) => told.boundary_m !== undefined && `${metres(Math.abs(told.boundary_m))} inside its boundary`,
  geofence_exit: (told) => told.visit_s !== undefined && `after ${duration(told.visit_s)} inside`,
  geofence_crossed: () => "outside before and after, the way between leads through it",
  geofence_dwell: (told) => `inside since ${moment(told.entered_time)}, longer than ${duration(told.dwell_s)}`,
  overspeed: (told) => `${speed(told.speed_kmh)} where ${speed(told.limit_kmh)} are allowed${told.peak_kmh ? `; at most ${speed(told.peak_kmh)}` : ""}`,
  idle: (told) => `has stood since ${moment(told.standing_since_time)} outside every depot, longer than ${duration(told.idle_s)}`,
  silent: (told) => silence(told, told.silent_s),
  feed_silent: (told) => silence(told, told.feed_silent_s),
};

export function title({ kind, fence_name, fence_id, explanation }) {
  const name = NAMES[kind] ?? word(kind);
  const fence = fence_name ?? explanation.fence_name ?? fence_id;
  return fence ? `${name}${kind === "overspeed" ? " in" : ""} ${fence}` : name;
}

/** One sentence. */
export function explain({ kind, cause, explanation }) {
  const found = [REASONS[kind]?.(explanation), CAUSES[cause]].filter(Boolean).join("; ");
  return found && `${found[0].toUpperCase()}${found.slice(1)}.`;
}
