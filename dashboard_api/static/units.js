// Every number and time that is shown gets its unit here.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const clockWithZone = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});
const COMPASS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
const NONE = "–";

export const count = (number) => (number === null ? NONE : whole.format(number));
export const counted = (number, one, many) => `${whole.format(number)} ${number === 1 ? one : many}`;
export const kmh = (speed_kmh) => (speed_kmh === null ? NONE : tenth.format(speed_kmh));
export const speed = (speed_kmh) => (speed_kmh === null ? "unknown" : `${tenth.format(speed_kmh)} km/h`);
export const km = (distance_m) => tenth.format(distance_m / 1000);
export const minute = (time) => clock.format(new Date(time));
export const moment = (time) => clockWithZone.format(new Date(time));
export const word = (code) => code.replaceAll("_", " ");

export function heading(heading_deg) {
  if (heading_deg === null) return "unknown";
  return `${whole.format(heading_deg)}° ${COMPASS[Math.round(heading_deg / 45) % 8]}`;
}

export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return counted(Math.floor(s / 86400), "day", "days");
}

export const age = (seconds) => `${duration(seconds)} ago`;
export const ageOf = (time, now_ms = Date.now()) => age((now_ms - Date.parse(time)) / 1000);

/** The short name of the browser's time zone, as the times above are shown in it. */
export function zone() {
  return clockWithZone.formatToParts(new Date()).find((part) => part.type === "timeZoneName").value;
}
