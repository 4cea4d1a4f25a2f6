// The trucks on a canvas over the map; between two answers they glide to where they are.
import { L } from "./vendor.js";
import { css } from "./dom.js";
import { Sprites } from "./sprites.js";

const GLIDE_MS = 1800;
const FRAME_MS = 50;
const REACH_PX = 14;
const JUMP_DEG = 0.5;

const still = matchMedia("(prefers-reduced-motion: reduce)");

export const TruckLayer = L.Layer.extend({
  initialize() {
    this._spots = new Map();
    this._sprites = new Sprites();
    this._selected = null;
    this._glideEnd = 0;
    this._lastFrame = 0;
  },

  onAdd(map) {
    this._canvas = L.DomUtil.create("canvas", "trucks-canvas leaflet-zoom-animated", map.getPane("overlayPane"));
    this._canvas.dataset.testid = "trucks-canvas";
    this._reset();
  },

  getEvents() {
    return { move: this._reset, resize: this._reset, viewreset: this._reset, zoomend: this._reset, zoomanim: this._zoom };
  },

  /** Take the newest states. The camera stays where it is. */
  show(trucks) {
    const now = performance.now();
    const spots = new Map();
    for (const truck of trucks) spots.set(truck.truck_id, this._spot(truck, now));
    this._spots = spots;
    this._canvas.dataset.count = String(spots.size);
    this._glideEnd = still.matches ? 0 : now + GLIDE_MS;
    this._draw();
    requestAnimationFrame(() => this._glide());
  },

  select(truck_id) {
    this._selected = truck_id;
    this._draw();
  },

  repaint() {
    this._sprites.forget();
    this._draw();
  },

  /** The truck under a point of the map's container, or null. */
  at(point) {
    let nearest = null;
    let reach = REACH_PX;
    const now = performance.now();
    for (const spot of this._spots.values()) {
      const distance = point.distanceTo(this._point(spot, now));
      if (distance < reach) [nearest, reach] = [spot.truck.truck_id, distance];
    }
    return nearest;
  },

  _spot(truck, now) {
    const before = this._spots.get(truck.truck_id);
    const from = before ? place(before, now) : truck;
    const far = Math.abs(from.lat - truck.lat) + Math.abs(from.lon - truck.lon) > JUMP_DEG;
    const start = far || still.matches ? truck : from;
    return { truck, lat: start.lat, lon: start.lon, since: now };
  },

  _glide() {
    const now = performance.now();
    if (now - this._lastFrame >= FRAME_MS) this._draw();
    if (now < this._glideEnd + FRAME_MS) requestAnimationFrame(() => this._glide());
  },

  _reset() {
    const size = this._map.getSize();
    const ratio = window.devicePixelRatio || 1;
    this._canvas.width = Math.round(size.x * ratio);
    this._canvas.height = Math.round(size.y * ratio);
    this._canvas.style.width = `${size.x}px`;
    this._canvas.style.height = `${size.y}px`;
    L.DomUtil.setPosition(this._canvas, this._map.containerPointToLayerPoint([0, 0]));
    this._draw();
  },

  _zoom(event) {
    const corner = this._map.containerPointToLatLng([0, 0]);
    const offset = this._map._latLngToNewLayerPoint(corner, event.zoom, event.center);
    L.DomUtil.setTransform(this._canvas, offset, this._map.getZoomScale(event.zoom));
  },

  _point(spot, now) {
    const { lat, lon } = place(spot, now);
    return this._map.latLngToContainerPoint([lat, lon]);
  },

  _draw() {
    const now = (this._lastFrame = performance.now());
    const ratio = window.devicePixelRatio || 1;
    const pen = this._canvas.getContext("2d");
    const size = Math.round(Math.min(22, 12 + Math.max(0, this._map.getZoom() - 4) * 2));
    pen.clearRect(0, 0, this._canvas.width, this._canvas.height);
    for (const spot of this._spots.values()) {
      const { x, y } = this._point(spot, now);
      const sprite = this._sprites.of(spot.truck, size, ratio);
      pen.drawImage(sprite, Math.round(x * ratio - sprite.width / 2), Math.round(y * ratio - sprite.height / 2));
      if (spot.truck.truck_id === this._selected) ring(pen, x * ratio, y * ratio, size * ratio);
    }
  },
});

function place(spot, now) {
  const part = Math.min(1, (now - spot.since) / GLIDE_MS);
  return {
    lat: spot.lat + (spot.truck.lat - spot.lat) * part,
    lon: spot.lon + (spot.truck.lon - spot.lon) * part,
  };
}

function ring(pen, x, y, size) {
  pen.beginPath();
  pen.arc(x, y, size * 0.85, 0, 2 * Math.PI);
  pen.strokeStyle = css("--ring");
  pen.lineWidth = size / 9;
  pen.stroke();
}
