// The base map: states, freeways and cities, from our own server. Where the server has no roads, there are none.
import { L, topojson } from "./vendor.js";
import { ask } from "./api.js";
import { css } from "./dom.js";

const LOWER_48 = [[24.4, -124.9], [49.5, -66.9]];
const LABEL_PX = 110;

export function makeMap(container) {
  const map = L.map(container, { attributionControl: false, zoomSnap: 0.25, zoomDelta: 1, minZoom: 3, maxZoom: 15 });
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
  const names = new CityNames().addTo(map);

  function paint() {
    land.setStyle({ fillColor: css("--land"), fillOpacity: 1, color: css("--coast"), weight: 1 });
    borders.setStyle({ color: css("--border"), weight: 1, fill: false });
    roads.setStyle({ color: css("--road"), weight: map.getZoom() > 7 ? 2 : 1, fill: false });
    names.draw();
  }
  paint();
  map.on("zoomend", () => roads.setStyle({ weight: map.getZoom() > 7 ? 2 : 1 }));
  ask("/api/map/roads").then((found) => roads.setLatLngs(found.lines.map((line) => positions(line, found.per_degree)))).catch(() => {});
  ask("/api/map/cities").then((found) => names.show(found.items)).catch(() => {});
  return paint;
}

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

/** Names of cities, the larger first, none over another. */
const CityNames = L.Layer.extend({
  _cities: [],

  onAdd(map) {
    this._canvas = L.DomUtil.create("canvas", "names-canvas leaflet-zoom-hide", map.getPane("tilePane"));
  },

  getEvents() {
    return { moveend: this.draw, resize: this.draw };
  },

  show(cities) {
    this._cities = cities;
    this.draw();
  },

  draw() {
    const size = this._map.getSize();
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this._canvas, { width: size.x * ratio, height: size.y * ratio });
    Object.assign(this._canvas.style, { width: `${size.x}px`, height: `${size.y}px` });
    L.DomUtil.setPosition(this._canvas, this._map.containerPointToLayerPoint([0, 0]));
    const pen = this._canvas.getContext("2d");
    pen.scale(ratio, ratio);
    Object.assign(pen, { font: `500 11px ${css("--sans")}`, lineJoin: "round", lineWidth: 3, strokeStyle: css("--halo"), fillStyle: css("--city"), textBaseline: "middle" });
    const taken = [];
    for (const city of this._cities) {
      if (city.population < 2.4e6 / 2 ** (this._map.getZoom() - 3.4)) break;
      const at = this._map.latLngToContainerPoint([city.lat, city.lon]);
      if (at.x < 0 || at.y < 0 || at.x > size.x || at.y > size.y) continue;
      if (taken.some((other) => Math.abs(other.x - at.x) < LABEL_PX && Math.abs(other.y - at.y) < 18)) continue;
      taken.push(at);
      pen.beginPath();
      pen.arc(at.x, at.y, 1.8, 0, 2 * Math.PI);
      pen.fill();
      pen.strokeText(city.name, at.x + 6, at.y);
      pen.fillText(city.name, at.x + 6, at.y);
    }
  },
});
