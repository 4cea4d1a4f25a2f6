// The trucks on a canvas over the map: their sprites are copied into one picture, and the picture is put at once.
import { L } from "./vendor.js";
import { css } from "./dom.js";
import { ALERT } from "./fleet.js";
import { Sprites, blit } from "./sprites.js";

const PADDING = 0.2;
const REACH_PX = 14;
const GLIDE_MS = 900;
const GLIDE_ZOOM = 8;
const MOST_GLIDING = 3000;
const FAR_ZOOM = 6.5;
const MANY = 3000;
/** Drawn in this order, so that what matters lies on top: silent, unknown, stopped, idle, moving, in alert. */
const LAYERS = [3, 4, 1, 2, 0, ALERT];
const still = matchMedia("(prefers-reduced-motion: reduce)");

export const TruckLayer = L.Layer.extend({
  initialize(fleet) {
    this._fleet = fleet;
    this._sprites = new Sprites();
    this._selected = null;
    this._queued = false;
    this.visible = 0;
    this.drawn_ms = 0;
  },

  onAdd(map) {
    this._canvas = L.DomUtil.create("canvas", "trucks-canvas leaflet-zoom-animated", map.getPane("overlayPane"));
    this._canvas.dataset.testid = "trucks-canvas";
    this._pen = this._canvas.getContext("2d", { willReadFrequently: true });
    this._reset();
  },

  getEvents() {
    return { moveend: this._reset, resize: this._reset, viewreset: this._reset, move: this._moved, zoom: this._scaled, zoomanim: this._animated };
  },

  /** Draw with the next picture of the screen, once. */
  redraw() {
    if (this._queued) return;
    this._queued = true;
    requestAnimationFrame(() => {
      this._queued = false;
      if (!this._map._animatingZoom) this._draw();
    });
  },

  /** A frame came: near enough, the trucks glide to their new places. */
  frame() {
    this._glideEnd = performance.now() + GLIDE_MS;
    this._glideStart = performance.now();
    this.redraw();
  },

  select(truck_id) {
    this._selected = truck_id;
    this.redraw();
  },

  repaint() {
    this._sprites.forget();
    this.redraw();
  },

  /** The slot under a point of the map's container, or null. What lies on top wins where several are as near. */
  at(point) {
    const fleet = this._fleet;
    const scale = 256 * 2 ** this._map.getZoom();
    const origin = this._map.getPixelBounds().min;
    const [x, y] = [(point.x + origin.x) / scale, (point.y + origin.y) / scale];
    let [nearest, least] = [null, (REACH_PX / scale) ** 2];
    for (let slot = 0; slot < fleet.count; slot++) {
      const square = (fleet.x[slot] - x) ** 2 + (fleet.y[slot] - y) ** 2;
      if (square < least && fleet.isShown(slot)) [nearest, least] = [slot, square];
    }
    return nearest;
  },

  _reset() {
    if (this._map._animatingZoom) return;
    const size = this._map.getSize();
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [size.x, size.y].map((each) => Math.round(each * (1 + 2 * PADDING)));
    this._corner = this._map.containerPointToLayerPoint(size.multiplyBy(-PADDING)).round();
    this._zoomDrawn = this._map.getZoom();
    this._center = this._map.getCenter();
    const [pixelsX, pixelsY] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this._canvas.width !== pixelsX || this._canvas.height !== pixelsY || !this._picture) {
      Object.assign(this._canvas, { width: pixelsX, height: pixelsY });
      Object.assign(this._canvas.style, { width: `${width}px`, height: `${height}px` });
      this._picture = this._pen.createImageData(pixelsX, pixelsY);
      this._buffer = new Uint32Array(this._picture.data.buffer);
    }
    L.DomUtil.setPosition(this._canvas, this._corner);
    this._draw();
  },

  /** While the map is dragged the canvas goes along; only past its padding is there anything new to draw. */
  _moved() {
    if (this._map.getZoom() !== this._zoomDrawn) return;
    const size = this._map.getSize();
    const gone = this._map.containerPointToLayerPoint(size.multiplyBy(-PADDING)).subtract(this._corner);
    if (Math.abs(gone.x) > size.x * PADDING * 0.9 || Math.abs(gone.y) > size.y * PADDING * 0.9) this._reset();
  },

  _scaled() {
    this._transform(this._map.getCenter(), this._map.getZoom());
  },

  _animated(event) {
    this._transform(event.center, event.zoom);
  },

  _transform(center, zoom) {
    const map = this._map;
    const scale = map.getZoomScale(zoom, this._zoomDrawn);
    const middle = map.getSize().multiplyBy(0.5 + PADDING);
    const drawnAt = map.project(this._center, zoom);
    const offset = middle.multiplyBy(-scale).add(drawnAt).subtract(map._getNewPixelOrigin(center, zoom));
    L.DomUtil.setTransform(this._canvas, offset, scale);
  },

  _draw() {
    const began = performance.now();
    const ratio = window.devicePixelRatio || 1;
    const part = this._glidePart(began);
    const far = this._zoomDrawn < FAR_ZOOM && this._fleet.count > MANY;
    const radius = far ? 1.5 + Math.max(0, this._zoomDrawn - 4) * 0.5 : Math.min(11, 5.5 + Math.max(0, this._zoomDrawn - 4) * 0.8);
    this._sprites.prepare(radius, far, ratio, this._canvas.width);
    this._buffer.fill(0);
    this._copyAll(ratio, part);
    this._pen.putImageData(this._picture, 0, 0);
    this._ring(ratio, part, radius);
    this.drawn_ms = performance.now() - began;
    if (part < 1) this.redraw();
  },

  _glidePart(now) {
    const glides = this._zoomDrawn >= GLIDE_ZOOM && this.visible < MOST_GLIDING && !still.matches && now < this._glideEnd;
    return glides ? (now - this._glideStart) / GLIDE_MS : 1;
  },

  _copyAll(ratio, part) {
    const { _fleet: fleet, _buffer: buffer, _sprites: sprites } = this;
    const { width, height } = this._canvas;
    const place = this._place(ratio);
    let visible = 0;
    for (const layer of LAYERS) {
      if (!((fleet.shown >> layer) & 1) || fleet.counts[layer] === 0) continue;
      for (let slot = 0; slot < fleet.count; slot++) {
        if (fleet.kind[slot] !== layer) continue;
        let mapX = fleet.x[slot];
        let mapY = fleet.y[slot];
        if (part < 1 && fleet.movedAt[slot] === fleet.frame_ms && Math.abs(fleet.fromX[slot] - mapX) < 1e-4) {
          mapX = fleet.fromX[slot] + (mapX - fleet.fromX[slot]) * part;
          mapY = fleet.fromY[slot] + (mapY - fleet.fromY[slot]) * part;
        }
        const x = (mapX * place.scale - place.x) | 0;
        const y = (mapY * place.scale - place.y) | 0;
        const sprite = sprites.of(layer, fleet.heading[slot]);
        const { reach } = sprite;
        if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
        blit(buffer, y * width + x, sprite);
        visible++;
      }
    }
    this.visible = visible;
    this._canvas.dataset.count = String(visible);
  },

  /** From a share of the world to a pixel of the canvas: share × scale − (x, y). */
  _place(ratio) {
    const origin = this._map.getPixelOrigin().add(this._corner);
    return { scale: 256 * 2 ** this._zoomDrawn * ratio, x: origin.x * ratio, y: origin.y * ratio };
  },

  _ring(ratio, part, radius) {
    const slot = this._selected === null ? null : this._fleet.slotOf(this._selected);
    if (slot === null) return;
    const place = this._place(ratio);
    const between = (from, to) => (Math.abs(from - to) < 1e-4 && this._fleet.movedAt[slot] === this._fleet.frame_ms ? from + (to - from) * part : to);
    const x = between(this._fleet.fromX[slot], this._fleet.x[slot]) * place.scale - place.x;
    const y = between(this._fleet.fromY[slot], this._fleet.y[slot]) * place.scale - place.y;
    const pen = this._pen;
    pen.beginPath();
    pen.arc(x, y, (radius + 6) * ratio, 0, 2 * Math.PI);
    pen.strokeStyle = css("--ring");
    pen.lineWidth = 2 * ratio;
    pen.stroke();
  },
});
