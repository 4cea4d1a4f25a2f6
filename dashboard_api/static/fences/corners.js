// A shape in text: its corners for the keyboard, its measures, and what is wrong with it.
import { area, metres } from "../units.js";
import { area_m2, length_m } from "./geo.js";

const closed = (ring) => [...ring, ring[0]];

export const line = ([lat, lon]) => `${lat.toFixed(6)}, ${lon.toFixed(6)}`;

export function hint(kind) {
  if (kind === "circle" || kind === "corridor") return "";
  return "After an empty line begins a hole, after a line with + another part.";
}

export function asText({ parts }) {
  return parts.map((part) => part.map((ring) => ring.map(line).join("\n")).join("\n\n")).join("\n+\n");
}

/** Raises where a line is not a place. */
export function fromText(text, kind) {
  const parts = text.trim().split(/\n\s*\+\s*\n/).map((part) => part.split(/\n\s*\n/).map((ring) => ring.split("\n").map(place)));
  return { parts, kind: kind.endsWith("polygon") ? (parts.length > 1 ? "multipolygon" : "polygon") : kind };
}

function place(text) {
  const found = text.trim().split(/[\s,;]+/).map(Number);
  if (found.length !== 2 || !found.every(Number.isFinite))
    throw Object.assign(new Error(`“${text.trim()}” is no place: write it as 41.878, -87.63`), { where: "geometry" });
  return found;
}

export function measured({ kind, parts, radius_m, width_m }) {
  const rings = parts.flat().filter((ring) => ring.length);
  if (!rings.length) return "";
  if (kind === "circle") return radius_m ? `radius ${metres(radius_m)}, area ${area(Math.PI * radius_m ** 2)}` : "";
  if (kind === "corridor") return `length ${metres(length_m(rings[0]))}${width_m ? `, width ${metres(width_m)}` : ""}`;
  const whole = parts.reduce((sum, [outer = [], ...holes]) =>
    sum + area_m2(outer) - holes.reduce((holed, hole) => holed + area_m2(hole), 0), 0);
  return `area ${area(whole)}, boundary ${metres(rings.reduce((sum, ring) => sum + length_m(closed(ring)), 0))}`;
}

const CROSSING = /Self-intersection\[(\S+) (\S+)\]/;

/** [lat, lon] of what was refused, where the API says it. */
export function faultPlace(where, message, geometry) {
  const crossing = message.match(CROSSING);
  const steps = [...where.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number));
  const found = crossing ? crossing.slice(1).map(Number) : steps.reduce((at, step) => at?.[step], geometry.coordinates);
  return Number.isFinite(found?.[0]) && Number.isFinite(found?.[1]) ? [found[1], found[0]] : null;
}

export function inWords(message) {
  if (CROSSING.test(message)) return "The boundary crosses itself where the map is marked. Move a corner so that no two sides cross.";
  return message[0].toUpperCase() + message.slice(1);
}
