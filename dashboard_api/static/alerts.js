// All alerts that the page knows, by id: the newest of the last day, and every one that is open.
import * as api from "./api.js";

const PAGE = 500;
const MOST_OPEN = 5000;
const MOST_KEPT = 20_000;

/** Open, not acknowledged, and more than a note: it counts for its truck. */
export const isUrgent = (alert) => isOpen(alert) && alert.severity !== "info";
export const isOpen = (alert) => alert.status === "raised" && !alert.acknowledged_time;

export class Alerts {
  byId = new Map();
  loaded = false;

  /** What came over the socket meanwhile is as new or newer, so it stays. */
  async load() {
    const pages = [api.alerts({ limit: PAGE })];
    for (let offset = 0; offset < MOST_OPEN; offset += 1000) {
      const page = await api.alerts({ status: "raised", acknowledged: false, limit: 1000, offset });
      pages.push(page);
      if (page.items.length < 1000) break;
    }
    const told = (await Promise.all(pages)).flatMap((page) => page.items);
    for (const alert of told) if (!(this.byId.get(alert.alert_id)?.revision > alert.revision)) this.byId.set(alert.alert_id, alert);
    this.loaded = true;
  }

  /** A change from the live stream. Gives the alert if it is new here, and was raised. */
  take({ change, alert_id, alert, acknowledgement }) {
    const known = this.byId.get(alert_id);
    if (change !== "revision") {
      if (!known) return null;
      const { acknowledged_ms, ...rest } = acknowledgement;
      this.byId.set(alert_id, { ...known, ...rest, acknowledged_time: acknowledged_ms && new Date(acknowledged_ms).toISOString() });
      return null;
    }
    if (known && known.revision >= alert.revision) return null;
    this.byId.set(alert_id, { acknowledged_time: null, acknowledged_by: null, ...known, ...alert });
    if (this.byId.size > MOST_KEPT) this.#forget();
    return known || alert.status !== "raised" ? null : alert;
  }

  #forget() {
    for (const alert of this.newest().slice(MOST_KEPT / 2)) if (!isOpen(alert)) this.byId.delete(alert.alert_id);
  }

  newest(wanted = () => true) {
    const found = [...this.byId.values()].filter((alert) => alert.status !== "retracted" && wanted(alert));
    return found.sort((a, b) => (a.start_time < b.start_time ? 1 : a.start_time > b.start_time ? -1 : 0));
  }

  urgentTrucks() {
    const found = new Set();
    for (const alert of this.byId.values()) if (alert.truck_id && isUrgent(alert)) found.add(alert.truck_id);
    return found;
  }
}
