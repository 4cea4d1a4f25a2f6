// Every number and time that is shown gets its unit here.
import { write } from "./dom.js";
import { html } from "./vendor.js";

const NONE = "–";
const COMPASS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
const OLDEST_S = 254;
const time = (more) => new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", ...more });
const [clock, clockAndZone, seconds] = [{}, { timeZoneName: "short" }, { second: "2-digit", timeZoneName: "short" }].map(time);
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const count = (number) => whole.format(number);
export const counted = (number, one, many = `${one}s`) => `${whole.format(number)} ${number === 1 ? one : many}`;
export const speed = (speed_kmh) => (speed_kmh === null ? "unknown" : `${tenth.format(speed_kmh)} km/h`);
/** As in a frame, where 255 is unknown. */
export const wholeSpeed = (speed_kmh) => (speed_kmh === 255 ? NONE : `${speed_kmh} km/h`);
export const metres = (length_m) => (length_m < 1000 ? `${whole.format(length_m)} m` : `${km(length_m)} km`);
export const km = (distance_m) => tenth.format(distance_m / 1000);
export const area = (area_m2) => (area_m2 < 1e5 ? `${whole.format(area_m2)} m²` : `${tenth.format(area_m2 / 1e6)} km²`);
export const milliseconds = (ms) => (ms < 1000 ? `${whole.format(ms)} ms` : `${tenth.format(ms / 1000)} s`);
export const rate = (per_s, what) => `${(per_s < 10 ? tenth : whole).format(per_s)} ${what}/s`;
export const minute = (time) => clock.format(new Date(time));
export const minuteAndZone = (time) => clockAndZone.format(new Date(time));
/** As the browser calls the zone in which all times are shown. */
export const zone = () => clockAndZone.formatToParts(new Date()).find((part) => part.type === "timeZoneName").value;
export const moment = (time) => seconds.format(new Date(time));
export const word = (code) => code.replaceAll("_", " ");
export const trucks = (number) => counted(number, "truck");

export function heading(heading_deg) {
  if (heading_deg === null) return "unknown";
  return `${whole.format(heading_deg)}° ${COMPASS[Math.round(heading_deg / 45) % 8]}`;
}

export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return counted(Math.floor(s / 86400), "day");
}

/** An age of a frame, which knows none over 254 s. */
export const briefly = (age_s) => (age_s > OLDEST_S ? "over 4 min" : duration(age_s));
export const secondsSince = (time) => (Date.now() - Date.parse(time)) / 1000;
const ageOf = (time) => `${duration(secondsSince(time))} ago`;

/** A time with its zone and its age; the age goes on by itself (see `growOlder`). */
export const timeAndAge = (time) => html`<time datetime=${time} title=${moment(time)} data-testid="time">${minuteAndZone(time)} · <span
  class="age" .textContent=${ageOf(time)}></span></time>`;

export function growOlder() {
  for (const shown of document.querySelectorAll("time .age")) write(shown, ageOf(shown.parentElement.dateTime));
}
