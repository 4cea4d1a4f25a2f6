// All fences on one canvas below the trucks: those in view, small ones as dots, names where there is room.
import { L } from "../vendor.js";
import { css, element } from "../dom.js";
import { counted } from "../units.js";
import { outline, shapeOf } from "./geo.js";

const PADDING = 0.25;
const DOT_PX = 3;
const LABEL_PX = 70;

export class FenceLayer {
  #map; #canvas; #corner; #colours;
  #items = new Map(); #seen = []; #inside = {}; #selected = null; #hidden = null; #hovered = null;
  #tip = L.tooltip({ direction: "top", offset: [0, -8], opacity: 1, className: "fence-tip" });

  constructor(map) {
    this.#map = map;
    const pane = map.getPane("fences") ?? map.createPane("fences");
    this.#canvas = element("canvas", { class: "fences-canvas leaflet-zoom-animated", "data-testid": "fences-canvas" });
    pane.append(this.#canvas);
    map.on("moveend zoomend viewreset resize", () => this.#reset());
    map.on("move", () => this.#leavesWhatIsDrawn() && this.#reset());
    map.on("zoomanim", (event) => this.#zoom(event));
    map.on("mousemove", (event) => this.#hover(event));
    map.on("mouseout", () => this.#hover(null));
    this.repaint();
  }

  /** `inside` says how many trucks are in each fence. */
  setFences(fences, inside) {
    const known = this.#items;
    const items = fences.map((fence) => known.get(fence.fence_id)?.fence.version === fence.version
      ? known.get(fence.fence_id) : this.#item(fence));
    // The largest first: a small fence inside it is drawn over it, and found before it.
    items.sort((a, b) => b.size - a.size);
    this.#items = new Map(items.map((item) => [item.fence.fence_id, item]));
    this.#inside = inside;
    this.#draw();
  }

  select(fence_id) {
    this.#selected = fence_id;
    this.#draw();
  }

  /** Leave one out, while it is drawn by whoever changes it. */
  hide(fence_id) {
    this.#hidden = fence_id;
    this.#draw();
  }

  repaint() {
    this.#colours = { info: css("--fence-info"), warning: css("--fence-warning"), critical: css("--fence-critical"),
      none: css("--fence"), text: css("--text"), halo: css("--land") };
    this.#reset();
  }

  /** The fence under a point of the map's container, or null. */
  at(point) {
    const scale = 2 ** this.#map.getZoom();
    const place = this.#map.getPixelBounds().min.add(point).divideBy(scale);
    const found = this.#seen.findLast(({ fill, rule, box: [west, north, east, south] }) => {
      const reach = Math.max(0, 4 / scale - (east - west) / 2);
      if (place.x < west - reach || place.x > east + reach || place.y < north - reach || place.y > south + reach) return false;
      return reach > 0 || encloses(fill, rule, place);
    });
    return found?.fence.fence_id ?? null;
  }

  #item(fence) {
    const shape = shapeOf(fence);
    const world = (path) => path.map((place) => this.#map.project(place, 0));
    const { fill, lines, rule } = outline(shape);
    const [filled, drawn] = [fill.map(world), lines.map(world)];
    const all = [...filled, ...drawn].flat();
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const { x, y } of all) {
      [box[0], box[1], box[2], box[3]] = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)];
    }
    return { fence, fill: filled, lines: drawn, rule, box, size: Math.max(box[2] - box[0], box[3] - box[1]) };
  }

  #leavesWhatIsDrawn() {
    const room = this.#map.getSize().multiplyBy(PADDING);
    const off = this.#map.containerPointToLayerPoint([0, 0]).subtract(this.#corner);
    return Math.abs(off.x - room.x) > room.x || Math.abs(off.y - room.y) > room.y;
  }

  #reset() {
    const size = this.#map.getSize().multiplyBy(1 + 2 * PADDING).round();
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this.#canvas, { width: size.x * ratio, height: size.y * ratio });
    Object.assign(this.#canvas.style, { width: `${size.x}px`, height: `${size.y}px` });
    this.#corner = this.#map.containerPointToLayerPoint(this.#map.getSize().multiplyBy(-PADDING)).round();
    L.DomUtil.setPosition(this.#canvas, this.#corner);
    this.#draw();
  }

  #zoom({ zoom, center }) {
    const corner = this.#map.layerPointToLatLng(this.#corner);
    const scale = this.#map.getZoomScale(zoom);
    L.DomUtil.setTransform(this.#canvas, this.#map._latLngToNewLayerPoint(corner, zoom, center), scale);
  }

  #draw() {
    const ratio = window.devicePixelRatio || 1;
    const pen = this.#canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [width, height] = [this.#canvas.width / ratio, this.#canvas.height / ratio];
    pen.clearRect(0, 0, width, height);
    const scale = 2 ** this.#map.getZoom();
    const origin = this.#map.getPixelOrigin().add(this.#corner);
    this.#seen = [];
    for (const item of this.#items.values()) {
      const [west, north, east, south] = item.box;
      const [x, y] = [west * scale - origin.x, north * scale - origin.y];
      const outside = x > width || y > height || east * scale < origin.x || south * scale < origin.y;
      if (outside || item.fence.fence_id === this.#hidden) continue;
      this.#seen.push(item);
      this.#one(pen, item, scale, origin);
    }
    this.#labels(pen, scale, origin);
    this.#canvas.dataset.count = String(this.#seen.length);
  }

  #one(pen, { fence, fill, lines, rule, box, size }, scale, origin) {
    const strong = fence.fence_id === this.#selected || fence.fence_id === this.#hovered;
    pen.fillStyle = this.#colours[fence.severity ?? "none"];
    // What is no colour changes nothing.
    if (fence.colour) pen.fillStyle = fence.colour;
    pen.strokeStyle = pen.fillStyle;
    if (size * scale < DOT_PX) {
      const [x, y] = [((box[0] + box[2]) / 2) * scale - origin.x, ((box[1] + box[3]) / 2) * scale - origin.y];
      const half = strong ? 4 : DOT_PX / 2;
      pen.fillRect(x - half, y - half, 2 * half, 2 * half);
      return;
    }
    trace(pen, fill, scale, origin);
    pen.globalAlpha = strong ? 0.34 : 0.16;
    pen.fill(rule);
    pen.globalAlpha = strong ? 1 : 0.75;
    pen.lineWidth = strong ? 2.5 : 1.25;
    trace(pen, lines, scale, origin);
    pen.stroke();
    pen.globalAlpha = 1;
  }

  #labels(pen, scale, origin) {
    const taken = [];
    Object.assign(pen, { font: "600 11px system-ui, sans-serif", textAlign: "center", textBaseline: "middle",
      fillStyle: this.#colours.text, strokeStyle: this.#colours.halo, lineWidth: 3, lineJoin: "round" });
    for (const { fence, box, size } of this.#seen.toReversed()) {
      if (size * scale < LABEL_PX) continue;
      const inside = this.#inside[fence.fence_id];
      const text = inside ? `${fence.name} · ${inside}` : fence.name;
      const [x, y] = [((box[0] + box[2]) / 2) * scale - origin.x, box[1] * scale - origin.y - 9];
      const half = pen.measureText(text).width / 2 + 4;
      if (taken.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < 16)) continue;
      taken.push({ x, y, half });
      pen.strokeText(text, x, y);
      pen.fillText(text, x, y);
    }
  }

  #hover(event) {
    const found = event && !event.originalEvent.buttons ? this.at(event.containerPoint) : null;
    if (found) this.#tip.setLatLng(event.latlng);
    if (found === this.#hovered) return;
    this.#hovered = found;
    this.#map.getContainer().classList.toggle("over-fence", found !== null);
    if (found) {
      const inside = this.#inside[found] ?? 0;
      const text = inside ? `${counted(inside, "truck", "trucks")} inside` : "no truck inside";
      this.#tip.setContent(element("span", { "data-testid": "fence-tip" },
        element("strong", {}, this.#items.get(found).fence.name), element("small", {}, text)));
      this.#map.openTooltip(this.#tip);
    } else this.#map.closeTooltip(this.#tip);
    this.#draw();
  }
}

function trace(pen, paths, scale, origin) {
  pen.beginPath();
  for (const path of paths) {
    path.forEach(({ x, y }, i) => pen[i ? "lineTo" : "moveTo"](x * scale - origin.x, y * scale - origin.y));
  }
}

/** By the rings' rule: within an odd number of them, or within any. */
function encloses(rings, rule, { x, y }) {
  const around = rings.filter((ring) => {
    let odd = false;
    ring.forEach((a, i) => {
      const b = ring[(i + 1) % ring.length];
      if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) odd = !odd;
    });
    return odd;
  });
  return rule === "evenodd" ? around.length % 2 === 1 : around.length > 0;
}
