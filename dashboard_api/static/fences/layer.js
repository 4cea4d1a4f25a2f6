// All fences on one canvas below the trucks, with their names where there is room.
import { css } from "../dom.js";
import { Labels } from "../labels.js";
import { trucks } from "../units.js";
import { L, html, render } from "../vendor.js";
import { shapeOf } from "./shapes.js";

const LABEL_PX = 70;
const LOOKS = { usual: { opacity: 0.75, fillOpacity: 0.16, bandOpacity: 0.25 }, strong: { opacity: 1, fillOpacity: 0.34, bandOpacity: 0.5 } };

export class FenceLayer {
  #map; #group; #renderer; #labels; #inside = {}; #chosen = null; #hidden = null;
  #shown = new Map();

  /** `onClick` hears of the fence that was clicked, and the event. */
  constructor(map, onClick) {
    this.#map = map;
    map.createPane("fences");
    this.#renderer = L.canvas({ pane: "fences", padding: 0.25, tolerance: 3 });
    this.#labels = new Labels("fences", () => ({ font: `600 11px ${css("--sans")}`, fillStyle: css("--text"), strokeStyle: css("--land") })).addTo(map);
    this.#group = L.featureGroup().addTo(map);
    this.#group.bindTooltip((shape) => this.#tip(shape.fence), { sticky: true, direction: "top", offset: [0, -8], opacity: 1, className: "fence-tip" });
    this.#group.on("click", (event) => onClick(event.layer.fence, event));
    this.#group.on("mouseover", ({ layer }) => this.#look(layer, "strong")).on("mouseout", ({ layer }) => this.#look(layer));
  }

  /** `inside` says how many trucks are in each fence. What did not change stays as it is. */
  show({ items, inside }) {
    const known = this.#shown;
    this.#inside = inside;
    this.#shown = new Map(items.map((fence) => [fence.fence_id, known.get(fence.fence_id)?.fence.version === fence.version
      ? known.get(fence.fence_id) : this.#made(fence)]));
    for (const [fence_id, shape] of known) if (this.#shown.get(fence_id) !== shape) this.#group.removeLayer(shape);
    const isNew = ([fence_id, shape]) => known.get(fence_id) !== shape;
    if (known.size !== this.#shown.size || [...this.#shown].some(isNew)) this.#place();
    else this.#name();
  }

  /** The one that is chosen stands out; it is left out, while it is drawn by whoever changes it. */
  choose(fence_id, edited) {
    [this.#chosen, this.#hidden] = [fence_id, edited ? fence_id : null];
    this.#place();
  }

  lookAt(fence_id) {
    this.#map.fitBounds(this.#shown.get(fence_id).bounds, { padding: [60, 60] });
  }

  repaint() {
    for (const shape of this.#shown.values()) this.#look(shape);
    this.#labels.draw();
  }

  #made(fence) {
    const shape = shapeOf(fence, { renderer: this.#renderer });
    // A circle asks its map for its bounds.
    const bounds = shape.addTo(this.#map).getBounds();
    shape.remove();
    const [west, east] = [this.#map.project(bounds.getNorthWest(), 0), this.#map.project(bounds.getSouthEast(), 0)];
    const size = Math.max(east.x - west.x, east.y - west.y);
    const label = { lat: bounds.getNorth(), lon: bounds.getCenter().lng, zoom: Math.log2(LABEL_PX / size) };
    return Object.assign(shape, { fence, bounds, size, label });
  }

  #place() {
    if (this.#shown.has(this.#hidden)) this.#group.removeLayer(this.#shown.get(this.#hidden));
    const shapes = this.#visible();
    for (const shape of shapes) {
      this.#group.addLayer(shape);
      this.#look(shape);
      shape.bringToFront();
    }
    this.#map.getPane("fences").dataset.count = String(shapes.length);
    this.#name();
  }

  /** The largest first: a small fence inside it is drawn over it, and found before it. */
  #visible() {
    const shapes = [...this.#shown.values()].filter(({ fence }) => fence.fence_id !== this.#hidden);
    return shapes.sort((a, b) => b.size - a.size);
  }

  #name() {
    this.#labels.show(this.#visible().toReversed().map(({ fence, label }) => {
      const inside = this.#inside[fence.fence_id];
      return { ...label, text: inside ? `${fence.name} · ${inside}` : fence.name };
    }));
  }

  #look(shape, how = shape.fence.fence_id === this.#chosen ? "strong" : "usual") {
    const { severity, colour, kind } = shape.fence;
    const { opacity, fillOpacity, bandOpacity } = LOOKS[how];
    const color = colour ?? css(severity ? `--fence-${severity}` : "--fence");
    if (kind === "corridor") shape.setStyle({ color, opacity: bandOpacity });
    else shape.setStyle({ color, opacity, fillOpacity, weight: how === "strong" ? 2.5 : 1.25 });
  }

  #tip({ fence_id, name }) {
    const tip = document.createElement("span");
    const inside = this.#inside[fence_id];
    tip.dataset.testid = "fence-tip";
    render(html`<strong>${name}</strong><small>${inside ? `${trucks(inside)} inside` : "no truck inside"}</small>`, tip);
    return tip;
  }
}
