// The list of fences, with a search. Rows stay where they are while their counts change, so the focus stays too.
import { element } from "../dom.js";
import * as units from "../units.js";

const MOST_ROWS = 200;

export class FenceList {
  #fences = []; #inside = {}; #shown = ""; #onOpen;
  #rows = element("ul", { class: "fence-rows", "data-testid": "fence-rows" });
  #search = element("input", { type: "search", placeholder: "Search fences", "aria-label": "Search fences", "data-testid": "fence-search" });
  #more = element("p", { class: "empty", "data-testid": "fence-more-rows" });

  constructor({ onOpen }) {
    this.#onOpen = onOpen;
    this.element = element("div", { class: "fence-list" }, this.#search, this.#rows, this.#more);
    this.#search.addEventListener("input", () => this.#render());
  }

  show({ fences, inside }) {
    [this.#fences, this.#inside] = [fences, inside];
    this.#render();
  }

  focus(fence_id) {
    const row = [...this.#rows.children].find((each) => each.dataset.fenceId === fence_id);
    (row?.firstChild ?? this.#search).focus();
  }

  #render() {
    const text = this.#search.value.trim().toLowerCase();
    const found = this.#fences.filter(({ name, fence_id, tags }) =>
      [name, fence_id, ...tags].some((each) => each.toLowerCase().includes(text)));
    found.sort((a, b) => a.name.localeCompare(b.name));
    const rows = found.slice(0, MOST_ROWS);
    const shown = rows.map(({ fence_id, version }) => `${fence_id}/${version}`).join("\n");
    if (shown !== this.#shown) this.#rows.replaceChildren(...rows.map((fence) => this.#row(fence)));
    this.#shown = shown;
    for (const row of this.#rows.children) row.update(this.#inside[row.dataset.fenceId] ?? 0);
    this.#more.textContent = this.#rest(found.length);
  }

  #rest(found) {
    if (found > MOST_ROWS) return `and ${units.count(found - MOST_ROWS)} more; search for a name or a tag`;
    if (found) return "";
    return this.#fences.length ? "No fence has this name or tag." : "No fence yet. Draw one on the map.";
  }

  #row({ fence_id, name, kind, severity }) {
    const count = element("b", { "data-testid": "fence-count" });
    const inner = element("button", { type: "button", "data-testid": "fence-row" },
      element("span", { class: `kind ${kind} ${severity ?? ""}`, role: "img", "aria-label": kind }),
      element("span", { class: "name" }, name, element("small", {}, severity ? `${kind}, ${severity}` : kind)), count);
    inner.addEventListener("click", () => this.#onOpen(fence_id));
    const row = element("li", { "data-fence-id": fence_id }, inner);
    row.update = (inside) => {
      const text = inside ? units.counted(inside, "truck", "trucks") : "";
      if (count.textContent !== text) count.textContent = text;
    };
    return row;
  }
}
