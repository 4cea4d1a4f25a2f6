// The bar and the tabs: chips, panels, shortcuts, sound.
import { byTestId, on, write } from "./dom.js";
import { beep } from "./feed.js";
import { STATUSES } from "./fleet.js";
import { choose, chosen } from "./state.js";
import { count } from "./units.js";

const chips = Object.fromEntries(["all", ...STATUSES].map((status) => [status, byTestId(`status-${status}`)]));
const tabs = [...byTestId("tabs").children];
const panelOf = (tab) => tab.getAttribute("aria-controls").slice("panel-".length);

for (const [status, chip] of Object.entries(chips)) {
  chip.addEventListener("click", () => {
    const statuses = new Set(status === "all" ? [] : chosen.statuses);
    if (status !== "all" && !statuses.delete(status)) statuses.add(status);
    choose({ statuses });
  });
}

export function showChips(fleet) {
  byTestId("statuses").classList.toggle("filtered", chosen.statuses.size > 0);
  const total = fleet.counts.reduce((sum, each) => sum + each, 0);
  for (const [status, chip] of Object.entries(chips)) {
    const found = status === "all" ? total : fleet.counts[STATUSES.indexOf(status)];
    write(chip.querySelector("b"), count(found));
    chip.setAttribute("aria-pressed", String(status === "all" ? chosen.statuses.size === 0 : chosen.statuses.has(status)));
    if (status === "unknown") chip.hidden = found === 0 && !chosen.statuses.has(status);
  }
}

tabs.forEach((tab, index) => {
  tab.addEventListener("click", () => choose({ panel: panelOf(tab), opened: false }));
  tab.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    const next = step && tabs[(index + step + tabs.length) % tabs.length];
    next?.click(next.focus());
  });
});

export function showTabs() {
  const shown = tabs.find((tab) => panelOf(tab) === chosen.panel) ?? tabs[0];
  for (const tab of tabs) {
    tab.setAttribute("aria-selected", String(tab === shown));
    tab.tabIndex = tab === shown ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== shown || (chosen.truck && chosen.opened);
  }
}

const showSound = () => byTestId("sound").setAttribute("aria-pressed", String(Boolean(localStorage.getItem("sound"))));
on("sound", () => {
  if (localStorage.getItem("sound")) localStorage.removeItem("sound");
  else localStorage.setItem("sound", beep() ?? "on");
  showSound();
});
showSound();
on("theme", () => dispatchEvent(new Event("theme-toggle")));
on("help", () => byTestId("help-dialog").showModal());

export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return event.defaultPrevented || actions.Escape();
    if (event.target.closest("input, textarea, select") || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  });
}
