// What stands beside the map: counts, windows, the chosen truck, rejects.
import { byTestId, element } from "./dom.js";
import * as units from "./units.js";

const STATUSES = ["moving", "idle", "stopped", "silent", "unknown"];
const empty = (text) => element("p", { class: "empty" }, text);

export function showStatuses(trucks) {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0]));
  for (const truck of trucks) counts[truck.status] += 1;
  const shown = STATUSES.filter((status) => status !== "unknown" || counts.unknown > 0);
  const chips = shown.map((status) =>
    element("li", { "data-testid": `status-${status}` }, element("span", { class: `dot ${status}` }),
      element("b", {}, units.count(counts[status])), status));
  const all = element("li", { "data-testid": "status-all" }, element("b", {}, units.count(trucks.length)),
    trucks.length === 1 ? "truck" : "trucks");
  byTestId("statuses").replaceChildren(all, ...chips);
}

function head(name, unit) {
  return element("th", { scope: "col" }, name, element("small", {}, unit));
}

function windowRow(window, fleet) {
  const state = window.final ? "yes" : "open";
  const start = element("td", { title: units.moment(window.window_start) }, units.minute(window.window_start),
    element("small", {}, units.ageOf(window.window_end)));
  return element("tr", { "data-testid": "window", class: window.final ? "final" : "open" }, start,
    fleet ? element("td", {}, units.count(window.active_trucks)) : null,
    element("td", {}, units.count(window.fixes)), element("td", {}, units.kmh(window.speed_avg_kmh)),
    element("td", {}, units.km(window.distance_m)), element("td", {}, state));
}

function windowTable(windows, fleet) {
  const heads = [head("Minute", units.zone()), fleet ? head("Active", "trucks") : null, head("Fixes", "count"),
    head("Avg speed", "km/h"), head("Distance", "km"), head("Final", "\u00a0")];
  return element("table", {}, element("thead", {}, element("tr", {}, ...heads.filter(Boolean))),
    element("tbody", {}, ...windows.map((window) => windowRow(window, fleet))));
}

export function showFleetWindows(windows) {
  const none = empty("No window yet. The first one shows within a minute of the first fix.");
  byTestId("fleet-windows").replaceChildren(windows.length ? windowTable(windows, true) : none);
}

function fact(name, value, testId) {
  return element("div", {}, element("dt", {}, name), element("dd", { "data-testid": testId }, value));
}

export function showTruck(truck, windows, age_s, onClose) {
  const panel = byTestId("truck-panel");
  const close = element("button", { class: "close", type: "button", "aria-label": "Close", "data-testid": "close" }, "×");
  close.addEventListener("click", onClose);
  const title = element("div", {}, element("h2", {}, truck.name ?? truck.truck_id),
    element("small", {}, truck.name ? truck.truck_id : "not in the registry"));
  const since = units.duration((Date.now() - Date.parse(truck.status_since)) / 1000);
  const facts = element("dl", { class: "facts" },
    fact("Status", element("span", {}, element("span", { class: `dot ${truck.status}` }), ` ${truck.status}, ${since}`),
      "truck-status"),
    fact("Speed", units.speed(truck.speed_kmh), "truck-speed"),
    fact("Heading", units.heading(truck.heading_deg), "truck-heading"),
    fact("Driver", truck.driver ?? "unknown", "truck-driver"), fact("Plate", truck.plate ?? "unknown", "truck-plate"),
    fact("Last fix", element("span", { title: units.moment(truck.event_time) }, units.age(age_s)), "truck-age"));
  const table = windows.length ? windowTable(windows, false) : empty("No window of this truck yet.");
  panel.replaceChildren(element("header", {}, title, close), facts, element("h3", {}, "Its last minutes"), table);
  panel.hidden = false;
}

export function hideTruck() {
  byTestId("truck-panel").hidden = true;
}

export function showRejects(rejects, counts) {
  const total = Math.max(counts.rejected_total, rejects.total);
  const summary = element("p", { class: "total", "data-testid": "rejects-total" },
    total ? `${units.counted(total, "record", "records")} so far` : "None so far.");
  const rows = rejects.items.map((reject) =>
    element("li", {}, element("b", {}, units.word(reject.reason)), ` ${reject.truck_id ?? "no key"} `,
      element("small", { title: units.moment(reject.received_time) }, units.ageOf(reject.received_time)),
      element("div", { class: "quiet" }, reject.detail)));
  byTestId("rejects").replaceChildren(summary, element("ul", { class: "rejects" }, ...rows));
}
