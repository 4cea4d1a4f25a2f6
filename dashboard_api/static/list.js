// The list of trucks: any number of rows, of which only those in sight are elements.
import { element } from "./dom.js";
import { STATUSES } from "./fleet.js";
import { chosen } from "./state.js";
import * as units from "./units.js";

const RANK_BITS = 20;
const COLUMNS = { id: "Truck", status: "Status", speed: "Speed", age: "Last fix" };

export class TruckList {
  #order = new Uint32Array(0);
  #ranked = [];
  #rows = [];
  #named = new Set();
  #sort = { by: "id", down: false };

  constructor(fleet, container, onChoose) {
    this.fleet = fleet;
    this.heads = element("div", { class: "heads", role: "group", "aria-label": "Sort by" }, ...Object.entries(COLUMNS).map(([by, name]) => this.#head(by, name)));
    this.space = element("div", { class: "space", role: "presentation" });
    this.box = element("div", { class: "rows", role: "listbox", tabindex: "0", "aria-label": "Trucks", "data-testid": "truck-list" }, this.space);
    this.none = element("p", { class: "empty", "data-testid": "no-trucks" }, "No truck matches.");
    this.total = element("p", { class: "quiet total", "data-testid": "list-total" });
    container.append(this.total, this.heads, this.box, this.none);
    this.box.addEventListener("scroll", () => this.#draw());
    this.box.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) onChoose(row.dataset.truck);
    });
    this.box.addEventListener("keydown", (event) => this.#key(event, onChoose));
    new ResizeObserver(() => this.#draw()).observe(this.box);
  }

  #head(by, name) {
    const made = element("button", { type: "button", "data-testid": `sort-${by}`, "aria-pressed": String(by === "id") }, name);
    made.addEventListener("click", () => {
      this.#sort = { by, down: this.#sort.by === by ? !this.#sort.down : by === "speed" };
      for (const head of this.heads.children) head.setAttribute("aria-pressed", String(head === made));
      made.dataset.down = String(this.#sort.down);
      this.refresh();
    });
    return made;
  }

  /** Trucks whose name, plate or driver matches the search: only the server knows those. */
  setNamed(truckIds) {
    this.#named = new Set(truckIds);
    this.refresh();
  }

  refresh() {
    const { fleet } = this;
    if (this.#ranked.length !== fleet.count) this.#ranked = Array.from({ length: fleet.count }, (_, slot) => slot).sort((a, b) => (fleet.ids[a] < fleet.ids[b] ? -1 : 1));
    const { by, down } = this.#sort;
    const column = { id: null, status: fleet.kind, speed: fleet.speed, age: fleet.age }[by];
    const text = chosen.text.toLowerCase();
    const keys = new Uint32Array(fleet.count);
    let count = 0;
    // Value above, rank below: one sort of plain numbers orders by both.
    this.#ranked.forEach((slot, rank) => {
      if (!fleet.isShown(slot) || (text && !this.#matches(fleet.ids[slot], text))) return;
      const value = column ? (down ? 255 - column[slot] : column[slot]) : 0;
      keys[count++] = ((value << RANK_BITS) | rank) >>> 0;
    });
    this.#order = keys.subarray(0, count).sort();
    if (by === "id" && down) this.#order.reverse();
    this.space.style.height = `${count * this.#height()}px`;
    this.none.hidden = count > 0;
    this.total.textContent = `${units.counted(count, "truck", "trucks")}${count < fleet.count ? ` of ${units.count(fleet.count)}` : ""}`;
    this.#draw();
  }

  first() {
    return this.#order.length ? this.#id(0) : null;
  }

  #matches = (truck_id, text) => truck_id.toLowerCase().includes(text) || this.#named.has(truck_id);
  #slot = (place) => this.#ranked[this.#order[place] & ((1 << RANK_BITS) - 1)];
  #id = (place) => this.fleet.ids[this.#slot(place)];
  #height = () => parseFloat(getComputedStyle(this.box).getPropertyValue("--row"));

  #draw() {
    if (!this.box.clientHeight) return;
    const height = this.#height();
    const first = Math.max(0, Math.floor(this.box.scrollTop / height) - 2);
    const count = Math.max(0, Math.min(this.#order.length - first, Math.ceil(this.box.clientHeight / height) + 4));
    while (this.#rows.length < count) this.#rows.push(this.#row());
    this.#rows.forEach((row, index) => {
      row.hidden = index >= count;
      if (index < count) this.#fill(row, first + index, height);
    });
  }

  #row() {
    const cells = ["id", "status", "speed", "age"].map((name) => element("span", { class: name }));
    const row = element("div", { role: "option", class: "row", "data-testid": "truck-row" }, element("span", { class: "mark" }), ...cells);
    this.space.append(row);
    return row;
  }

  #fill(row, place, height) {
    const { fleet } = this;
    const slot = this.#slot(place);
    const status = STATUSES[fleet.kind[slot]];
    const texts = [fleet.ids[slot], status === "alert" ? "in alert" : status, fleet.speed[slot] === 255 ? "–" : `${fleet.speed[slot]} km/h`,
      fleet.age[slot] === 255 ? "over 4 min" : `${units.duration(fleet.age[slot])}`];
    row.style.transform = `translateY(${place * height}px)`;
    row.id = `row-${slot}`;
    row.dataset.truck = texts[0];
    row.setAttribute("aria-selected", String(texts[0] === chosen.truck));
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-setsize", this.#order.length);
    row.firstChild.className = `mark ${status}`;
    texts.forEach((text, index) => {
      const cell = row.children[index + 1];
      if (cell.textContent !== text) cell.textContent = text;
    });
    if (texts[0] === chosen.truck) this.box.setAttribute("aria-activedescendant", row.id);
  }

  #key(event, onChoose) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
    if (!(event.key in steps) || !this.#order.length) return;
    event.preventDefault();
    let place = -1;
    for (let each = 0; each < this.#order.length && place < 0; each++) if (this.#id(each) === chosen.truck) place = each;
    place = Math.max(0, Math.min(this.#order.length - 1, place + steps[event.key]));
    const top = place * this.#height();
    this.box.scrollTop = Math.min(top, Math.max(this.box.scrollTop, top + this.#height() - this.box.clientHeight));
    onChoose(this.#id(place), true);
    this.#draw();
  }
}
