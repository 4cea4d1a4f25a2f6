// One fence: its shape on the map, its rules in the form, saving and deleting.
import * as api from "../api.js";
import { byTestId, css, on, write } from "../dom.js";
import { timeAndAge, trucks } from "../units.js";
import { L, html, nothing, render } from "../vendor.js";
import { clearErrors, fill, read, showError } from "./form.js";
import { Corridor, asText, faultPlace, fromText, geometryOf, measured, shapeOf } from "./shapes.js";

const KEYS = "Click the last one again or press Enter to finish, Backspace takes it back, Esc cancels.";
const HINTS = {
  polygon: `Click on the map to set the corners. ${KEYS}`,
  corridor: `Click along the way. ${KEYS}`,
  circle: "Press on the centre and drag to the rim. Esc cancels.",
};
const LEAST = { polygon: 3, corridor: 2 };
const USUAL_M = 500;
const DOUBLE_CLICK_MS = 500;
const part = (name) => byTestId(`fence-${name}`);
const form = part("form");

export class Editor {
  fence = null;
  isDirty = false;
  #map; #kind; #shape; #fault; #told; #canEdit;

  /** `told` has closed(), saved(fence) and deleted(fence). */
  constructor(map, canEdit, told) {
    [this.#map, this.#canEdit, this.#told] = [map, canEdit, told];
    map.createPane("sketch");
    // By keyboard the places are typed.
    L.Editable.VertexMarker.mergeOptions({ title: "Drag to move; right-click or press long to remove", keyboard: false });
    L.Editable.MiddleMarker.mergeOptions({ title: "Drag to add a corner", keyboard: false });
    map.on("editable:vertex:rawclick", (event) => event.cancel());
    map.on("editable:vertex:contextmenu", ({ vertex }) => vertex.editor.vertexCanBeDeleted(vertex) && vertex.delete());
    map.on("editable:drawing:clicked editable:drag editable:vertex:drag editable:edited", () => this.#reshaped());
    map.on("editable:drawing:commit", () => this.focus());
    // The second click of a double click ends a drawing; the map would zoom by it.
    map.on("editable:drawing:start", () => map.doubleClickZoom.disable());
    map.on("editable:drawing:end", () => setTimeout(() => map.doubleClickZoom.enable(), DOUBLE_CLICK_MS));
    form.querySelector("fieldset").disabled = !canEdit;
    form.addEventListener("input", ({ target }) => this.#typed(target.name));
    form.addEventListener("submit", (event) => this.#save(event.preventDefault()));
    on("fence-back", () => told.closed());
    on("fence-add-centre", () => this.#addCentre());
    on("fence-editor", ({ key }) => key === "Escape" && !this.isDirty && told.closed(), "keydown");
    on("fence-history", () => this.#showHistory(), "toggle");
    if (!canEdit) return;
    on("fence-cancel", () => told.closed());
    on("fence-delete", () => this.#askDelete());
    document.addEventListener("keydown", (event) => this.#key(event), { capture: true });
  }

  get isDrawing() {
    return Boolean(this.#map.editTools.drawing());
  }

  /** A fence to look at or to change; or none, and the kind of a new one. */
  open(fence, kind = fence.kind) {
    this.close();
    [this.fence, this.#kind] = [fence, kind.replace("multi", "")];
    clearErrors(form);
    fill(form, fence ?? { radius_m: USUAL_M, width_m: USUAL_M });
    for (const each of form.querySelectorAll("[data-kind]")) each.hidden = each.dataset.kind !== this.#kind;
    write(part("title"), fence ? fence.name : `New ${kind}`);
    for (const name of ["delete", "history"]) part(name)?.toggleAttribute("hidden", !fence);
    part("history").open = part("more").open = false;
    part("message").hidden = true;
    part("places").open = !fence;
    part("editor").hidden = false;
    part("hint").hidden = Boolean(fence);
    write(part("hint"), HINTS[kind] ?? "");
    if (fence) this.#show(fence);
    else this.#draw();
    this.#write();
    this.isDirty = false;
  }

  close() {
    this.#clear();
    part("editor").hidden = true;
    [this.fence, this.isDirty] = [null, false];
  }

  focus() {
    part("hint").hidden = true;
    (this.#canEdit ? form.elements.name : part("back")).focus();
  }

  showInside(count) {
    write(part("inside"), this.fence ? `${count ? trucks(count) : "No truck"} inside now` : "");
  }

  get #look() {
    return { pane: "sketch", color: css("--sketch"), weight: 2.5, fillOpacity: 0.22, opacity: this.#kind === "corridor" ? 0.45 : 1,
      width_m: USUAL_M, radius: USUAL_M, bubblingMouseEvents: true };
  }

  #clear() {
    const shape = this.#shape;
    // Nobody hears of what the tools do to it now.
    this.#shape = null;
    if (this.isDrawing) this.#map.editTools.stopDrawing();
    shape?.disableEdit();
    shape?.remove();
    this.#fault?.remove();
  }

  #draw() {
    const tools = this.#map.editTools;
    tools.options.lineGuideOptions.color = css("--sketch");
    if (this.#kind === "circle") this.#shape = tools.startCircle(undefined, this.#look);
    else if (this.#kind === "corridor") this.#shape = tools.startPolyline(undefined, { ...this.#look, polylineClass: Corridor });
    else this.#shape = tools.startPolygon(undefined, this.#look);
  }

  #show(fence) {
    this.#clear();
    this.#shape = shapeOf(fence, this.#look).addTo(this.#map);
    if (this.#canEdit) this.#shape.enableEdit();
  }

  get #geometry() {
    const [geometry, { elements }] = [geometryOf(this.#shape), form];
    return { geometry, radius_m: Number(elements.radius_m.value), width_m: Number(elements.width_m.value) };
  }

  /** The fields follow the map. */
  #write() {
    const { elements } = form;
    if (this.#kind === "circle" && this.#shape) elements.radius_m.value = Math.max(1, Math.round(this.#shape.getRadius()));
    const { geometry, ...size } = this.#geometry;
    const isEmpty = this.isDrawing && this.#kind === "circle" ? !this.#map.hasLayer(this.#shape) : geometry.coordinates.flat(9).length < 2;
    elements.geometry.value = isEmpty ? "" : asText(geometry);
    part("measure").value = isEmpty ? "" : measured(geometry, size);
  }

  #reshaped() {
    if (!this.#shape) return;
    this.isDirty = true;
    this.#write();
  }

  /** The map follows the fields. */
  #typed(name) {
    this.isDirty = true;
    if (!["geometry", "radius_m", "width_m"].includes(name)) return;
    try {
      const draft = { ...this.#geometry, geometry: fromText(form.elements.geometry.value, this.#kind) };
      this.#show(draft);
      part("measure").value = measured(draft.geometry, draft);
    } catch {
      // Half typed; it is told when it is saved.
    }
  }

  #addCentre() {
    const { lat, lng } = this.#map.getCenter();
    const { geometry } = form.elements;
    const before = this.#kind === "circle" ? "" : geometry.value.trimEnd();
    geometry.value = `${before}${before && "\n"}${lat.toFixed(6)}, ${lng.toFixed(6)}`;
    this.#typed("geometry");
  }

  #key(event) {
    if (!this.isDrawing || (event.target.closest("input, textarea, select, button, a, summary") && event.key !== "Escape")) return;
    const set = this.#shape.getLatLngs?.().flat() ?? [];
    if (event.key === "Enter" && set.length >= LEAST[this.#kind]) this.#map.editTools.commitDrawing();
    else if (event.key === "Backspace" && this.#kind !== "circle") this.#reshaped(this.#shape.editor.pop());
    else if (event.key === "Escape") this.#told.closed();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  async #save() {
    clearErrors(form);
    this.#fault?.remove();
    part("message").hidden = true;
    try {
      const rules = read(form);
      const geometry = fromText(form.elements.geometry.value, this.#kind);
      const size = { radius_m: this.#kind === "circle" ? rules.radius_m : null, width_m: this.#kind === "corridor" ? rules.width_m : null };
      const kind = geometry.type === "MultiPolygon" ? "multipolygon" : this.#kind;
      this.#told.saved(await api.saveFence(this.fence, { ...rules, ...size, kind, geometry }));
    } catch (error) {
      this.#refused(error);
    }
  }

  #refused({ status, where = "", message }) {
    if (status === 412) return this.#changedMeanwhile();
    const crosses = message.includes("Self-intersection");
    const place = this.#shape && where.includes("geometry") ? faultPlace(where, message, geometryOf(this.#shape)) : null;
    if (place) this.#fault = L.marker(place, { icon: L.divIcon({ className: "handle fault", iconSize: [14, 14] }), title: "Here", keyboard: false }).addTo(this.#map);
    const text = crosses ? "The boundary crosses itself where the map is marked. Move a corner so that no two sides cross." : `${message[0].toUpperCase()}${message.slice(1)}`;
    if (!showError(form, where, text)) this.#say(text);
    return undefined;
  }

  #changedMeanwhile() {
    const load = async () => this.#told.saved(await api.fence(this.fence.fence_id).catch(() => null), false);
    this.#say("Somebody else has changed this fence since you opened it. Your change is not saved.",
      html`<button type="button" class="button" data-testid="fence-reload" @click=${load}>Load the new version</button>`);
  }

  #askDelete() {
    const { fence } = this;
    const sure = () => api.deleteFence(fence).then(() => this.#told.deleted(fence), (error) => this.#refused(error));
    const keep = () => (part("message").hidden = true);
    this.#say(`Delete ${fence.name}? Its open visits close and its alerts end; its history stays.`,
      html`<button type="button" class="button danger" data-testid="fence-delete-sure" @click=${sure}>Delete it</button>
        <button type="button" class="button" data-testid="fence-keep" @click=${keep}>Keep it</button>`);
    part("keep").focus();
  }

  #say(text, buttons = nothing) {
    render(html`<p>${text}</p>${buttons}`, part("message"));
    part("message").hidden = false;
  }

  async #showHistory() {
    const box = part("history");
    if (!box.open || !this.fence) return;
    const { items } = await api.fenceVersions(this.fence.fence_id).catch(() => ({ items: [] }));
    render(items.map(({ fence, who, written_time }) => html`<li><b>Version ${fence.version}</b>${timeAndAge(written_time)}
      <p class="quiet">${fence.name}, by ${who}</p></li>`), box.querySelector("ul"));
  }
}
