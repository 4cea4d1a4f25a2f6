// The base map: states, freeways and cities, from our own server. Where the server has no roads, there are none.
import { ask } from "./api.js";
import { css } from "./dom.js";
import { Labels } from "./labels.js";
import { L, topojson } from "./vendor.js";

const LOWER_48 = [[24.4, -124.9], [49.5, -66.9]];

export function makeMap(container) {
  const map = L.map(container, { attributionControl: false, zoomSnap: 0.25, zoomDelta: 1, minZoom: 3, maxZoom: 15, editable: true });
  home(map, false);
  L.control.scale({ position: "bottomleft" }).addTo(map);
  return map;
}

export const home = (map, animate) => map.fitBounds(LOWER_48, { animate });

/** Draws what there is; gives a function that takes the colours of the theme anew. */
export async function drawBaseMap(map) {
  const atlas = await (await fetch("/static/vendor/us-atlas/states-10m.json")).json();
  // A pane below the trucks' one: drawn later, the land would cover them.
  const shared = { renderer: L.canvas({ padding: 0.5, pane: "tilePane" }), interactive: false };
  const land = L.geoJSON(topojson.feature(atlas, atlas.objects.nation), shared).addTo(map);
  const borders = L.geoJSON(topojson.mesh(atlas, atlas.objects.states, (a, b) => a !== b), shared).addTo(map);
  const roads = L.polyline([], { ...shared, smoothFactor: 1.5 }).addTo(map);
  const names = new Labels("tilePane", () => ({ font: `500 11px ${css("--sans")}`, strokeStyle: css("--halo"), fillStyle: css("--city") })).addTo(map);

  function paint() {
    land.setStyle({ fillColor: css("--land"), fillOpacity: 1, color: css("--coast"), weight: 1 });
    borders.setStyle({ color: css("--border"), weight: 1, fill: false });
    roads.setStyle({ color: css("--road"), weight: map.getZoom() > 7 ? 2 : 1, fill: false });
    names.draw();
  }
  paint();
  map.on("zoomend", () => roads.setStyle({ weight: map.getZoom() > 7 ? 2 : 1 }));
  ask("/api/map/roads").then(({ lines, per_degree }) => roads.setLatLngs(lines.map((line) => positions(line, per_degree)))).catch(() => {});
  ask("/api/map/cities").then(({ items }) => names.show(items.map(cityLabel))).catch(() => {});
  return paint;
}

/** The larger a city, the sooner its name shows. */
const cityLabel = ({ name, lat, lon, population }) => ({ text: name, lat, lon, dot: true, zoom: 3.4 + Math.log2(2.4e6 / population) });

/** A line comes as lon, lat and then the steps from each position to the next. */
function positions(line, per_degree) {
  const found = [];
  let [lon, lat] = [0, 0];
  for (let index = 0; index < line.length; index += 2) {
    lon += line[index];
    lat += line[index + 1];
    found.push([lat / per_degree, lon / per_degree]);
  }
  return found;
}
