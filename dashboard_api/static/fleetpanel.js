// The fleet over time, and how the pipeline is doing.
import * as api from "./api.js";
import { chart } from "./charts.js";
import { byTestId, on, write } from "./dom.js";
import { fact } from "./truckpanel.js";
import * as units from "./units.js";
import { html, render } from "./vendor.js";

const SHOWN = 120;
const line = (name, colour = "--accent", dash = []) => ({ name, colour, dash });

export async function showFleet() {
  const [{ items }, stats] = await Promise.all([api.windows({ scope: "fleet", limit: SHOWN }), api.stats()]);
  // The minute that runs would look like a collapse.
  const windows = items.reverse().filter((window) => Date.parse(window.window_end) <= Date.now());
  const times = windows.map((window) => Date.parse(window.window_start) / 1000);
  const known = Object.values(stats.trucks).reduce((sum, count) => sum + count, 0);
  chart("fleet-status", "Status", "trucks", [line("moving", "--moving"), line("idle", "--idle", [8, 4]), line("silent", "--silent", [2, 3])],
    [times, windows.map((w) => w.moving_s / w.length_s), windows.map((w) => w.idle_s / w.length_s), windows.map((w) => Math.max(0, known - w.active_trucks))]);
  chart("fleet-speed", "Average speed", "km/h", [line("average")], [times, windows.map((w) => w.speed_avg_kmh)]);
  chart("fleet-distance", "Distance", "km a minute", [{ ...line("distance"), bars: true }], [times, windows.map((w) => w.distance_m / 1000)]);
  const hours = Object.entries(stats.alerts_per_hour).sort();
  chart("fleet-alerts", "Alerts", "an hour", [{ ...line("alerts", "--alert"), bars: true }], [hours.map(([time]) => Date.parse(time) / 1000), hours.map(([, count]) => count)]);
}

export async function showHealth(fleet) {
  const [{ counts, queries }, rejects] = await Promise.all([api.pipeline(), api.rejects(20)]);
  const input = queries.find((query) => query.query === "judge") ?? queries[0];
  const waiting = (lag) => units.counted(lag, "record");
  render(html`<dl class="facts">
    ${fact("Input", input ? units.rate(input.input_rows_per_s, "fixes") : "unknown", "health-input")}
    ${fact("From truck to screen, median", fleet.delay_s === null ? "unknown" : units.briefly(fleet.delay_s), "health-delay")}
    ${fact("Waiting in Kafka", waiting(queries.reduce((sum, query) => sum + query.lag, 0)), "health-lag")}
    ${fact("Last batch", input ? units.milliseconds(input.batch_ms) : "unknown", "health-batch")}
    ${fact("Fixes so far", `${units.count(counts.judged)} of ${units.counted(counts.input, "record")}`, "health-judged")}
    ${fact("Accounted for", counts.balanced ? "every record" : "not every record yet", "health-balanced")}</dl>
    <h3>Streaming queries</h3>
    ${queries.length ? html`<ul class="lines">${queries.map((query) => html`<li><b>${query.query}</b>${units.timeAndAge(query.measured_time)}
      <p class="quiet">${units.rate(query.input_rows_per_s, "rows")} · batch ${units.milliseconds(query.batch_ms)} · ${waiting(query.lag)} waiting</p></li>`)}</ul>`
      : html`<p class="empty">No query has reported yet.</p>`}`, byTestId("health-facts"));
  const total = Math.max(counts.rejected_total, rejects.total);
  write(byTestId("rejects-total"), total ? `${units.counted(total, "record")} so far` : "None so far.");
  render(rejects.items.map((reject) => html`<li><b>${units.word(reject.reason)}</b> ${reject.truck_id ?? "no key"} ${units.timeAndAge(reject.received_time)}
    <p class="quiet">${reject.detail}</p></li>`), byTestId("rejects"));
}

on("show-rejects", ({ currentTarget }) => {
  const hidden = (byTestId("rejects").hidden = !byTestId("rejects").hidden);
  currentTarget.setAttribute("aria-expanded", String(!hidden));
});
