// Names on the map, those that come first before others, none over another.
import { L } from "./vendor.js";

export const Labels = L.Layer.extend({
  /** `look` gives font and colours. */
  initialize(pane, look) {
    [this._pane, this._look, this._labels] = [pane, look, []];
  },

  onAdd(map) {
    this._canvas = L.DomUtil.create("canvas", "labels-canvas leaflet-zoom-hide", map.getPane(this._pane));
  },

  getEvents() {
    return { moveend: this.draw, resize: this.draw };
  },

  /** labels: [{text, lat, lon, zoom, dot}]; each shows from its zoom on, beside a dot or above its place. */
  show(labels) {
    this._labels = labels;
    this.draw();
  },

  draw() {
    const [map, canvas] = [this._map, this._canvas];
    const [size, zoom, ratio] = [map.getSize(), map.getZoom(), window.devicePixelRatio || 1];
    Object.assign(canvas, { width: size.x * ratio, height: size.y * ratio });
    Object.assign(canvas.style, { width: `${size.x}px`, height: `${size.y}px` });
    L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]));
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    Object.assign(pen, { lineJoin: "round", lineWidth: 3, textBaseline: "middle" }, this._look());
    const taken = [];
    for (const { text, lat, lon, dot, ...label } of this._labels) {
      const at = map.latLngToContainerPoint([lat, lon]);
      if (zoom < label.zoom || at.x < 0 || at.y < 0 || at.x > size.x || at.y > size.y) continue;
      const width = pen.measureText(text).width;
      const [x, y] = dot ? [at.x + 6, at.y] : [at.x - width / 2, at.y - 9];
      if (taken.some((other) => x < other.right && other.x < x + width && Math.abs(other.y - y) < 18)) continue;
      taken.push({ x: x - 12, right: x + width + 12, y });
      if (dot) {
        pen.beginPath();
        pen.arc(at.x, at.y, 1.8, 0, 2 * Math.PI);
        pen.fill();
      }
      pen.strokeText(text, x, y);
      pen.fillText(text, x, y);
    }
  },
});
