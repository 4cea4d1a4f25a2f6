// The page of notifications: which section is shown stands in the address, with its filters, so that a link shows the same.
import { me } from "../api.js";
import { byTestId } from "../dom.js";
import * as units from "../units.js";
import { Channels } from "./channels.js";
import { Deliveries } from "./deliveries.js";
import { element } from "./element.js";
import { say } from "./parts.js";
import { Rules } from "./rules.js";
import { Silences } from "./silences.js";

const REFRESH_MS = 3000;
const SECTIONS = { deliveries: Deliveries, channels: Channels, rules: Rules, silences: Silences };
let shown = null;
let answers = true;

function readAddress() {
  const [name, ...filters] = location.hash.slice(1).split("&");
  return [name in SECTIONS ? name : "deliveries", Object.fromEntries(new URLSearchParams(filters.join("&")))];
}

function choose(name, filters) {
  location.hash = [name, ...Object.entries(filters).filter(([, value]) => value).map(([key, value]) => `${key}=${encodeURIComponent(value)}`)].join("&");
}

async function refresh() {
  try {
    await shown?.load();
    if (!answers) say("The server answers again.");
    answers = true;
  } catch (error) {
    answers = false;
    say(error.status === 401 ? "Not signed in: open a login link; `make link` prints one for the demo." : error.message);
  }
}

async function show(role) {
  const [name, chosen] = readAddress();
  for (const link of byTestId("sections").children) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  shown = new SECTIONS[name]({ role, refresh, chosen, choose: (filters) => choose(name, filters) });
  byTestId("main").replaceChildren(shown.element);
  document.title = `${name[0].toUpperCase()}${name.slice(1)} · Notifications`;
  await refresh();
  byTestId("main").dataset.section = name;
}

byTestId("theme").addEventListener("click", () => dispatchEvent(new Event("theme-toggle")));
try {
  const { role } = await me();
  addEventListener("hashchange", () => show(role));
  await show(role);
  setInterval(() => document.hidden || refresh(), REFRESH_MS);
  setInterval(units.growOlder, 1000);
} catch (error) {
  const text = error.status === 401 ? "Not signed in. Open a login link; `make link` prints one for the demo." : error.message;
  byTestId("main").replaceChildren(element("p", { class: "empty", "data-testid": "trouble" }, text));
}
