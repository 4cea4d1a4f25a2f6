// The fleet over time, and how the pipeline is doing.
import * as api from "./api.js";
import { chart } from "./charts.js";
import { element } from "./dom.js";
import * as units from "./units.js";

const SHOWN = 120;
const fact = (name, value, testId) => element("div", {}, element("dt", {}, name), element("dd", { "data-testid": testId }, value));

export class FleetPanel {
  #boxes = ["fleet-status", "fleet-speed", "fleet-distance", "fleet-alerts"].map((id) => element("div", { class: "chart-box", "data-testid": id }));

  constructor(fleet, container) {
    this.fleet = fleet;
    container.append(...this.#boxes);
  }

  async refresh() {
    const [{ items }, stats] = await Promise.all([api.windows({ scope: "fleet", limit: SHOWN }), api.stats()]);
    const windows = items.reverse();
    const times = windows.map((window) => Date.parse(window.window_start) / 1000);
    const of = (value) => windows.map(value);
    const known = Object.values(stats.trucks).reduce((sum, count) => sum + count, 0);
    const [status, speed, distance, alerts] = this.#boxes;
    chart(status, "What the fleet does", "trucks", [{ name: "moving", colour: "--moving" }, { name: "idle", colour: "--idle" }, { name: "silent", colour: "--silent" }],
      [times, of((w) => w.moving_s / w.length_s), of((w) => w.idle_s / w.length_s), of((w) => Math.max(0, known - w.active_trucks))]);
    chart(speed, "Average speed", "km/h", [{ name: "average", colour: "--accent" }], [times, of((w) => w.speed_avg_kmh)]);
    chart(distance, "Distance", "km a minute", [{ name: "distance", colour: "--accent", bars: true }], [times, of((w) => w.distance_m / 1000)]);
    const hours = Object.entries(stats.alerts_per_hour).sort();
    chart(alerts, "Alerts", "an hour", [{ name: "alerts", colour: "--alert", bars: true }], [hours.map(([time]) => Date.parse(time) / 1000), hours.map(([, count]) => count)]);
  }
}

export class HealthPanel {
  constructor(fleet, container) {
    this.fleet = fleet;
    this.facts = element("dl", { class: "facts" });
    this.queries = element("div", { "data-testid": "queries" });
    this.total = element("p", { "data-testid": "rejects-total" });
    this.open = element("button", { type: "button", class: "button", "data-testid": "show-rejects", "aria-expanded": "false" }, "Show the last rejects");
    this.rejects = element("ul", { class: "lines", "data-testid": "rejects", hidden: "" });
    this.open.addEventListener("click", () => {
      this.rejects.hidden = !this.rejects.hidden;
      this.open.setAttribute("aria-expanded", String(!this.rejects.hidden));
      this.refresh();
    });
    container.append(this.facts, this.queries, element("h3", {}, "Rejected records"), this.total, this.open, this.rejects);
  }

  async refresh() {
    const [{ counts, queries }, rejects] = await Promise.all([api.pipeline(), api.rejects(20)]);
    const input = queries.find((query) => query.query === "judge") ?? queries[0];
    const delay = this.fleet.delay_s === null ? "unknown" : this.fleet.delay_s > 254 ? "over 4 min" : units.duration(this.fleet.delay_s);
    this.facts.replaceChildren(fact("Input", input ? units.rate(input.input_rows_per_s, "fixes") : "unknown", "health-input"), fact("From truck to screen, median", delay, "health-delay"),
      fact("Waiting in Kafka", units.counted(queries.reduce((sum, query) => sum + query.lag, 0), "record", "records"), "health-lag"),
      fact("Last batch", input ? units.milliseconds(input.batch_ms) : "unknown", "health-batch"), fact("Fixes so far", `${units.count(counts.judged)} of ${units.counted(counts.input, "record", "records")}`, "health-judged"),
      fact("Accounted for", counts.balanced ? "every record" : "not every record yet", "health-balanced"));
    this.queries.replaceChildren(element("h3", {}, "Streaming queries"), queries.length ? element("ul", { class: "lines" }, ...queries.map((query) =>
      element("li", {}, element("b", {}, query.query), units.timeElement(query.measured_time), element("p", { class: "quiet" },
        `${units.rate(query.input_rows_per_s, "rows")} · batch ${units.milliseconds(query.batch_ms)} · ${units.counted(query.lag, "record waits", "records wait")}`)))) : element("p", { class: "empty" }, "No query has reported yet."));
    const total = Math.max(counts.rejected_total, rejects.total);
    this.total.textContent = total ? `${units.counted(total, "record", "records")} so far` : "None so far.";
    this.rejects.replaceChildren(...rejects.items.map((reject) => element("li", {}, element("b", {}, units.word(reject.reason)), ` ${reject.truck_id ?? "no key"} `,
      units.timeElement(reject.received_time), element("p", { class: "quiet" }, reject.detail))));
  }
}
