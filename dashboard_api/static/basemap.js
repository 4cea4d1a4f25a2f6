// The base map: the states of the U.S. on a canvas, from a file of our own server.
import { L, topojson } from "./vendor.js";
import { css } from "./dom.js";

const LOWER_48 = [[24.4, -124.9], [49.5, -66.9]];

export function makeMap(container) {
  const map = L.map(container, { attributionControl: false, zoomSnap: 0.25, zoomDelta: 1, minZoom: 3, maxZoom: 13 });
  map.fitBounds(LOWER_48);
  L.control.scale({ position: "bottomleft" }).addTo(map);
  return map;
}

/** Draw the states; gives a function that takes the colours of the theme anew. */
export async function drawStates(map) {
  const answer = await fetch("/static/vendor/us-atlas/states-10m.json");
  const atlas = await answer.json();
  // A pane below the trucks' one: drawn later, the land would cover them.
  const renderer = L.canvas({ padding: 0.5, pane: "tilePane" });
  const shared = { renderer, interactive: false };
  const land = L.geoJSON(topojson.feature(atlas, atlas.objects.nation), shared).addTo(map);
  const borders = L.geoJSON(topojson.mesh(atlas, atlas.objects.states, (a, b) => a !== b), shared).addTo(map);

  function paint() {
    land.setStyle({ fillColor: css("--land"), fillOpacity: 1, color: css("--coast"), weight: 1 });
    borders.setStyle({ color: css("--border"), weight: 1, fill: false });
  }
  paint();
  return paint;
}
