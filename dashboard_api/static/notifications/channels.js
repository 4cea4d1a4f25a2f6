// Channels: where notifications go, whether they arrive there, and a test that tells.
import * as units from "../units.js";
import { element } from "./element.js";
import * as fields from "./fields.js";
import { Rows, ask, badge, button, confirmed, say, showSecret } from "./parts.js";
import * as requests from "./requests.js";

const LOOK_MS = 500;
const LOOKS = 60;
const KINDS = {
  webhook: "Webhook, signed (Standard Webhooks)", apprise: "Mail, Slack, Teams, Telegram, ntfy … (Apprise)",
  console: "The notifier's console", file: "File",
};
const CIRCUITS = {
  closed: ["works", "good"], open: ["left alone for a while: it fails", "bad"],
  half_open: ["failed; the next one is a trial", "warn"], paused: ["paused: it asked for that", "warn"],
};
const COUNTED = ["delivered", "pending", "sending", "dead", "suppressed", "historical"];

function circuit(channel) {
  if (!channel.enabled) return [channel.disabled_reason ?? "disabled", "off"];
  return CIRCUITS[channel.circuit];
}

export class Channels {
  constructor({ role, refresh }) {
    Object.assign(this, { refresh, admin: role === "admin" });
    this.rows = new Rows({ key: (each) => each.channel_id, row: (each) => this.#row(each), empty: "No channel yet. Add one to be told of alerts." });
    const tools = element("div", { class: "tools-row" },
      element("p", { class: "quiet" }, "Where notifications go. What is secret is sealed and not shown again."),
      this.admin ? button("Add a channel", () => this.#edit(), { kind: "main", testId: "add" }) : null);
    this.element = element("section", { "aria-label": "Channels" }, tools, this.rows.none, this.rows.element);
  }

  async load() {
    this.rows.show((await requests.all("channels")).items);
  }

  #row(channel) {
    const [state, look] = circuit(channel);
    const counts = COUNTED.filter((name) => channel.deliveries[name]).map((name) =>
      element("a", { href: `#deliveries&channel_id=${channel.channel_id}&state=${name}` }, `${units.count(channel.deliveries[name])} ${name}`));
    return element("li", { class: "card", "data-testid": "channel", "data-id": channel.channel_id },
      element("header", {}, element("h2", {}, channel.name), badge(state, look, "circuit")),
      element("p", { class: "quiet" }, `${channel.kind} · `, element("code", {}, channel.target)),
      channel.enabled && channel.last_error ? element("p", { class: "wrong", "data-testid": "last-error" }, `${units.counted(channel.failures, "failure", "failures")} in a row: ${channel.last_error}`) : null,
      element("p", { class: "counts" }, ...(counts.length ? counts : [element("span", { class: "quiet" }, "nothing sent yet")])),
      this.admin ? element("div", { class: "actions" }, ...this.#buttons(channel)) : null);
  }

  #buttons(channel) {
    const { channel_id, name } = channel;
    return [
      channel.enabled ? button("Send a test", () => this.#test(channel), { testId: "test" }) : null,
      button("Change", () => this.#edit(channel), { testId: "change" }),
      channel.kind === "webhook" ? button("New secret", () => confirmed(`A new secret for ${name}?`, "For a day both sign, so that the receiver can change over.", "Make one",
        async () => showSecret(name, (await requests.rotate(channel_id)).secret)), { testId: "rotate" }) : null,
      button("Remove", () => confirmed(`Remove ${name}?`, "What waits for it is not sent.", "Remove", async () => {
        await requests.remove("channels", channel_id);
        say(`${name} is removed.`);
        await this.refresh();
      }), { testId: "remove" }),
    ].filter(Boolean);
  }

  async #test({ channel_id, name }) {
    const { delivery_id } = await requests.test(channel_id);
    say(`A test is on its way to ${name} …`);
    for (let look = 0; look < LOOKS; look += 1) {
      await new Promise((done) => setTimeout(done, LOOK_MS));
      const found = await requests.delivery(delivery_id);
      if (found.state === "delivered") return this.#tested(`The test has arrived at ${name}.`);
      if (found.state === "dead" || found.last_error) return this.#tested(`The test has not arrived at ${name}: ${found.reason ?? found.last_error}`);
    }
    return say(`The test to ${name} still waits. Does the notifier run?`);
  }

  #tested(text) {
    say(text);
    return this.refresh();
  }

  #edit(channel = null) {
    const kind = channel?.kind ?? "webhook";
    const keep = channel ? "Empty: as it is." : "";
    const content = element("div", { class: "form" }, fields.text("name", "Name", channel?.name, { required: "", maxlength: 100 }),
      fields.select("kind", "Kind", KINDS, kind),
      fields.text("url", "Address", "", { maxlength: 2000, spellcheck: "false", hint: `https://host/path, or an address of Apprise, such as mailto://user:password@example.org; or env:NOTIFIER_SECRET_NAME for one from the notifier's environment. ${keep}` }),
      fields.text("file", "File", channel?.kind === "file" ? channel.target : "", { hint: "Its name, in the notifier's folder." }),
      fields.check("enabled", "Enabled", channel?.enabled ?? true));
    const form = ask({
      title: channel ? `Change ${channel.name}` : "Add a channel", content: [content], action: "Save",
      save: (filled) => this.#save(channel, filled),
    });
    const show = () => {
      for (const [name, kinds] of [["url", ["webhook", "apprise"]], ["file", ["file"]]])
        form.elements[name].parentElement.hidden = !kinds.includes(form.elements.kind.value);
    };
    form.elements.kind.addEventListener("change", show);
    show();
  }

  async #save(channel, form) {
    const kind = form.elements.kind.value;
    const draft = { name: form.elements.name.value.trim(), kind, enabled: fields.ticked(form, "enabled") };
    if (kind === "webhook" || kind === "apprise") draft.url = fields.typed(form, "url");
    if (kind === "file") draft.file = fields.typed(form, "file");
    const saved = channel ? await requests.change("channels", channel.channel_id, draft) : await requests.add("channels", draft);
    await this.refresh();
    say(`${saved.name} is saved.`);
    if (saved.secret) showSecret(saved.name, saved.secret);
  }
}
