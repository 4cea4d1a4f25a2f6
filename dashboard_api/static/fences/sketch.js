// A shape under the hand: set corners by clicks, then drag them. Whoever made it hears of each change.
import { L } from "../vendor.js";
import { css } from "../dom.js";
import { distance_m, moved, outline } from "./geo.js";

const MOST_HANDLES = 300;
const DRAG_PX = 6;
const EAST = Math.PI / 2;
const LEAST = { polygon: 3, multipolygon: 3, corridor: 2, circle: 1 };
const places = ({ lat, lng }) => [lat, lng];

export class Sketch {
  #map; #shape; #on; #drawing; #editable; #pointer = null; #pressed = null;
  #group = L.layerGroup(); #handles = L.layerGroup(); #fill; #line; #listening = new AbortController();

  /** `on` has change(shape), finish() and cancel(). */
  constructor(map, shape, on, { drawing = false, editable = true } = {}) {
    [this.#map, this.#shape, this.#on, this.#drawing, this.#editable] = [map, shape, on, drawing, editable];
    const pane = map.getPane("sketch") ?? map.createPane("sketch");
    pane.classList.add("sketch-pane");
    const renderer = L.svg({ pane: "sketch", padding: 1 });
    const shared = { renderer, interactive: false, color: css("--sketch") };
    this.#fill = L.polygon([], { ...shared, stroke: false, fillOpacity: 0.22 }).addTo(this.#group);
    this.#line = L.polyline([], { ...shared, weight: 2.5 }).addTo(this.#group);
    this.#handles.addTo(this.#group);
    this.#group.addTo(map);
    map.on("moveend", this.#render, this);
    if (drawing) this.#listen();
    this.#render();
  }

  set(shape) {
    this.#shape = shape;
    this.finish();
  }

  repaint() {
    this.#render();
  }

  /** From now on the corners are dragged. */
  finish() {
    this.#drawing = false;
    this.#stopListening();
    this.#render();
  }

  remove() {
    this.#stopListening();
    this.#map.off("moveend", this.#render, this);
    this.#group.remove();
  }

  /** Point at the place of a fault. */
  mark(place) {
    this.#handle(place, "fault", "Here").addTo(this.#handles);
  }

  /** Before the page and Leaflet hear it: a click now sets a corner and chooses nothing. */
  #listen() {
    const container = this.#map.getContainer();
    container.classList.add("sketching");
    this.#map.doubleClickZoom.disable();
    if (this.#shape.kind === "circle") this.#map.dragging.disable();
    const options = { capture: true, signal: this.#listening.signal };
    const heard = { click: this.#click, dblclick: this.#done, mousedown: this.#press, mousemove: this.#hover, mouseup: this.#release };
    for (const [name, react] of Object.entries(heard)) {
      container.addEventListener(name, (event) => !event.target.closest(".leaflet-control") && react.call(this, event), options);
    }
    document.addEventListener("keydown", (event) => this.#key(event), options);
  }

  #stopListening() {
    if (this.#listening.signal.aborted) return;
    this.#listening.abort();
    this.#map.getContainer().classList.remove("sketching");
    this.#map.doubleClickZoom.enable();
    this.#map.dragging.enable();
  }

  get #ring() {
    return this.#shape.parts[0][0];
  }

  #place(event) {
    return places(this.#map.mouseEventToLatLng(event));
  }

  #click(event) {
    event.stopPropagation();
    if (this.#map.dragging.moved() || event.detail > 1) return;
    if (this.#shape.kind !== "circle") this.#ring.push(this.#place(event));
    else if (!this.#ring.length) this.#ring.push(this.#place(event));
    else if (!this.#pressed) return void this.#done(event);
    this.#pressed = null;
    this.#changed();
  }

  #press(event) {
    if (this.#shape.kind !== "circle" || this.#ring.length) return;
    this.#pressed = event;
    this.#ring.push(this.#place(event));
  }

  #hover(event) {
    this.#pointer = this.#place(event);
    if (this.#shape.kind !== "circle" || !this.#ring.length) return this.#paint();
    this.#shape.radius_m = Math.max(1, Math.round(distance_m(this.#ring[0], this.#pointer)));
    return this.#changed();
  }

  #release(event) {
    const from = this.#pressed;
    if (from && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) > DRAG_PX) {
      // The click that ends this drag would choose what lies below.
      this.#map.getContainer().addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true });
      this.#done(event);
    }
  }

  #done(event) {
    event.stopPropagation();
    if (this.#ring.length < LEAST[this.#shape.kind]) return;
    this.finish();
    this.#on.finish();
  }

  #key(event) {
    if (event.target.closest("input, textarea, select, button, a, summary") && event.key !== "Escape") return;
    if (event.key === "Enter") this.#done(event);
    else if (event.key === "Backspace") this.#ring.pop();
    else if (event.key === "Escape") this.#on.cancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (this.#drawing) this.#changed();
  }

  #changed() {
    this.#render();
    this.#on.change(this.#shape);
  }

  #paint() {
    const open = this.#drawing && this.#pointer && this.#shape.kind !== "circle" && this.#ring.length;
    const shape = open ? { ...this.#shape, parts: [[[...this.#ring, this.#pointer]]] } : this.#shape;
    const { fill, lines, rule } = outline(shape);
    this.#fill.setStyle({ fillRule: rule });
    // By rule "nonzero" each piece is an area of its own; otherwise the later rings are holes.
    this.#fill.setLatLngs(rule === "nonzero" ? fill.map((ring) => [ring]) : fill);
    this.#line.setLatLngs(lines);
  }

  #render() {
    this.#paint();
    this.#handles.clearLayers();
    if (!this.#editable) return;
    const view = this.#map.getBounds().pad(0.1);
    const rings = this.#shape.parts.flat();
    const shown = rings.flatMap((ring) => ring.map((_, i) => [ring, i])).filter(([ring, i]) => view.contains(ring[i]));
    for (const [ring, i] of shown.slice(0, MOST_HANDLES)) {
      this.#corner(ring, i);
      if (!this.#drawing && this.#shape.kind !== "circle") this.#middle(ring, i);
    }
    if (this.#shape.kind === "circle" && !this.#drawing && rings[0].length && this.#shape.radius_m > 0) this.#rim(rings[0][0]);
  }

  #handle(place, name, title) {
    const icon = L.divIcon({ className: `handle ${name}`, iconSize: [14, 14] });
    return L.marker(place, { icon, title, alt: title, draggable: !this.#drawing, interactive: !this.#drawing, pane: "sketch" });
  }

  #corner(ring, i) {
    const name = this.#shape.kind === "circle" ? "Centre" : `Corner ${i + 1}`;
    const handle = this.#handle(ring[i], "corner", name).addTo(this.#handles);
    const drop = () => {
      if (ring.length <= LEAST[this.#shape.kind]) return;
      ring.splice(i, 1);
      this.#changed();
    };
    handle.on("drag", () => this.#move(ring, i, handle)).on("dragend", () => this.#changed());
    handle.on("click", ({ originalEvent }) => originalEvent.altKey && drop());
    handle.on("keydown", ({ originalEvent: { key } }) => key === "Delete" && drop());
  }

  #middle(ring, i) {
    const last = i + 1 === ring.length;
    if (last && this.#shape.kind === "corridor") return;
    const next = ring[(i + 1) % ring.length];
    const between = this.#map.project(ring[i]).add(this.#map.project(next)).divideBy(2);
    const handle = this.#handle(this.#map.unproject(between), "middle", "Drag to add a corner").addTo(this.#handles);
    handle.on("dragstart", () => ring.splice(i + 1, 0, places(handle.getLatLng())));
    handle.on("drag", () => this.#move(ring, i + 1, handle)).on("dragend", () => this.#changed());
  }

  #rim(centre) {
    const handle = this.#handle(moved(centre, EAST, this.#shape.radius_m), "corner", "Radius").addTo(this.#handles);
    handle.on("drag", () => {
      this.#shape.radius_m = Math.max(1, Math.round(distance_m(centre, places(handle.getLatLng()))));
      this.#paint();
      this.#on.change(this.#shape);
    });
    handle.on("dragend", () => this.#changed());
  }

  #move(ring, i, handle) {
    ring[i] = places(handle.getLatLng());
    this.#paint();
    this.#on.change(this.#shape);
  }
}
