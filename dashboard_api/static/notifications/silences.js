// Silences: who wants no notice of what, until when, and why.
import * as units from "../units.js";
import { element, timeElement } from "./element.js";
import * as fields from "./fields.js";
import { Rows, ask, button, confirmed, say } from "./parts.js";
import * as requests from "./requests.js";
import { KINDS } from "./rules.js";

const LASTS = { 1: "1 hour", 4: "4 hours", 12: "12 hours", 24: "1 day", 168: "1 week" };
const HOUR_MS = 3600000;

const covers = ({ truck_id, fence_id, kind }) =>
  [truck_id && `truck ${truck_id}`, fence_id && `fence ${fence_id}`, kind && (KINDS[kind] ?? units.word(kind))].filter(Boolean).join(", ") || "every alert";

export class Silences {
  constructor({ role, refresh }) {
    Object.assign(this, { refresh, canEdit: role !== "viewer" });
    this.rows = new Rows({ key: (each) => each.silence_id, row: (each) => this.#row(each), empty: "Nothing is silenced." });
    const tools = element("div", { class: "tools-row" },
      element("p", { class: "quiet" }, "What is silenced is recorded and not sent."),
      this.canEdit ? button("Add a silence", () => this.#edit(), { kind: "main", testId: "add" }) : null);
    this.element = element("section", { "aria-label": "Silences" }, tools, this.rows.none, this.rows.element);
  }

  async load() {
    this.rows.show((await requests.all("silences")).items);
  }

  #row(silence) {
    const until = new Date(silence.until_time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
    return element("li", { class: "card", "data-testid": "silence", "data-id": silence.silence_id },
      element("header", {}, element("h2", {}, covers(silence)), element("span", { class: "quiet" }, `until ${until} ${units.zone()}`)),
      element("p", {}, silence.why),
      element("p", { class: "quiet" }, `by ${silence.who} · `, timeElement(silence.created_time)),
      this.canEdit ? element("div", { class: "actions" }, button("End it now", () => confirmed("End this silence?", `Notices of ${covers(silence)} are sent again.`, "End it", async () => {
        await requests.remove("silences", silence.silence_id);
        say("The silence is over.");
        await this.refresh();
      }), { testId: "end" })) : null);
  }

  #edit() {
    ask({
      title: "Add a silence", action: "Silence", save: (form) => this.#save(form),
      content: [
        fields.text("truck_id", "Truck, by id", "", { hint: "Empty: any." }), fields.text("fence_id", "Fence, by id", "", { hint: "Empty: any, or none." }),
        fields.select("kind", "Kind of alert", { "": "any", ...KINDS }, ""), fields.select("lasts", "For", LASTS, "4"), fields.text("why", "Why", "", { maxlength: 500 }),
      ],
    });
  }

  async #save(form) {
    const [truck_id, fence_id, kind] = ["truck_id", "fence_id", "kind"].map((name) => fields.typed(form, name));
    const until_time = new Date(Date.now() + Number(form.elements.lasts.value) * HOUR_MS).toISOString();
    await requests.add("silences", { truck_id, fence_id, kind, until_time, why: form.elements.why.value.trim() });
    await this.refresh();
    say("It is silenced.");
  }
}
