// The connection as the dispatcher sees it: live, stale or reconnecting, and since when.
import { byTestId, element } from "./dom.js";
import * as units from "./units.js";

const STALE_S = 30;

/** What the newest answer means; `poll` is {failures, retry_ms, answered_ms, trucks, feed}. */
export function judge(poll, now_ms) {
  const waited_s = (now_ms - poll.answered_ms) / 1000;
  if (poll.failures > 0) {
    const known = poll.answered_ms ? `showing what was known ${units.age(waited_s)}` : "nothing is known yet";
    return { state: "reconnecting", text: "Reconnecting", notice: ["The server does not answer", known] };
  }
  if (!poll.answered_ms) return { state: "loading", text: "Connecting…", notice: ["Loading the fleet…", ""] };
  if (!poll.feed.connected)
    return { state: "stale", text: "Stale: no connection to Kafka", notice: ["No connection to Kafka", "the server keeps trying"] };
  if (!poll.feed.rebuilt)
    return { state: "loading", text: "Reading Kafka…", notice: ["Reading the topics…", "the first trucks show soon"] };
  if (poll.trucks.length === 0)
    return { state: "live", text: "Live", notice: ["No trucks yet", "a truck shows here with its first fix"] };
  const newest_s = poll.trucks.reduce((least, truck) => Math.min(least, truck.age_s), Infinity) + waited_s;
  if (newest_s > STALE_S)
    return { state: "stale", text: `Stale: newest fix ${units.age(newest_s)}`, notice: null };
  return { state: "live", text: `Live, newest fix ${units.age(newest_s)}`, notice: null };
}

export function showConnection(judged) {
  byTestId("connection").dataset.state = judged.state;
  // Written only on change: a screen reader speaks each change of a status line.
  const text = byTestId("connection-text");
  if (text.textContent !== judged.text) text.textContent = judged.text;
  const notice = byTestId("notice");
  notice.hidden = judged.notice === null;
  if (judged.notice) notice.replaceChildren(element("strong", {}, judged.notice[0]), judged.notice[1]);
}
