// Shapes on the globe: rings, circles and corridors in true metres, and GeoJSON both ways. A place is [lat, lon].
// A shape is {kind, parts, radius_m, width_m}; parts are polygons, each its outer ring and holes, without the
// repeated end. A circle is one ring of one place, a corridor one ring that stays open.

const RAD = Math.PI / 180;
const [EQUATOR_M, E2] = [6378137, 0.00669438];
const ROUND = 48;

/** The radius of the ellipsoid's curve at a latitude, seen in a direction. */
function curve_m(lat, heading) {
  const flat = 1 - E2 * Math.sin(lat * RAD) ** 2;
  const [across, along] = [EQUATOR_M / Math.sqrt(flat), (EQUATOR_M * (1 - E2)) / flat ** 1.5];
  return 1 / (Math.cos(heading) ** 2 / along + Math.sin(heading) ** 2 / across);
}

function headingOf([lat1, lon1], [lat2, lon2]) {
  const [a, b, turn] = [lat1 * RAD, lat2 * RAD, (lon2 - lon1) * RAD];
  return Math.atan2(Math.sin(turn) * Math.cos(b), Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(turn));
}

export function distance_m(from, to) {
  const [dlat, dlon] = [((to[0] - from[0]) * RAD) / 2, ((to[1] - from[1]) * RAD) / 2];
  const half = Math.sin(dlat) ** 2 + Math.cos(from[0] * RAD) * Math.cos(to[0] * RAD) * Math.sin(dlon) ** 2;
  return 2 * Math.asin(Math.min(1, Math.sqrt(half))) * curve_m((from[0] + to[0]) / 2, headingOf(from, to));
}

export function moved([lat, lon], heading, by_m) {
  const [a, arc] = [lat * RAD, by_m / curve_m(lat, heading)];
  const b = Math.asin(Math.sin(a) * Math.cos(arc) + Math.cos(a) * Math.sin(arc) * Math.cos(heading));
  const turn = Math.atan2(Math.sin(heading) * Math.sin(arc) * Math.cos(a), Math.cos(arc) - Math.sin(a) * Math.sin(b));
  return [b / RAD, lon + turn / RAD];
}

function arc(centre, from, turn, radius_m, steps) {
  return Array.from({ length: steps + 1 }, (_, i) => moved(centre, from + (turn * i) / steps, radius_m));
}

/** What is within half the width of a piece of the line: a bar with round ends. */
function capsule(from, to, half_m) {
  const heading = headingOf(from, to);
  const ends = [arc(to, heading - Math.PI / 2, Math.PI, half_m, 12), arc(from, heading + Math.PI / 2, Math.PI, half_m, 12)];
  return ends.flat();
}

/** What to fill, by which rule, and which lines to draw. */
export function outline({ kind, parts, radius_m, width_m }) {
  const rings = parts.flat().filter((ring) => ring.length);
  if (kind === "circle") {
    const round = rings.length && radius_m > 0 ? [arc(rings[0][0], 0, 2 * Math.PI, radius_m, ROUND)] : [];
    return { fill: round, lines: round, rule: "nonzero" };
  }
  if (kind === "corridor") {
    const pairs = (rings[0] ?? []).slice(1).map((to, i) => [rings[0][i], to]);
    return { fill: width_m > 0 ? pairs.map(([a, b]) => capsule(a, b, width_m / 2)) : [], lines: rings, rule: "nonzero" };
  }
  return { fill: rings, lines: rings.map((ring) => [...ring, ring[0]]), rule: "evenodd" };
}

export function length_m(line) {
  return line.slice(1).reduce((sum, to, i) => sum + distance_m(line[i], to), 0);
}

export function area_m2(ring) {
  const twice = ring.reduce((sum, [lat, lon], i) => {
    const [lat2, lon2] = ring[(i + 1) % ring.length];
    return sum + (lon2 - lon) * RAD * (2 + Math.sin(lat * RAD) + Math.sin(lat2 * RAD));
  }, 0);
  return Math.abs((twice * EQUATOR_M * EQUATOR_M * Math.sqrt(1 - E2)) / 2);
}

/** Each place on the shorter way from the one before, so that nothing is torn at the antimeridian. */
function unwrapped(ring, near) {
  return ring.map(([lon, lat]) => [lat, (near = lon + 360 * Math.round((near - lon) / 360))]);
}

export function shapeOf({ kind, geometry, radius_m, width_m }) {
  const found = geometry.coordinates;
  const raw = { circle: [[[found]]], corridor: [[found]], polygon: [found], multipolygon: found }[kind];
  const closed = kind.endsWith("polygon");
  const parts = raw.map((part) => part.map((ring) => unwrapped(closed ? ring.slice(0, -1) : ring, part[0][0][0])));
  return { kind, parts, radius_m, width_m };
}

const lonLat = ([lat, lon]) => [lon - 360 * Math.round(lon / 360), lat].map((deg) => Number(deg.toFixed(6)));

export function geometryOf({ kind, parts }) {
  const rings = parts.map((part) => part.map((ring) => ring.map(lonLat)));
  if (kind === "circle") return { type: "Point", coordinates: rings[0][0][0] ?? [] };
  if (kind === "corridor") return { type: "LineString", coordinates: rings[0][0] };
  const polygons = rings.map((part) => part.map((ring) => [...ring, ...ring.slice(0, 1)]));
  if (polygons.length > 1) return { type: "MultiPolygon", coordinates: polygons };
  return { type: "Polygon", coordinates: polygons[0] };
}
