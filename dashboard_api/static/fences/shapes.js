// Fences as shapes on the map, and back: GeoJSON, places as text, measures.
import { area, metres } from "../units.js";
import { L } from "../vendor.js";

const RAD = Math.PI / 180;
const EQUATOR_M = 6_378_137;
const RING_M = 2 * Math.PI * EQUATOR_M;

/** A line as wide on the map as the corridor is on the ground, there where one looks. */
export const Corridor = L.Polyline.extend({
  _project() {
    const [bounds, zoom] = [this.getBounds(), this._map.getZoom()];
    const seen = this._map.getCenter().lat;
    const lat = bounds.isValid() ? Math.max(bounds.getSouth(), Math.min(bounds.getNorth(), seen)) : seen;
    this.options.weight = Math.max(2, ((this.options.width_m ?? 0) * 256 * 2 ** zoom) / (RING_M * Math.cos(lat * RAD)));
    this._renderer._updateStyle(this);
    L.Polyline.prototype._project.call(this);
  },
});

/** Each place on the shorter way from the one before, so that nothing is torn at the antimeridian. */
const unwrapped = (path, near) => path.map(([lon, lat]) => [lat, (near = lon + 360 * Math.round((near - lon) / 360))]);
const wrapped = (at) => (typeof at[0] === "number" ? [at[0] - 360 * Math.round(at[0] / 360), at[1]] : at.map(wrapped));

/** Parts of rings of [lon, lat]; a ring without its repeated end. */
function partsOf({ type, coordinates }) {
  const parts = { Point: [[[coordinates]]], LineString: [[coordinates]], Polygon: [coordinates], MultiPolygon: coordinates }[type];
  return type.endsWith("Polygon") ? parts.map((part) => part.map((ring) => ring.slice(0, -1))) : parts;
}

export function shapeOf({ geometry, radius_m, width_m }, options) {
  const parts = partsOf(geometry).map((part) => part.map((ring) => unwrapped(ring, part[0][0][0])));
  if (geometry.type === "Point") return L.circle(parts[0][0][0], { ...options, radius: radius_m });
  if (geometry.type === "LineString") return new Corridor(parts[0][0], { ...options, width_m });
  return L.polygon(geometry.type === "Polygon" ? parts[0] : parts, options);
}

export function geometryOf(shape) {
  const { type, coordinates } = shape.toGeoJSON(6).geometry;
  return { type, coordinates: wrapped(coordinates) };
}

/** A place to a line; after an empty line a hole, after a line with + another part. */
export function asText(geometry) {
  const line = ([lon, lat]) => `${lat}, ${lon}`;
  return partsOf(geometry).map((part) => part.map((ring) => ring.map(line).join("\n")).join("\n\n")).join("\n+\n");
}

/** Raises where a line is not a place. */
export function fromText(text, kind) {
  const parts = text.trim().split(/\n\s*\+\s*\n/).map((part) => part.split(/\n\s*\n/).map((ring) => ring.split("\n").map(placeIn)));
  if (kind === "circle") return { type: "Point", coordinates: parts[0][0][0] };
  if (kind === "corridor") return { type: "LineString", coordinates: parts[0][0] };
  const closed = parts.map((part) => part.map((ring) => [...ring, ring[0]]));
  return parts.length > 1 ? { type: "MultiPolygon", coordinates: closed } : { type: "Polygon", coordinates: closed[0] };
}

function placeIn(text) {
  const [lat, lon, ...rest] = text.trim().split(/[\s,;]+/).map(Number);
  if (Number.isFinite(lat) && Number.isFinite(lon) && !rest.length) return [lon, lat];
  throw Object.assign(new Error(`“${text.trim()}” is no place: write it as 41.878, -87.63`), { where: "geometry" });
}

function length_m(path) {
  return path.slice(1).reduce((sum, [lon, lat], i) => sum + L.latLng(lat, lon).distanceTo([path[i][1], path[i][0]]), 0);
}

function area_m2(ring) {
  const twice = ring.reduce((sum, [lon, lat], i) => {
    const [lon2, lat2] = ring[(i + 1) % ring.length];
    return sum + (lon2 - lon) * RAD * (2 + Math.sin(lat * RAD) + Math.sin(lat2 * RAD));
  }, 0);
  return Math.abs((twice * EQUATOR_M ** 2) / 2);
}

export function measured(geometry, { radius_m, width_m }) {
  const rings = partsOf(geometry).flat();
  if (geometry.type === "Point") return `radius ${metres(radius_m)}, area ${area(Math.PI * radius_m ** 2)}`;
  if (geometry.type === "LineString") return `length ${metres(length_m(rings[0]))}, width ${metres(width_m)}`;
  const whole = partsOf(geometry).reduce((sum, [outer, ...holes]) => sum + area_m2(outer) - holes.reduce((holed, hole) => holed + area_m2(hole), 0), 0);
  return `area ${area(whole)}, boundary ${metres(rings.reduce((sum, ring) => sum + length_m([...ring, ring[0]]), 0))}`;
}

/** [lat, lon] of what was refused, where the API says it. */
export function faultPlace(where, message, { coordinates }) {
  const crossing = message.match(/Self-intersection\[(\S+) (\S+)\]/)?.slice(1);
  const [lon, lat] = crossing?.map(Number) ?? [...where.matchAll(/\[(\d+)\]/g)].reduce((at, [, step]) => at?.[step], coordinates) ?? [];
  return Number.isFinite(lon) && Number.isFinite(lat) ? [lat, lon] : null;
}
