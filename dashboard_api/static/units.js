// Every number and time that is shown gets its unit here.

import { element } from "./dom.js";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const clockWithZone = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});
const clockAndZone = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
const COMPASS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
const NONE = "–";

export const count = (number) => (number === null ? NONE : whole.format(number));
export const counted = (number, one, many) => `${whole.format(number)} ${number === 1 ? one : many}`;
export const kmh = (speed_kmh) => (speed_kmh === null ? NONE : tenth.format(speed_kmh));
export const speed = (speed_kmh) => (speed_kmh === null ? "unknown" : `${tenth.format(speed_kmh)} km/h`);
export const metres = (length_m) => (length_m < 1000 ? `${whole.format(length_m)} m` : `${tenth.format(length_m / 1000)} km`);
export const milliseconds = (ms) => (ms < 1000 ? `${whole.format(ms)} ms` : `${tenth.format(ms / 1000)} s`);
export const rate = (per_s, what) => (per_s === null ? "unknown" : `${per_s < 10 ? tenth.format(per_s) : whole.format(per_s)} ${what}/s`);
export const km = (distance_m) => tenth.format(distance_m / 1000);
export const area = (area_m2) => (area_m2 < 1e5 ? `${whole.format(area_m2)} m²` : `${tenth.format(area_m2 / 1e6)} km²`);
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

/** A time with its zone and its age; the age goes on by itself (see `growOlder`). */
export function timeElement(time, testId = "time") {
  const age = element("span", { class: "age" }, ageOf(time));
  return element("time", { datetime: time, title: moment(time), "data-testid": testId }, `${clockAndZone.format(new Date(time))} · `, age);
}

export function growOlder() {
  for (const shown of document.querySelectorAll("time .age")) {
    const text = ageOf(shown.parentElement.dateTime);
    if (shown.textContent !== text) shown.textContent = text;
  }
}

/** The short name of the browser's time zone, as the times above are shown in it. */
export function zone() {
  return clockWithZone.formatToParts(new Date()).find((part) => part.type === "timeZoneName").value;
}
