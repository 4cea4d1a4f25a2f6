// The list of trucks: any number of rows, of which only those in sight are elements.
import { byTestId, on, write } from "./dom.js";
import { STATUSES, called } from "./fleet.js";
import { chosen } from "./state.js";
import { briefly, count, trucks, wholeSpeed } from "./units.js";
import { html, render } from "./vendor.js";

const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
const COLUMNS = { id: null, status: "kind", speed: "speed", age: "age" };

export class TruckList {
  #order = new Uint32Array(0);
  #byName = new Uint32Array(0);
  #small = [];
  #named = new Set();
  #sort = { by: "id", down: false };
  #box = byTestId("truck-list");
  #space = this.#box.firstElementChild;

  constructor(fleet, onChoose) {
    Object.assign(this, { fleet, onChoose });
    for (const by of Object.keys(COLUMNS)) on(`sort-${by}`, () => this.#sortBy(by));
    this.#box.addEventListener("scroll", () => this.#draw());
    this.#box.addEventListener("keydown", (event) => this.#step(event));
    new ResizeObserver(() => this.#draw()).observe(this.#box);
  }

  #sortBy(by) {
    this.#sort = { by, down: this.#sort.by === by ? !this.#sort.down : by === "speed" };
    for (const each of Object.keys(COLUMNS)) {
      byTestId(`sort-${each}`).setAttribute("aria-pressed", String(each === by));
      byTestId(`sort-${each}`).dataset.down = String(this.#sort.down);
    }
    this.refresh();
  }

  /** Trucks whose name, plate or driver matches the search: only the server knows those. */
  setNamed(truckIds) {
    this.#named = new Set(truckIds);
    this.refresh();
  }

  refresh() {
    const { fleet } = this;
    if (this.#byName.length !== fleet.count) this.#rank();
    this.#order = this.#sorted(this.#matching());
    const total = this.#order.length;
    this.#space.style.height = `${total * this.#height}px`;
    byTestId("no-trucks").hidden = total > 0;
    write(byTestId("list-total"), total < fleet.count ? `${trucks(total)} of ${count(fleet.count)}` : trucks(total));
    this.#draw();
  }

  first() {
    return this.#order.length ? this.fleet.ids[this.#order[0]] : null;
  }

  #rank() {
    const { ids } = this.fleet;
    this.#byName = Uint32Array.from(ids, (_, slot) => slot).sort((a, b) => (ids[a] < ids[b] ? -1 : 1));
    this.#small = ids.map((truck_id) => truck_id.toLowerCase());
  }

  /** Slots, by name. */
  #matching() {
    const [text, small, { ids }] = [chosen.text.toLowerCase(), this.#small, this.fleet];
    const found = this.#byName.filter((slot) => this.fleet.isShown(slot) && (!text || small[slot].includes(text) || this.#named.has(ids[slot])));
    return this.#sort.by === "id" && this.#sort.down ? found.reverse() : found;
  }

  /** Many trucks, but no more than 256 values: they are counted into place, which keeps names in order. */
  #sorted(slots) {
    const values = this.fleet[COLUMNS[this.#sort.by]];
    if (!values) return slots;
    const flip = this.#sort.down ? 255 : 0;
    const starts = new Uint32Array(257);
    for (const slot of slots) starts[(values[slot] ^ flip) + 1]++;
    for (let value = 1; value < 257; value++) starts[value] += starts[value - 1];
    const sorted = new Uint32Array(slots.length);
    for (const slot of slots) sorted[starts[values[slot] ^ flip]++] = slot;
    return sorted;
  }

  get #height() {
    return parseFloat(getComputedStyle(this.#box).getPropertyValue("--row"));
  }

  #draw() {
    const [box, height] = [this.#box, this.#height];
    if (!box.clientHeight) return;
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 2);
    const slots = [...this.#order.subarray(first, first + Math.ceil(box.clientHeight / height) + 4)];
    render(slots.map((slot, index) => this.#row(slot, first + index, height)), this.#space);
    box.setAttribute("aria-activedescendant", this.#space.querySelector("[aria-selected=true]")?.id ?? "");
  }

  #row(slot, place, height) {
    const { ids, kind, speed, age } = this.fleet;
    const [id, status] = [ids[slot], STATUSES[kind[slot]]];
    return html`<div role="option" class="row" data-testid="truck-row" id="row-${slot}" data-truck=${id} .style=${`transform: translateY(${place * height}px)`}
      aria-selected=${id === chosen.truck} aria-posinset=${place + 1} aria-setsize=${this.#order.length} @click=${() => this.onChoose(id)}>
      <span class="mark ${status}"></span><span class="id">${id}</span><span class="status">${called(status)}</span>
      <span class="speed">${wholeSpeed(speed[slot])}</span><span class="age">${briefly(age[slot])}</span>
    </div>`;
  }

  #step(event) {
    const [box, height, order] = [this.#box, this.#height, this.#order];
    if (!(event.key in STEPS) || !order.length) return;
    event.preventDefault();
    const from = order.indexOf(this.fleet.slotOf(chosen.truck) ?? -1);
    const place = Math.max(0, Math.min(order.length - 1, from + STEPS[event.key]));
    const top = place * height;
    box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + height - box.clientHeight));
    this.onChoose(this.fleet.ids[order[place]], true);
    this.#draw();
  }
}
