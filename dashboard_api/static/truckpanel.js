// The chosen truck: newest fix, driver, speed, visits, alerts, windows; and its trail on the map.
import * as api from "./api.js";
import { chart } from "./charts.js";
import { byTestId, css } from "./dom.js";
import { STATUSES, called } from "./fleet.js";
import { choose, chosen, letGo } from "./state.js";
import * as units from "./units.js";
import { L, html, nothing, render } from "./vendor.js";
import { explain, title } from "./words.js";

const MOST = 8;
const none = { items: [] };
export const fact = (name, value, testId) => html`<div><dt>${name}</dt><dd data-testid=${testId}>${value}</dd></div>`;
const rows = (name, items, empty, testId) => html`<section data-testid=${testId}><h3>${name}</h3>
  ${items.length ? html`<ul class="lines">${items.map((item) => html`<li>${item}</li>`)}</ul>` : html`<p class="empty">${empty}</p>`}</section>`;

export class TruckPanel {
  constructor(map, fleet, alerts) {
    Object.assign(this, { fleet, alerts });
    this.trail = L.polyline([], { interactive: false, weight: 2.5, opacity: 0.8 }).addTo(map);
  }

  /** Asks for everything anew; what came for a truck that is no longer chosen is dropped. */
  async refresh() {
    const truck_id = chosen.truck;
    byTestId("truck-panel").hidden = !(truck_id && chosen.opened);
    if (!truck_id) return this.trail.setLatLngs([]);
    this.#head();
    const [truck, track, visits, windows] = await Promise.all([api.truck(truck_id).catch((error) => ({ error })), api.track(truck_id).catch(() => null),
      api.visits(truck_id, MOST).catch(() => none), api.windows({ truck_id, limit: 5 }).catch(() => none)]);
    if (chosen.truck !== truck_id) return null;
    this.trail.setStyle({ color: css("--trail") }).setLatLngs((track?.geometry?.coordinates ?? []).map(([lon, lat]) => [lat, lon]));
    this.#head(truck);
    byTestId("truck-chart").hidden = Boolean(truck.error);
    if (truck.error) return render(nothing, byTestId("truck-past"));
    const { event_times: times = [], speeds_kmh: speeds = [] } = track?.properties ?? {};
    chart("truck-chart", "Speed, last hour", "km/h", [{ name: "speed", colour: "--accent" }], [times.map((time) => Date.parse(time) / 1000), speeds]);
    return this.#past(truck_id, visits.items, windows.items);
  }

  /** At once with what is known; all of it when the server has answered. */
  #head(truck = { truck_id: chosen.truck }) {
    const { error, name } = truck;
    const under = error ? "cannot be read" : name ? truck.truck_id : "not in the registry";
    render(html`<header><div><h2>${name ?? chosen.truck}</h2><small>${truck.event_time || error ? under : "…"}</small></div>
      <button type="button" class="button" data-testid="follow" title="f" aria-pressed=${chosen.follows}
        @click=${() => choose({ follows: !chosen.follows })}>${chosen.follows ? "Following" : "Follow"}</button>
      <button type="button" class="icon" data-testid="close" aria-label="Close the truck" @click=${letGo}>×</button></header>
      ${error ? html`<p class="empty">${error.message}</p>` : truck.event_time ? this.#facts(truck) : nothing}`, byTestId("truck-facts"));
  }

  #facts(truck) {
    const slot = this.fleet.slotOf(truck.truck_id);
    const status = slot === null ? truck.status : STATUSES[this.fleet.kind[slot]];
    const told = `${called(status)}${status === "alert" ? `, ${truck.status}` : ""}, ${units.duration(units.secondsSince(truck.status_since))}`;
    return html`<dl class="facts">
      ${fact("Status", html`<span class="mark ${status}"></span> ${told}`, "truck-status")}
      ${fact("Speed", units.speed(truck.speed_kmh), "truck-speed")}${fact("Heading", units.heading(truck.heading_deg), "truck-heading")}
      ${fact("Driver", truck.driver ?? "unknown", "truck-driver")}${fact("Plate", truck.plate ?? "unknown", "truck-plate")}
      ${fact("Last fix", units.timeAndAge(truck.event_time), "truck-age")}
      ${fact("Position", `${truck.lat.toFixed(5)}°, ${truck.lon.toFixed(5)}°`, "truck-position")}
      ${fact("Accuracy", truck.accuracy_m === null ? "unknown" : units.metres(truck.accuracy_m), "truck-accuracy")}
      ${fact("In fences", truck.fences.join(", ") || "none", "truck-fences")}</dl>`;
  }

  #past(truck_id, visits, windows) {
    const alerts = this.alerts.newest((alert) => alert.truck_id === truck_id).slice(0, MOST);
    const stayed = ({ enter_time, exit_time }) => (exit_time ? `stayed ${units.duration((Date.parse(exit_time) - Date.parse(enter_time)) / 1000)}` : "still inside");
    render(html`
      ${rows("Alerts", alerts.map((alert) => html`<b>${title(alert)}</b>${units.timeAndAge(alert.start_time)}<p class="quiet">${explain(alert)}</p>`), "No alert of this truck.", "truck-alerts")}
      ${rows("Visits", visits.map((visit) => html`<b>${visit.fence_id}</b>${units.timeAndAge(visit.enter_time)}<p class="quiet">${stayed(visit)}</p>`), "No visit to a fence yet.", "truck-visits")}
      ${rows("Last minutes", windows.map((window) => html`<span data-testid="window">${units.minuteAndZone(window.window_start)}</span> ${units.km(window.distance_m)} km,
        on average ${units.speed(window.speed_avg_kmh)}`), "No window of this truck yet.", "truck-windows")}`, byTestId("truck-past"));
  }
}
