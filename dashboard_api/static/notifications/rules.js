// Rules: which alerts go to which channels, and how calmly.
import * as units from "../units.js";
import { element } from "./element.js";
import * as fields from "./fields.js";
import { Rows, ask, badge, button, confirmed, say } from "./parts.js";
import * as requests from "./requests.js";

export const KINDS = {
  geofence_enter: "enters a fence", geofence_exit: "leaves a fence", geofence_crossed: "drives through a fence", geofence_dwell: "stays in a fence",
  overspeed: "too fast", idle: "stands idle", silent: "silent", feed_silent: "no truck reports",
};
const SEVERITIES = { info: "info", warning: "warning", critical: "critical" };
const GROUPS = { kind: "kind", severity: "severity", fence: "fence", truck: "truck" };
const any = (values, one, shown = String) => (values.length ? `${one} ${values.map(shown).join(", ")}` : null);

/** What is seldom set is out of sight, unless it is set. */
function folded(testId, title, isSet, ...content) {
  return element("details", { "data-testid": testId, ...(isSet && { open: "" }) }, element("summary", {}, title), element("div", { class: "form" }, ...content));
}

/** A rule as a sentence. */
function summary(rule) {
  const { hours } = rule;
  const asked = [
    any(rule.severities, "severity"), any(rule.kinds, "kind", units.word), any(rule.truck_ids, "trucks"), any(rule.fence_ids, "fences"), any(rule.tags, "fences tagged"),
    hours && `${hours.days.length === 7 ? "every day" : hours.days.join(", ")} ${hours.start} to ${hours.end}, ${hours.zone}`,
  ].filter(Boolean).join("; ");
  return rule.catch_all ? `What no other rule takes${asked ? `: ${asked}` : ""}` : asked || "Every alert";
}

function calm(rule) {
  const grouped = rule.group_wait_s || rule.group_interval_s;
  return [
    grouped ? `grouped${rule.group_by.length ? ` by ${rule.group_by.join(", ")}` : ""}: after ${units.duration(rule.group_wait_s)}, then every ${units.duration(rule.group_interval_s)}` : "each alert by itself",
    rule.repeat_s && `again every ${units.duration(rule.repeat_s)} while it is open`,
    rule.cooldown_s && `the same not again for ${units.duration(rule.cooldown_s)}`,
    rule.last && "no rule after it is looked at",
  ].filter(Boolean).join(" · ");
}

export class Rules {
  #channels = [];

  constructor({ role, refresh }) {
    Object.assign(this, { refresh, admin: role === "admin" });
    this.rows = new Rows({ key: (each) => each.rule_id, row: (each) => this.#row(each), empty: "No rule yet: nobody is told of anything." });
    const tools = element("div", { class: "tools-row" },
      element("p", { class: "quiet" }, "Which alerts go to which channels. All rules that match count; a channel gets each alert once."),
      this.admin ? button("Add a rule", () => this.#edit(), { kind: "main", testId: "add" }) : null);
    this.element = element("section", { "aria-label": "Rules" }, tools, this.rows.none, this.rows.element);
  }

  async load() {
    const [rules, channels] = await Promise.all([requests.all("rules"), requests.all("channels")]);
    this.#channels = channels.items;
    const names = Object.fromEntries(channels.items.map((each) => [each.channel_id, each.name]));
    this.rows.show(rules.items.map((each) => ({ ...each, names: each.rule.channel_ids.map((id) => names[id] ?? "a channel that was removed") })));
  }

  #row({ rule_id, rule, names }) {
    return element("li", { class: "card", "data-testid": "rule", "data-id": rule_id },
      element("header", {}, element("h2", {}, rule.name), rule.enabled ? null : badge("disabled", "off"), element("span", { class: "quiet" }, `position ${rule.position}`)),
      element("p", { "data-testid": "summary" }, `${summary(rule)} → `, element("b", {}, names.join(", ") || "nobody")),
      element("p", { class: "quiet" }, calm(rule)),
      this.admin ? element("div", { class: "actions" },
        button("Change", () => this.#edit(rule_id, rule), { testId: "change" }),
        button("Remove", () => confirmed(`Remove ${rule.name}?`, "What it has planned already is still sent.", "Remove", async () => {
          await requests.remove("rules", rule_id);
          say(`${rule.name} is removed.`);
          await this.refresh();
        }), { testId: "remove" })) : null);
  }

  #edit(rule_id = null, rule = {}) {
    const channels = Object.fromEntries(this.#channels.map((each) => [each.channel_id, each.name]));
    const minutes = (value) => (value ? value / 60 : "");
    ask({
      title: rule_id ? `Change ${rule.name}` : "Add a rule", action: "Save", save: (form) => this.#save(rule_id, form),
      content: [
        fields.text("name", "Name", rule.name, { maxlength: 200 }),
        fields.several("channel_ids", "Tell", channels, rule.channel_ids),
        fields.several("severities", "Severity (none: any)", SEVERITIES, rule.severities),
        fields.several("kinds", "Kind (none: any)", KINDS, rule.kinds),
        folded("where", "Only some trucks, fences or hours", rule.hours || [rule.truck_ids, rule.fence_ids, rule.tags].some((each) => each?.length),
          fields.list("truck_ids", "Trucks, by id", rule.truck_ids), fields.list("fence_ids", "Fences, by id", rule.fence_ids),
          fields.list("tags", "Tags of the fence", rule.tags, "With commas; one of them is enough."), fields.hours(rule.hours)),
        folded("calm", "Groups, repeats, order", rule.group_wait_s || rule.group_interval_s || rule.repeat_s || rule.cooldown_s || rule.last || rule.catch_all,
          fields.several("group_by", "One notification for alerts of the same", GROUPS, rule.group_by),
          element("div", { class: "fields" },
            fields.number("group_wait_s", "Collect for, s", rule.group_wait_s ?? 0, { max: 3600 }),
            fields.number("group_interval_s", "Between two of a group, s", rule.group_interval_s ?? 0),
            fields.number("repeat", "Repeat while open, min", minutes(rule.repeat_s), { placeholder: "not", step: "any" }),
            fields.number("cooldown", "Same not again for, min", minutes(rule.cooldown_s), { placeholder: "0", step: "any" }),
            fields.number("position", "Position", rule.position ?? 100, { max: 10000 })),
          fields.check("catch_all", "Only where no other rule counts", rule.catch_all), fields.check("last", "Look at no rule after it", rule.last)),
        fields.check("enabled", "Enabled", rule.enabled ?? true),
      ],
    });
  }

  async #save(rule_id, form) {
    const draft = {
      name: form.elements.name.value.trim(), channel_ids: fields.chosen(form, "channel_ids"), severities: fields.chosen(form, "severities"),
      kinds: fields.chosen(form, "kinds"), truck_ids: fields.names(form, "truck_ids"), fence_ids: fields.names(form, "fence_ids"), tags: fields.names(form, "tags"),
      hours: fields.hoursOf(form), group_by: fields.chosen(form, "group_by"), group_wait_s: fields.whole(form, "group_wait_s"),
      group_interval_s: fields.whole(form, "group_interval_s"), repeat_s: fields.whole(form, "repeat", null, 60), cooldown_s: fields.whole(form, "cooldown", 0, 60),
      position: fields.whole(form, "position", 100), catch_all: fields.ticked(form, "catch_all"), last: fields.ticked(form, "last"), enabled: fields.ticked(form, "enabled"),
    };
    await (rule_id ? requests.change("rules", rule_id, draft) : requests.add("rules", draft));
    await this.refresh();
    say(`${draft.name} is saved and counts from now on.`);
  }
}
