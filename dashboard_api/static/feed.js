// The alert feed, newest first: look, jump, acknowledge one or many; toasts and sound for critical ones.
import { isOpen } from "./alerts.js";
import * as api from "./api.js";
import { byTestId, on, write } from "./dom.js";
import { count, counted, timeAndAge } from "./units.js";
import { html, nothing, render, repeat } from "./vendor.js";
import { explain, title } from "./words.js";

const MOST_SHOWN = 200;
const MOST_TOASTS = 3;

export class Feed {
  #list = byTestId("alerts");
  #many = byTestId("acknowledge-many");

  constructor(alerts, { canEdit, onJump, announce, changed }) {
    Object.assign(this, { alerts, canEdit, onJump, announce, changed });
    on("alerts-all", () => this.refresh(), "change");
    on("alerts", () => this.#countTicked(), "change");
    this.#many?.addEventListener("click", () => this.#acknowledge(this.#ticks(":checked").length ? this.#ticks(":checked") : this.#ticks()));
  }

  refresh() {
    const all = byTestId("alerts-all").checked;
    const shown = this.alerts.newest(all ? undefined : isOpen).slice(0, MOST_SHOWN);
    // By id: what is focused or ticked stays so when others come and go.
    render(repeat(shown, (alert) => alert.alert_id, (alert) => this.#row(alert)), this.#list);
    const none = byTestId("no-alerts");
    none.hidden = shown.length > 0;
    if (this.alerts.loaded) write(none, all ? "No alert yet." : "All quiet: no open alert.");
    this.#countTicked();
  }

  #row(alert) {
    const { alert_id, truck_id, severity, acknowledged_by, acknowledged_time } = alert;
    const [open, name, who] = [isOpen(alert), title(alert), truck_id ?? "whole fleet"];
    const editable = open && this.canEdit;
    const state = acknowledged_time ? `acknowledged by ${acknowledged_by}` : open ? "" : alert.status;
    return html`<li class="alert-row ${severity} ${open ? "" : "settled"}" data-testid="alert" data-alert=${alert_id}>
      <div class="alert-head">
        ${editable ? html`<input type="checkbox" value=${alert_id} aria-label="Choose: ${name}, ${who}">` : nothing}
        <span class="severity ${severity}">${severity}</span><b>${name}</b>
      </div>
      <p class="quiet">${explain(alert)}</p>
      <div class="alert-foot">
        <button type="button" class="link" data-testid="alert-truck" ?disabled=${!truck_id} @click=${() => this.onJump(alert)}>${who}</button>
        ${timeAndAge(alert.start_time)}<span class="quiet" data-testid="alert-state">${state}</span>
        ${editable ? html`<button type="button" class="button" data-testid="acknowledge" aria-label="Acknowledge: ${name}, ${who}"
          @click=${() => this.#acknowledge([alert_id])}>Acknowledge</button>` : nothing}
      </div>
    </li>`;
  }

  #ticks = (which = "") => [...this.#list.querySelectorAll(`input${which}`)].map((tick) => tick.value);

  #countTicked() {
    if (!this.#many) return;
    const ticked = this.#ticks(":checked").length;
    this.#many.disabled = this.#ticks().length === 0;
    write(this.#many, ticked ? `Acknowledge ${count(ticked)}` : "Acknowledge all shown");
  }

  async #acknowledge(alertIds) {
    try {
      await api.acknowledge(alertIds);
      const acknowledgement = { acknowledged_by: "you", acknowledged_ms: Date.now() };
      for (const alert_id of alertIds) this.alerts.take({ change: "acknowledged", alert_id, acknowledgement });
      this.announce(`${counted(alertIds.length, "alert")} acknowledged.`);
      this.changed();
    } catch (error) {
      this.announce(`Not acknowledged: ${error.message}`, true);
    }
  }
}

/** Over the map, until it is closed or others push it out. */
export function toast(text, onShow) {
  const made = document.createElement("div");
  Object.assign(made, { className: "toast" }).dataset.testid = "toast";
  const show = html`<button type="button" class="button" @click=${() => made.remove(onShow())}>Show</button>`;
  render(html`<b>${text}</b>${onShow ? show : nothing}
    <button type="button" class="icon" aria-label="Close" @click=${() => made.remove()}>×</button>`, made);
  byTestId("toasts").append(made);
  while (byTestId("toasts").children.length > MOST_TOASTS) byTestId("toasts").firstElementChild.remove();
}

/** Two short tones. Browsers allow sound only after the page was clicked, which switching it on was. */
export function beep() {
  const audio = new AudioContext();
  [660, 880].forEach((pitch, index) => {
    const tone = new OscillatorNode(audio, { frequency: pitch });
    tone.connect(new GainNode(audio, { gain: 0.08 })).connect(audio.destination);
    tone.start(audio.currentTime + index * 0.18);
    tone.stop(audio.currentTime + index * 0.18 + 0.15);
    if (index) tone.onended = () => audio.close();
  });
}
