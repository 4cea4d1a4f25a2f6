// The bar and the tabs: chips, search, panels, help, shortcuts.
import { byTestId, element } from "./dom.js";
import { STATUSES } from "./fleet.js";
import { choose, chosen } from "./state.js";
import * as units from "./units.js";

const CHIPS = ["moving", "idle", "stopped", "alert", "silent", "unknown"];
const TABS = { alerts: "Alerts", trucks: "Trucks", fences: "Fences", fleet: "Fleet", health: "Health" };
const KEYS = { "/": "search", f: "follow the chosen truck, or stop", h: "home: the whole country", "?": "this help", Esc: "close, or let go of the truck", "+ −": "zoom; arrows move the map" };

export function makeChips() {
  const chips = ["all", ...CHIPS].map((status) => {
    const name = status === "alert" ? "in alert" : status === "all" ? "trucks" : status;
    const made = element("button", { type: "button", class: `chip ${status}`, "data-testid": `status-${status}`, "aria-pressed": "false" },
      status === "all" ? null : element("span", { class: `mark ${status}`, "aria-hidden": "true" }), element("b", {}, "0"), name);
    made.addEventListener("click", () => {
      const statuses = new Set(status === "all" ? [] : chosen.statuses);
      if (status !== "all" && !statuses.delete(status)) statuses.add(status);
      choose({ statuses });
    });
    return made;
  });
  byTestId("statuses").append(...chips);
}

export function showChips(fleet) {
  let all = 0;
  for (const count of fleet.counts) all += count;
  byTestId("statuses").classList.toggle("filtered", chosen.statuses.size > 0);
  for (const status of ["all", ...CHIPS]) {
    const chip = byTestId(`status-${status}`);
    const count = status === "all" ? all : fleet.counts[STATUSES.indexOf(status)];
    chip.querySelector("b").textContent = units.count(count);
    chip.setAttribute("aria-pressed", String(status === "all" ? chosen.statuses.size === 0 : chosen.statuses.has(status)));
    if (status === "unknown") chip.hidden = count === 0 && !chosen.statuses.has(status);
  }
}

export function makeTabs() {
  const names = Object.keys(TABS);
  const tabs = names.map((name, index) => {
    const made = element("button", { type: "button", class: "tab", role: "tab", id: `tab-${name}`, "data-testid": `tab-${name}`, "aria-controls": `panel-${name}` }, TABS[name]);
    made.addEventListener("click", () => choose({ panel: name, opened: false }));
    made.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) tabs[(index + step + tabs.length) % tabs.length].focus(tabs[(index + step + tabs.length) % tabs.length].click());
    });
    const panel = document.getElementById(`panel-${name}`);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", made.id);
    return made;
  });
  tabs[0].append(element("span", { class: "badge", "data-testid": "open-alerts", hidden: "" }));
  byTestId("tabs").append(...tabs);
}

export function showTabs() {
  const shown = chosen.panel in TABS ? chosen.panel : "alerts";
  byTestId("truck-panel").hidden = !(chosen.truck && chosen.opened);
  for (const name of Object.keys(TABS)) {
    const tab = byTestId(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === shown));
    tab.tabIndex = name === shown ? 0 : -1;
    document.getElementById(`panel-${name}`).hidden = name !== shown || (chosen.truck && chosen.opened);
  }
}

export function makeHelp() {
  const dialog = byTestId("help-dialog");
  const close = element("button", { type: "button", class: "button", "data-testid": "help-close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const rows = Object.entries(KEYS).map(([key, what]) => element("div", {}, element("dt", {}, element("kbd", {}, key)), element("dd", {}, what)));
  const shapes = CHIPS.map((status) => element("li", {}, element("span", { class: `mark ${status}` }), status === "alert" ? "in alert: open, not acknowledged, more than a note" : status));
  dialog.append(element("h2", { id: "help-title" }, "Help"), element("dl", { class: "keys" }, ...rows), element("ul", { class: "shapes" }, ...shapes), close);
  byTestId("help").addEventListener("click", () => dialog.showModal());
}

export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return event.defaultPrevented || actions.Escape(event);
    if (event.target.closest("input, textarea, select") || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key](event);
  });
}
