// The log of deliveries: what was told to whom, what was not and why; dead letters, and sending again.
import * as units from "../units.js";
import { element, timeElement } from "./element.js";
import * as fields from "./fields.js";
import { Rows, badge, button, confirmed, say } from "./parts.js";
import * as requests from "./requests.js";
import { KINDS } from "./rules.js";

const PAGE = 50;
const STATES = { "": "all", delivered: "delivered", dead: "dead letters", pending: "waiting", sending: "being sent", suppressed: "held back", historical: "too old to send" };
const LOOKS = { delivered: "good", dead: "bad", pending: "warn", sending: "warn" };
const NEWS = { raised: "", cleared: "Over: ", retracted: "Taken back: ", repeat: "Still: ", test: "" };
const MOST_NAMED = 3;

function subject({ what, alerts }) {
  if (what === "test") return "Test";
  const named = alerts.slice(0, MOST_NAMED).map((each) => [each.truck_id, KINDS[each.kind] ?? units.word(each.kind), each.fence_id].filter(Boolean).join(" · "));
  const more = alerts.length > MOST_NAMED ? ` and ${alerts.length - MOST_NAMED} more` : "";
  return `${NEWS[what] ?? ""}${named.join("; ")}${more}`;
}

export class Deliveries {
  #channels = {};
  #limit = PAGE;

  constructor({ role, refresh, choose, chosen }) {
    Object.assign(this, { refresh, chosen, canResend: role !== "viewer" });
    this.rows = new Rows({ key: (each) => each.delivery_id, row: (each) => this.#row(each), empty: "No delivery is like this." });
    this.total = element("p", { class: "quiet", "data-testid": "total" });
    this.more = button("Show more", () => this.#showMore(), { testId: "more" });
    this.filters = element("form", { class: "filters", "data-testid": "filters" },
      fields.select("state", "State", STATES, chosen.state ?? ""), fields.select("channel_id", "Channel", { "": "all" }, ""),
      fields.text("alert_id", "Alert, by id", chosen.alert_id ?? "", { type: "search" }));
    this.filters.addEventListener("submit", (event) => event.preventDefault());
    this.filters.addEventListener("change", () => choose(Object.fromEntries(["state", "channel_id", "alert_id"].map((name) => [name, fields.typed(this.filters, name)]))));
    this.all = button("Send all dead letters again", () => this.#resendAll(), { testId: "resend-dead" });
    this.element = element("section", { "aria-label": "Deliveries" }, this.filters,
      element("div", { class: "tools-row" }, this.total, this.canResend ? this.all : null), this.rows.none, this.rows.element, this.more);
  }

  async load() {
    const wanted = Object.fromEntries(Object.entries(this.chosen).filter(([name, value]) => value && ["state", "channel_id", "alert_id"].includes(name)));
    const [found, channels] = await Promise.all([requests.all("deliveries", { ...wanted, limit: this.#limit }), requests.all("channels")]);
    this.#showChannels(channels.items);
    this.rows.show(found.items.map((each) => ({ ...each, channel: this.#channels[each.channel_id] ?? "a channel that was removed" })));
    this.total.textContent = units.counted(found.total, "delivery", "deliveries");
    this.more.hidden = found.total <= found.items.length;
    this.all.hidden = this.chosen.state !== "dead" || found.total === 0;
  }

  #showChannels(channels) {
    const names = Object.fromEntries(channels.map((each) => [each.channel_id, each.name]));
    if (JSON.stringify(names) === JSON.stringify(this.#channels)) return;
    this.#channels = names;
    const control = this.filters.elements.channel_id;
    control.replaceChildren(element("option", { value: "" }, "all"), ...channels.map((each) => element("option", { value: each.channel_id }, each.name)));
    control.value = this.chosen.channel_id ?? "";
  }

  #row(delivery) {
    const { delivery_id, state, attempts, alerts } = delivery;
    const why = delivery.reason ?? delivery.last_error;
    const ended = !["pending", "sending"].includes(state);
    return element("li", { class: "card", "data-testid": "delivery", "data-id": delivery_id },
      element("header", {}, element("h2", {}, subject(delivery)), badge(state === "dead" ? "dead letter" : STATES[state], LOOKS[state] ?? "off", "state")),
      element("p", { class: "quiet" }, `to ${delivery.channel} · `, timeElement(delivery.created_time), attempts ? ` · ${units.counted(attempts, "try", "tries")}` : "",
        state === "pending" ? ` · next at ${units.moment(delivery.due_time)}` : ""),
      why ? element("p", { class: state === "dead" || !ended ? "wrong" : "quiet", "data-testid": "why" }, why) : null,
      element("div", { class: "actions" },
        ...alerts.slice(0, MOST_NAMED).filter(() => delivery.what !== "test").map((each) =>
          element("a", { href: `#deliveries&alert_id=${encodeURIComponent(each.alert_id)}`, "data-testid": "of-alert" }, `All of ${alerts.length > 1 ? `${each.truck_id ?? "the fleet"}'s` : "this"} alert`)),
        ended && this.canResend ? button("Send again", () => this.#resend(delivery), { testId: "resend" }) : null));
  }

  async #resend({ delivery_id }) {
    await requests.resend(delivery_id);
    say("It is on its way again, under the same id.");
    await this.refresh();
  }

  #resendAll() {
    confirmed("Send the dead letters again?", "The oldest thousand, each under its own id.", "Send again", async () => {
      const { resent, refused } = await requests.resendDead(this.chosen.channel_id || null);
      say(`${units.count(resent)} are on their way again${refused.length ? `, ${units.count(refused.length)} could not be` : ""}.`);
      await this.refresh();
    });
  }

  async #showMore() {
    this.#limit = Math.min(this.#limit + PAGE, 1000);
    await this.load();
  }
}
