// One fence: its shape on the map, its rules in a form, saving and deleting.
import { element } from "../dom.js";
import * as units from "../units.js";
import * as corners from "./corners.js";
import * as fields from "./fields.js";
import { geometryOf, shapeOf } from "./geo.js";
import * as requests from "./requests.js";
import { Sketch } from "./sketch.js";

const KEYS = "Double click or Enter finishes, Backspace takes the last one back, Esc cancels.";
const HINTS = {
  polygon: `Click on the map to set the corners. ${KEYS}`,
  corridor: `Click along the way. ${KEYS}`,
  circle: "Click the centre, then the rim; or drag from the centre. Esc cancels.",
};
const LABELS = { circle: "Centre", corridor: "Line", polygon: "Corners", multipolygon: "Corners" };
const SIZES = { circle: ["radius_m", "Radius, m", 500000], corridor: ["width_m", "Width, m", 100000] };

const button = (text, testId, more = {}) => element("button", { type: "button", "data-testid": testId, ...more }, text);

export class Editor {
  dirty = false;
  #map; #fence; #shape; #on; #sketch; #form; #message; #measure; #inside; #hint; #canEdit;

  /** A fence to change, or the kind of a new one. `on` has close(), saved(fence), deleted(fence) and reload(fence). */
  constructor({ map, fence = null, kind = null, canEdit, on }) {
    [this.#map, this.#fence, this.#on, this.#canEdit] = [map, fence, on, canEdit];
    this.#shape = fence ? shapeOf(fence) : { kind, parts: [[[]]], radius_m: 500, width_m: 500 };
    this.element = this.#build();
    fields.fill(this.#form, fence ?? {});
    this.#form.elements.name.value = fence?.name ?? "";
    const heard = { change: () => this.#reshaped(), finish: () => this.focus(), cancel: () => on.close() };
    this.#sketch = new Sketch(map, this.#shape, heard, { drawing: !fence, editable: canEdit });
    this.#write();
  }

  get fence_id() {
    return this.#fence?.fence_id ?? null;
  }

  focus() {
    this.#hint.hidden = true;
    (this.#canEdit ? this.#form.elements.name : this.element.querySelector("button")).focus();
  }

  remove() {
    this.#sketch.remove();
    this.element.remove();
  }

  showInside(count) {
    const text = count ? `${units.counted(count, "truck", "trucks")} inside now` : "No truck inside now";
    if (this.#inside.textContent !== text) this.#inside.textContent = text;
  }

  #build() {
    const { kind } = this.#shape;
    this.#message = element("div", { class: "fence-message", role: "alert", "data-testid": "fence-message", hidden: "" });
    this.#measure = element("output", { class: "measure", "data-testid": "fence-measure" });
    this.#inside = element("p", { class: "inside", "data-testid": "fence-inside", role: "status" });
    this.#hint = element("p", { class: "hint drawing", "data-testid": "fence-hint" }, HINTS[kind] ?? "");
    this.#hint.hidden = this.#fence !== null;
    const back = button("‹ All fences", "fence-back", { class: "plain" });
    back.addEventListener("click", () => this.#on.close());
    const title = element("h2", {}, this.#fence ? this.#fence.name : `New ${kind}`);
    this.#form = element("form", { class: "fence-form", novalidate: "" },
      element("fieldset", this.#canEdit ? {} : { disabled: "" },
        fields.plainField("name", "Name", { type: "text", required: "", maxlength: 200 }), this.#shapeFields(),
        element("div", { class: "fields" }, ...fields.ruleFields())),
      this.#message, this.#canEdit ? this.#buttons() : null);
    this.#form.addEventListener("input", (event) => this.#typed(event.target.name));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    const box = element("div", { class: "fence-editor", "data-testid": "fence-editor" }, back, title, this.#inside, this.#hint, this.#form);
    box.addEventListener("keydown", (event) => event.key === "Escape" && !this.dirty && this.#on.close());
    return box;
  }

  #shapeFields() {
    const { kind } = this.#shape;
    const size = SIZES[kind];
    const centre = button("Add the map's centre", "fence-add-centre", { class: "plain" });
    centre.addEventListener("click", () => this.#addCentre());
    return element("div", { class: "shape" },
      size ? fields.plainField(size[0], size[1], { type: "number", min: 1, max: size[2], step: "any", required: "" }) : null,
      this.#measure,
      element("details", this.#fence ? {} : { open: "" }, element("summary", {}, LABELS[kind]),
        fields.geometryField("Latitude, longitude; one to a line", corners.hint(kind)), centre));
  }

  #buttons() {
    const remove = button("Delete", "fence-delete", { class: "danger" });
    remove.addEventListener("click", () => this.#askDelete());
    const cancel = button("Cancel", "fence-cancel");
    cancel.addEventListener("click", () => this.#on.close());
    const save = element("button", { type: "submit", class: "primary", "data-testid": "fence-save" }, "Save");
    return element("div", { class: "actions" }, save, cancel, this.#fence ? remove : null);
  }

  #addCentre() {
    const { lat, lng } = this.#map.getCenter();
    const text = this.#form.elements.geometry;
    const before = this.#shape.kind === "circle" ? "" : text.value.trimEnd();
    text.value = `${before}${before && "\n"}${corners.line([lat, lng])}`;
    this.#typed("geometry");
  }

  #write() {
    const { elements } = this.#form;
    elements.geometry.value = corners.asText(this.#shape);
    const size = SIZES[this.#shape.kind]?.[0];
    if (size) elements[size].value = this.#shape[size] ?? "";
    this.#measure.value = corners.measured(this.#shape);
  }

  #reshaped() {
    this.dirty = true;
    this.#write();
  }

  /** The map follows the fields. */
  #typed(name) {
    this.dirty = true;
    if (!["geometry", "radius_m", "width_m"].includes(name)) return;
    if (name === "geometry") {
      try {
        Object.assign(this.#shape, corners.fromText(this.#form.elements.geometry.value, this.#shape.kind));
      } catch {
        return; // Half typed; it is told when it is saved.
      }
      this.#sketch.set(this.#shape);
    } else {
      this.#shape[name] = Number(this.#form.elements[name].value) || null;
      this.#sketch.repaint();
    }
    this.#measure.value = corners.measured(this.#shape);
  }

  #draft() {
    const { elements } = this.#form;
    const wrong = [...elements].find((each) => each.willValidate && each.name && !each.validity.valid);
    if (wrong) throw Object.assign(new Error(wrong.validationMessage), { where: wrong.name });
    const shape = { ...this.#shape, ...corners.fromText(elements.geometry.value, this.#shape.kind) };
    const [radius_m, width_m] = ["radius_m", "width_m"].map((name) => (elements[name] ? Number(elements[name].value) : null));
    return { ...fields.read(this.#form), name: elements.name.value.trim(), kind: shape.kind, geometry: geometryOf(shape), radius_m, width_m };
  }

  async #save() {
    fields.clearErrors(this.#form);
    this.#message.hidden = true;
    try {
      const draft = this.#draft();
      this.#on.saved(await requests.saveFence(this.#fence, draft));
    } catch (error) {
      this.#refused(error);
    }
  }

  #refused({ status, where = "", message }) {
    if (status === 412) return this.#changedMeanwhile();
    const place = where.includes("geometry") ? corners.faultPlace(where, message, geometryOf(this.#shape)) : null;
    if (place) this.#sketch.mark(place);
    const text = corners.inWords(message);
    if (!fields.showError(this.#form, where, text)) this.#say(text);
    return undefined;
  }

  #changedMeanwhile() {
    const load = button("Load the new version", "fence-reload");
    load.addEventListener("click", () => this.#on.reload(this.#fence));
    this.#say("Somebody else has changed this fence since you opened it. Your change is not saved.", load);
  }

  #askDelete() {
    const sure = button("Delete it", "fence-delete-sure", { class: "danger" });
    const keep = button("Keep it", "fence-keep");
    sure.addEventListener("click", async () => {
      await requests.deleteFence(this.#fence).then(() => this.#on.deleted(this.#fence), (error) => this.#refused(error));
    });
    keep.addEventListener("click", () => (this.#message.hidden = true));
    this.#say(`Delete ${this.#fence.name}? Its open visits close and its alerts end; its history stays.`, sure, keep);
    keep.focus();
  }

  #say(text, ...more) {
    this.#message.replaceChildren(element("p", {}, text), ...more);
    this.#message.hidden = false;
  }
}
