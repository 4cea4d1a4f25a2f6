// The trucks on a canvas over the map: their sprites are copied into one picture, and the picture is put at once.
import { css, took } from "./dom.js";
import { ALERT } from "./fleet.js";
import { Sprites, blit } from "./sprites.js";
import { L } from "./vendor.js";

const REACH_PX = 14;
const GLIDE_MS = 900;
const GLIDE_ZOOM = 8;
const MOST_GLIDING = 3000;
/** A truck that came so far since the last frame (a share of the world) was not driven there. */
const LEAP = 1e-4;
const FAR_ZOOM = 6.5;
const MANY = 3000;
/** Drawn in this order, so that what matters lies on top: silent, unknown, stopped, idle, moving, in alert. */
const LAYERS = [3, 4, 1, 2, 0, ALERT];
const still = matchMedia("(prefers-reduced-motion: reduce)");

const glided = (from, to, part) => (part < 1 && Math.abs(from - to) < LEAP ? from + (to - from) * part : to);

export const TruckLayer = L.Renderer.extend({
  options: { padding: 0.2 },

  initialize(fleet) {
    L.Renderer.prototype.initialize.call(this);
    this._fleet = fleet;
    this._sprites = new Sprites();
    this._visible = 0;
  },

  getEvents() {
    return { ...L.Renderer.prototype.getEvents.call(this), move: this._moved };
  },

  _initContainer() {
    this._container = L.DomUtil.create("canvas", "trucks-canvas");
    this._container.dataset.testid = "trucks-canvas";
    this._pen = this._container.getContext("2d", { willReadFrequently: true });
  },

  /** Draw with the next picture of the screen, once. */
  redraw() {
    this._asked ??= requestAnimationFrame(() => {
      this._asked = null;
      if (!this._map._animatingZoom) this._draw();
    });
  },

  /** A frame came: near enough, the trucks glide to their new places. */
  frame() {
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

  /** The slot under a point of the map's container, or null. */
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

  _update() {
    if (this._map._animatingZoom && this._bounds) return;
    L.Renderer.prototype._update.call(this);
    const size = this._bounds.getSize();
    this._ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(size.x * this._ratio), Math.round(size.y * this._ratio)];
    const canvas = this._container;
    if (canvas.width !== width || canvas.height !== height || !this._picture) {
      Object.assign(canvas, { width, height });
      Object.assign(canvas.style, { width: `${size.x}px`, height: `${size.y}px` });
      this._picture = this._pen.createImageData(width, height);
      this._buffer = new Uint32Array(this._picture.data.buffer);
    }
    L.DomUtil.setPosition(canvas, this._bounds.min);
    this._draw();
  },

  /** While the map is dragged the canvas goes along; only past its padding is there anything new to draw. */
  _moved() {
    if (this._map.getZoom() !== this._zoom) return;
    const room = this._map.getSize().multiplyBy(this.options.padding);
    const gone = this._map.containerPointToLayerPoint(room.multiplyBy(-1)).subtract(this._bounds.min);
    if (Math.abs(gone.x) > room.x * 0.9 || Math.abs(gone.y) > room.y * 0.9) this._update();
  },

  _draw() {
    const start = performance.now();
    const part = this._glidePart();
    const far = this._zoom < FAR_ZOOM && this._fleet.count > MANY;
    const nearer = Math.max(0, this._zoom - 4);
    const radius = far ? 1.5 + nearer * 0.5 : Math.min(11, 5.5 + nearer * 0.8);
    // From a share of the world to a pixel of the canvas: share × scale − (x, y).
    const origin = this._map.getPixelOrigin().add(this._bounds.min).multiplyBy(this._ratio);
    const place = { scale: 256 * 2 ** this._zoom * this._ratio, x: origin.x, y: origin.y };
    this._sprites.prepare(radius, far, this._ratio, this._container.width);
    this._buffer.fill(0);
    this._copyAll(place, part);
    this._pen.putImageData(this._picture, 0, 0);
    this._ring(place, part, radius);
    took("draw", start);
    if (part < 1) this.redraw();
  },

  _glidePart() {
    const glides = this._zoom >= GLIDE_ZOOM && this._visible < MOST_GLIDING && !still.matches;
    return glides ? Math.min(1, (performance.now() - this._glideStart) / GLIDE_MS || 0) : 1;
  },

  _copyAll(place, part) {
    const { kind, heading, x: xs, y: ys, fromX, fromY, shown, counts, count } = this._fleet;
    const { width, height } = this._container;
    const [buffer, sprites] = [this._buffer, this._sprites];
    let visible = 0;
    for (const layer of LAYERS) {
      if (!((shown >> layer) & 1) || counts[layer] === 0) continue;
      for (let slot = 0; slot < count; slot++) {
        if (kind[slot] !== layer) continue;
        const x = (glided(fromX[slot], xs[slot], part) * place.scale - place.x) | 0;
        const y = (glided(fromY[slot], ys[slot], part) * place.scale - place.y) | 0;
        const sprite = sprites.of(layer, heading[slot]);
        const { reach } = sprite;
        if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
        blit(buffer, y * width + x, sprite);
        visible++;
      }
    }
    this._visible = visible;
    this._container.dataset.count = String(visible);
  },

  _ring(place, part, radius) {
    const fleet = this._fleet;
    const slot = this._selected ? fleet.slotOf(this._selected) : null;
    if (slot === null) return;
    const x = glided(fleet.fromX[slot], fleet.x[slot], part) * place.scale - place.x;
    const y = glided(fleet.fromY[slot], fleet.y[slot], part) * place.scale - place.y;
    const pen = this._pen;
    pen.beginPath();
    pen.arc(x, y, (radius + 6) * this._ratio, 0, 2 * Math.PI);
    pen.strokeStyle = css("--ring");
    pen.lineWidth = 2 * this._ratio;
    pen.stroke();
  },
});
