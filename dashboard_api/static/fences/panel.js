// The panel of fences: a list to search, buttons to draw, files, and the fence that is open.
import * as api from "../api.js";
import { byTestId, on, write } from "../dom.js";
import { choose } from "../state.js";
import { count, counted, trucks } from "../units.js";
import { L, html, render, repeat } from "../vendor.js";
import { Editor } from "./editor.js";
import { FenceLayer } from "./layer.js";

const REFRESH_MS = 1500;
const PER_REFRESH = 500;
const MOST_ROWS = 200;
const KINDS = ["polygon", "circle", "corridor"];
const KML = "application/vnd.google-earth.kml+xml";

export class FencePanel {
  #known = { items: [], inside: {} };
  #loaded = false;
  #timer = 0;
  #layer; #editor; #canEdit; #announce; #map;

  /** `isTaken` says whether a click at a point is for a truck. */
  constructor({ map, canEdit, announce, isTaken }) {
    [this.#map, this.#canEdit, this.#announce] = [map, canEdit, announce];
    this.#editor = new Editor(map, canEdit, {
      closed: () => this.#close(),
      saved: (fence, isMine = true) => this.#saved(fence, isMine),
      deleted: (fence) => this.#deleted(fence),
    });
    this.#layer = new FenceLayer(map, ({ fence_id }, event) => {
      if (this.isEditing || isTaken(event.containerPoint) || !this.#open(fence_id)) return;
      L.DomEvent.stop(event);
      choose({ panel: "fences", truck: null, opened: false, follows: false });
    });
    on("fence-search", () => this.#showRows(), "input");
    document.addEventListener("visibilitychange", () => document.hidden || this.refresh());
    this.refresh();
    if (!canEdit) return;
    // A click without a mouse: whoever works by keyboard goes on in the form.
    for (const kind of KINDS) on(`draw-${kind}`, ({ detail }) => this.#draw(kind, detail === 0));
    on("fences-import", ({ target }) => this.#import(target), "change");
  }

  /** Clicks on the map are for the fence that is drawn or changed. */
  get isEditing() {
    return this.#editor.isDrawing || this.#editor.isDirty;
  }

  /** Now, and from now on. With the panel closed, what was last known stays on the map: geometries are too large to fetch for nobody. */
  async refresh() {
    clearTimeout(this.#timer);
    const wanted = !document.hidden && !(byTestId("fence-panel").hidden && this.#loaded);
    if (wanted) await this.#fetch().catch(() => {}); // The page tells that the server does not answer.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh(), REFRESH_MS * Math.max(1, this.#known.items.length / PER_REFRESH));
  }

  repaint() {
    this.#layer.repaint();
  }

  async #fetch() {
    this.#known = await api.fences();
    this.#loaded = true;
    this.#layer.show(this.#known);
    this.#showRows();
    this.#editor.showInside(this.#known.inside[this.#editor.fence?.fence_id]);
  }

  #showRows() {
    const [text, { items, inside }] = [byTestId("fence-search").value.trim().toLowerCase(), this.#known];
    const found = items.filter(({ name, fence_id, tags }) => [name, fence_id, ...tags].some((each) => each.toLowerCase().includes(text)));
    found.sort((a, b) => a.name.localeCompare(b.name));
    render(repeat(found.slice(0, MOST_ROWS), (fence) => fence.fence_id, ({ fence_id, name, kind, severity }) => html`
      <li data-fence-id=${fence_id}><button type="button" data-testid="fence-row" @click=${() => this.#open(fence_id) && this.#layer.lookAt(fence_id)}>
        <span class="kind ${kind} ${severity ?? ""}" role="img" aria-label=${kind}></span>
        <span class="name">${name}<small>${severity ? `${kind}, ${severity}` : kind}</small></span>
        <b data-testid="fence-count">${inside[fence_id] ? trucks(inside[fence_id]) : ""}</b></button></li>`), byTestId("fence-rows"));
    const more = found.length > MOST_ROWS && `and ${count(found.length - MOST_ROWS)} more; search for a name or a tag`;
    const none = !found.length && (items.length ? "No fence has this name or tag." : "No fence yet. Draw one on the map.");
    write(byTestId("fence-more-rows"), more || none || "");
  }

  #show(fence, kind) {
    this.#editor.open(fence, kind);
    byTestId("fences").hidden = true;
    this.#layer.choose(fence?.fence_id ?? null, this.#canEdit);
    this.#editor.showInside(this.#known.inside[fence?.fence_id]);
  }

  #isBusy() {
    if (this.#editor.isDirty) this.#announce("Save or cancel the fence that is open first.", true);
    return this.#editor.isDirty;
  }

  #open(fence_id) {
    const fence = this.#known.items.find((each) => each.fence_id === fence_id);
    if (!fence || this.#isBusy()) return false;
    if (this.#editor.fence?.fence_id !== fence_id) this.#show(fence);
    this.#editor.focus();
    return true;
  }

  #draw(kind, byKeyboard) {
    if (this.#isBusy()) return;
    this.#show(null, kind);
    if (byKeyboard) this.#editor.focus();
    else this.#map.getContainer().focus({ preventScroll: true });
    this.#announce(`Drawing a ${kind}.`);
  }

  #close() {
    const fence_id = this.#editor.fence?.fence_id;
    this.#editor.close();
    this.#layer.choose(null);
    byTestId("fences").hidden = false;
    const row = [...byTestId("fence-rows").children].find((each) => each.dataset.fenceId === fence_id);
    (row?.firstElementChild ?? byTestId("fence-search")).focus();
  }

  async #saved(fence, isMine) {
    if (!fence) return this.#deleted({ name: "The fence" });
    this.#show(fence);
    this.#editor.focus();
    if (isMine) this.#announce(`${fence.name} is saved and counts from now on.`);
    await this.#fetch().catch(() => {});
  }

  async #deleted(fence) {
    this.#close();
    await this.#fetch().catch(() => {});
    this.#say(`${fence.name} is deleted.`);
  }

  #say(text) {
    byTestId("fences-message").hidden = false;
    write(byTestId("fences-message"), text);
  }

  async #import(input) {
    const [file] = input.files;
    try {
      const { created, updated } = await api.importFences(await file.text(), file.name.endsWith(".kml") ? KML : "application/geo+json");
      await this.#fetch();
      this.#say(`${file.name}: ${counted(created.length, "new fence")}, ${count(updated.length)} changed.`);
    } catch ({ message, where }) {
      this.#say(`${file.name} is not taken in: ${message}${where ? ` (${where})` : ""}`);
    }
    input.value = "";
  }
}
