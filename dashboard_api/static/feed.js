// The alert feed, newest first: look, jump, acknowledge one or many.
import * as api from "./api.js";
import { isOpen } from "./alerts.js";
import { byTestId, element } from "./dom.js";
import * as units from "./units.js";
import { explain, title } from "./words.js";

const MOST_SHOWN = 200;

export class Feed {
  #rows = new Map();
  #all = false;

  constructor(alerts, container, { canEdit, onJump, announce, changed }) {
    Object.assign(this, { alerts, canEdit, onJump, announce, changed });
    this.list = element("ol", { class: "feed", "data-testid": "alerts", "aria-label": "Alerts, newest first" });
    this.none = element("p", { class: "empty", "data-testid": "no-alerts" }, "Loading…");
    this.many = element("button", { type: "button", class: "button", "data-testid": "acknowledge-many", disabled: "" }, "Acknowledge all");
    this.many.addEventListener("click", () => this.#acknowledge(this.#ticked().length ? this.#ticked() : this.#openRows()));
    const all = element("input", { type: "checkbox", "data-testid": "alerts-all" });
    all.addEventListener("change", () => this.refresh((this.#all = all.checked)));
    container.append(element("div", { class: "feed-tools" }, element("label", { class: "check" }, all, "Also settled ones"), canEdit ? this.many : null), this.none, this.list);
    this.list.addEventListener("change", () => this.#countTicked());
  }

  refresh() {
    const shown = this.alerts.newest(this.#all ? undefined : isOpen).slice(0, MOST_SHOWN);
    const ids = new Set(shown.map((alert) => alert.alert_id));
    for (const [alert_id, row] of this.#rows) if (!ids.has(alert_id)) this.#rows.delete(alert_id, row.element.remove());
    let before = this.list.firstChild;
    for (const alert of shown) {
      const row = this.#row(alert);
      if (row.element === before) before = before.nextSibling;
      else this.list.insertBefore(row.element, before);
    }
    this.none.hidden = shown.length > 0;
    if (this.alerts.loaded) this.none.textContent = this.#all ? "No alert yet." : "All quiet: no open alert.";
    this.#countTicked();
  }

  /** What was drawn stays while it is true, so that focus and ticks are not lost. */
  #row(alert) {
    const known = this.#rows.get(alert.alert_id);
    const version = `${alert.revision}/${alert.acknowledged_time}`;
    if (known?.version === version) return known;
    const made = { version, element: this.#draw(alert) };
    known?.element.replaceWith(made.element);
    this.#rows.set(alert.alert_id, made);
    return made;
  }

  #draw(alert) {
    const open = isOpen(alert);
    const name = title(alert);
    const who = alert.truck_id ?? "whole fleet";
    const state = alert.acknowledged_time ? `acknowledged by ${alert.acknowledged_by}` : open ? "open" : alert.status;
    const tick = element("input", { type: "checkbox", value: alert.alert_id, "aria-label": `Choose: ${name}, ${who}` });
    const jump = element("button", { type: "button", class: "link", "data-testid": "alert-truck" }, who);
    jump.disabled = !alert.truck_id;
    jump.addEventListener("click", () => this.onJump(alert));
    const settle = element("button", { type: "button", class: "button", "data-testid": "acknowledge", "aria-label": `Acknowledge: ${name}, ${who}` }, "Acknowledge");
    settle.addEventListener("click", () => this.#acknowledge([alert.alert_id]));
    const editable = open && this.canEdit;
    return element("li", { class: `alert-row ${alert.severity}${open ? "" : " settled"}`, "data-testid": "alert", "data-alert": alert.alert_id },
      element("div", { class: "alert-head" }, editable ? tick : null, element("span", { class: `severity ${alert.severity}` }, alert.severity), element("b", {}, name)),
      element("p", { class: "quiet" }, explain(alert)),
      element("div", { class: "alert-foot" }, jump, units.timeElement(alert.start_time), element("span", { class: "quiet", "data-testid": "alert-state" }, state === "open" ? "" : state), editable ? settle : null));
  }

  #ticked = () => [...this.list.querySelectorAll("input:checked")].map((tick) => tick.value);
  #openRows = () => [...this.list.querySelectorAll("input")].map((tick) => tick.value);

  #countTicked() {
    const ticked = this.#ticked().length;
    this.many.disabled = this.#openRows().length === 0;
    this.many.textContent = ticked ? `Acknowledge ${units.count(ticked)}` : "Acknowledge all shown";
  }

  async #acknowledge(alertIds) {
    try {
      await api.acknowledge(alertIds);
      for (const alert_id of alertIds) this.alerts.take({ change: "acknowledged", alert_id, acknowledgement: { acknowledged_by: "you", acknowledged_ms: Date.now() } });
      this.announce(`${units.counted(alertIds.length, "alert", "alerts")} acknowledged.`);
      this.changed();
    } catch (error) {
      this.announce(`Not acknowledged: ${error.message}`, true);
    }
  }
}

/** A critical alert also shows over the map, for as long as it is open or until it is closed. */
export function toast(text, onJump, label = "Show") {
  const show = element("button", { type: "button", class: "button" }, label);
  const close = element("button", { type: "button", class: "icon", "aria-label": "Close" }, "×");
  const made = element("div", { class: "toast", "data-testid": "toast" }, element("b", {}, text), onJump ? show : null, close);
  show.addEventListener("click", () => made.remove(onJump()));
  close.addEventListener("click", () => made.remove());
  byTestId("toasts").append(made);
  while (byTestId("toasts").children.length > 3) byTestId("toasts").firstChild.remove();
}

/** Two short tones. Browsers allow sound only after the page was clicked, which switching it on was. */
export function beep() {
  const audio = new AudioContext();
  [660, 880].forEach((pitch, index) => {
    const tone = audio.createOscillator();
    const gain = audio.createGain();
    tone.frequency.value = pitch;
    gain.gain.value = 0.08;
    tone.connect(gain).connect(audio.destination);
    tone.start(audio.currentTime + index * 0.18);
    tone.stop(audio.currentTime + index * 0.18 + 0.15);
  });
  setTimeout(() => audio.close(), 1000);
}
