// The chosen truck: newest fix, driver, speed, visits, alerts, windows; and its trail on the map.
import * as api from "./api.js";
import { chart } from "./charts.js";
import { byTestId, css, element } from "./dom.js";
import { STATUSES } from "./fleet.js";
import { choose, chosen } from "./state.js";
import * as units from "./units.js";
import { L } from "./vendor.js";
import { explain, title } from "./words.js";

const none = { items: [] };
const fact = (name, value, testId) => element("div", {}, element("dt", {}, name), element("dd", { "data-testid": testId }, value));
const rows = (name, items, empty, testId) => element("section", { "data-testid": testId }, element("h3", {}, name), items.length ? element("ul", { class: "lines" }, ...items) : element("p", { class: "empty" }, empty));

export class TruckPanel {
  constructor(map, fleet, alerts) {
    Object.assign(this, { map, fleet, alerts, panel: byTestId("truck-panel") });
    this.trail = L.polyline([], { interactive: false, weight: 2.5, opacity: 0.8 }).addTo(map);
    this.speeds = element("div", { class: "chart-box", "data-testid": "truck-chart" });
  }

  /** Asks for everything anew; what came for a truck that is no longer chosen is dropped. */
  async refresh() {
    const truck_id = chosen.truck;
    if (!truck_id) return this.trail.setLatLngs([]);
    const failed = (error) => ({ error });
    const [truck, track, visits, windows] = await Promise.all([api.truck(truck_id).catch(failed), api.track(truck_id).catch(() => null),
      api.visits(truck_id, 8).catch(() => none), api.windows({ truck_id, limit: 5 }).catch(() => none)]);
    if (chosen.truck !== truck_id) return null;
    this.trail.setStyle({ color: css("--trail") }).setLatLngs((track?.geometry?.coordinates ?? []).map(([lon, lat]) => [lat, lon]));
    if (truck.error) return this.#missing(truck_id, truck.error);
    return this.#draw(truck, track, visits.items, windows.items);
  }

  #missing(truck_id, error) {
    this.panel.replaceChildren(this.#head(truck_id, error.status === 404 ? "not known" : "cannot be read"), element("p", { class: "empty" }, error.message));
  }

  #head(name, under) {
    const close = element("button", { class: "icon", type: "button", "aria-label": "Close the truck", "data-testid": "close" }, "×");
    close.addEventListener("click", () => choose({ truck: null, follows: false, opened: false }));
    const follow = element("button", { class: "button", type: "button", "data-testid": "follow", "aria-pressed": String(chosen.follows), title: "f" }, chosen.follows ? "Following" : "Follow");
    follow.addEventListener("click", () => choose({ follows: !chosen.follows }));
    return element("header", {}, element("div", {}, element("h2", {}, name), element("small", {}, under)), follow, close);
  }

  #draw(truck, track, visits, windows) {
    const slot = this.fleet.slotOf(truck.truck_id);
    const status = slot === null ? truck.status : STATUSES[this.fleet.kind[slot]];
    const since = units.duration((Date.now() - Date.parse(truck.status_since)) / 1000);
    const told = status === "alert" ? `in alert, ${truck.status}` : status;
    const facts = element("dl", { class: "facts" },
      fact("Status", element("span", {}, element("span", { class: `mark ${status}` }), ` ${told}, ${since}`), "truck-status"),
      fact("Speed", units.speed(truck.speed_kmh), "truck-speed"), fact("Heading", units.heading(truck.heading_deg), "truck-heading"),
      fact("Driver", truck.driver ?? "unknown", "truck-driver"), fact("Plate", truck.plate ?? "unknown", "truck-plate"),
      fact("Last fix", units.timeElement(truck.event_time), "truck-age"),
      fact("Position", `${truck.lat.toFixed(5)}°, ${truck.lon.toFixed(5)}°`, "truck-position"), fact("Accuracy", truck.accuracy_m === null ? "unknown" : units.metres(truck.accuracy_m), "truck-accuracy"),
      fact("In fences", truck.fences.join(", ") || "none", "truck-fences"));
    const line = (...parts) => element("li", {}, ...parts);
    const alerts = this.alerts.newest((alert) => alert.truck_id === truck.truck_id).slice(0, 8);
    const under = truck.name ? truck.truck_id : "not in the registry";
    this.panel.replaceChildren(this.#head(truck.name ?? truck.truck_id, under), facts, this.speeds,
      rows("Alerts", alerts.map((alert) => line(element("b", {}, title(alert)), units.timeElement(alert.start_time), element("p", { class: "quiet" }, explain(alert)))), "No alert of this truck.", "truck-alerts"),
      rows("Visits", visits.map((visit) => line(element("b", {}, visit.fence_id), units.timeElement(visit.enter_time),
        element("p", { class: "quiet" }, visit.exit_time ? `stayed ${units.duration((Date.parse(visit.exit_time) - Date.parse(visit.enter_time)) / 1000)}` : "still inside"))), "No visit to a fence yet.", "truck-visits"),
      rows("Last minutes", windows.map((window) => line(element("span", { "data-testid": "window" }, `${units.minute(window.window_start)} ${units.zone()}`), ` ${units.km(window.distance_m)} km, on average ${units.speed(window.speed_avg_kmh)}`)), "No window of this truck yet.", "truck-windows"));
    const { event_times: times = [], speeds_kmh: speeds = [] } = track?.properties ?? {};
    chart(this.speeds, "Speed, last hour", "km/h", [{ name: "speed", colour: "--accent" }], [times.map((time) => Date.parse(time) / 1000), speeds]);
  }
}
