// An alert in words: what it is called, and why it was raised.
import * as units from "./units.js";

const NAMES = {
  geofence_enter: "Entered", geofence_exit: "Left", geofence_crossed: "Drove through", geofence_dwell: "Stays in",
  overspeed: "Too fast", idle: "Stands idle", silent: "Silent", feed_silent: "No truck reports",
};
const CAUSES = {
  first_fix: "it was there with its first fix", fence_created: "the fence was drawn around it", fence_edited: "the fence was changed",
  fence_deleted: "the fence was deleted", schedule_open: "it was inside when the fence's hours began",
};

export const fenceOf = (alert) => alert.fence_name ?? alert.explanation.fence_name ?? alert.fence_id;

export function title(alert) {
  const name = NAMES[alert.kind] ?? units.word(alert.kind);
  const fence = fenceOf(alert);
  return fence ? `${name}${alert.kind === "overspeed" ? " in" : ""} ${fence}` : name;
}

/** One sentence, from the numbers that raised it. */
export function explain(alert) {
  const told = alert.explanation;
  const since = (time) => units.moment(time);
  const parts = {
    geofence_enter: () => [told.boundary_m !== undefined && `${units.metres(Math.abs(told.boundary_m))} inside its boundary`],
    geofence_exit: () => [told.visit_s !== undefined && `after ${units.duration(told.visit_s)} inside`],
    geofence_crossed: () => ["outside before and after, the way between leads through it"],
    geofence_dwell: () => [`inside since ${since(told.entered_time)}, longer than ${units.duration(told.dwell_s)}`],
    overspeed: () => [`${units.speed(told.speed_kmh)} where ${units.speed(told.limit_kmh)} are allowed`, told.peak_kmh && `at most ${units.speed(told.peak_kmh)}`],
    idle: () => [`has stood since ${since(told.standing_since_time)} outside every depot, longer than ${units.duration(told.idle_s)}`],
    silent: () => [`last heard ${since(told.last_record_time)}; silence counts from ${units.duration(told.silent_s)}`],
    feed_silent: () => [`last record ${since(told.last_record_time)}; silence counts from ${units.duration(told.feed_silent_s)}`],
  };
  const found = (parts[alert.kind]?.() ?? []).concat(CAUSES[alert.cause]).filter(Boolean).join("; ");
  return found && `${found[0].toUpperCase()}${found.slice(1)}.`;
}
