// The connection as the dispatcher sees it: live, stale or reconnecting, and how old what is shown is.
import { byTestId, write } from "./dom.js";
import { briefly, duration } from "./units.js";
import { html, render } from "./vendor.js";

const STALE_S = 30;
const KAFKA = ["No connection to Kafka", "The server keeps trying; the map shows what was known before."];

/** `live` is the socket, `feed` what the server says of its own connection to Kafka, or null. */
function judge({ live, fleet, feed, signedOut }, now_ms) {
  const waited_s = (now_ms - fleet.frame_ms) / 1000;
  const newest_s = fleet.newest_s + waited_s;
  if (signedOut) return ["signed-out", "Not signed in", ["Not signed in", "Open a login link; `make link` prints one for the demo."]];
  if (live.state === "reconnecting") {
    const known = fleet.frame_ms ? `Showing what was known ${duration(waited_s)} ago.` : "Nothing is known yet.";
    return ["reconnecting", "Reconnecting…", ["The server does not answer", known]];
  }
  if (!fleet.frame_ms || live.state === "loading") return ["loading", "Connecting…", ["Loading the fleet…", ""]];
  if (feed && !feed.connected) return ["stale", "Stale: no connection to Kafka", KAFKA];
  if (feed && !feed.rebuilt) return ["loading", "Reading Kafka…", ["Reading the topics…", "The first trucks show soon."]];
  if (newest_s === Infinity) return ["live", "Live", ["No trucks yet", "A truck shows here with its first fix."]];
  if (newest_s > STALE_S) return ["stale", `Stale: newest fix ${fleet.newest_s > 254 ? briefly(255) : duration(newest_s)} ago`, null];
  return ["live", `Live, newest fix ${duration(newest_s)} ago`, null];
}

export function showConnection(parts) {
  const [state, text, notice] = judge(parts, Date.now());
  byTestId("connection").dataset.state = state;
  const shown = byTestId("connection-text");
  // What a screen reader hears changes with the state only: an age every second would be chatter.
  shown.parentElement.setAttribute("aria-live", state === shown.dataset.state ? "off" : "polite");
  shown.dataset.state = state;
  write(shown, text);
  const box = byTestId("notice");
  box.hidden = notice === null;
  if (notice) render(html`<strong>${notice[0]}</strong>${notice[1]}`, box);
}
