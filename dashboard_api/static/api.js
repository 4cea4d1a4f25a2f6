// Asking the API. A question that takes too long counts as failed; a refusal carries its status and the field it names.

const TIMEOUT_MS = 10_000;

/** `json` is a body; `type` says what another body is. */
export async function ask(path, parameters = {}, { json, type, headers, ...more } = {}) {
  const query = new URLSearchParams(parameters).toString();
  if (json !== undefined) [more.body, type] = [JSON.stringify(json), "application/json"];
  if (more.body) more.method ??= "POST";
  const asked = { signal: AbortSignal.timeout(TIMEOUT_MS), headers: { ...headers, ...(type && { "Content-Type": type }) }, ...more };
  const answer = await fetch(query ? `${path}?${query}` : path, asked).catch(() => {
    throw new Error("The server does not answer. Nothing is lost here: try again.");
  });
  const told = answer.status === 204 ? null : await answer.json();
  if (answer.ok) return told;
  throw Object.assign(new Error(told.error.message), { status: answer.status, where: told.error.where ?? "" });
}

const at = (kind) => (id, more = "") => `/api/${kind}/${encodeURIComponent(id)}${more}`;
const [truckPath, fencePath] = [at("trucks"), at("fences")];

export const me = () => ask("/api/me");
export const pipeline = () => ask("/api/pipeline");
export const stats = () => ask("/api/stats");
export const rejects = (limit) => ask("/api/rejects", { limit });
export const windows = (parameters) => ask("/api/windows", { length_s: 60, ...parameters });
export const alerts = (parameters) => ask("/api/alerts", parameters);
export const acknowledge = (alert_ids) => ask("/api/alerts/acknowledge", {}, { json: { alert_ids } });
export const truck = (truck_id) => ask(truckPath(truck_id));
export const track = (truck_id) => ask(truckPath(truck_id, "/track"));
export const visits = (truck_id, limit) => ask(truckPath(truck_id, "/visits"), { limit });
export const search = (q, limit) => ask("/api/trucks", { q, limit });

/** All pages of a list, and what else they tell. */
export async function fences(limit = 1000) {
  const [items, inside] = [[], {}];
  for (;;) {
    const page = await ask("/api/fences", { limit, offset: items.length });
    items.push(...page.items);
    Object.assign(inside, page.inside);
    if (!page.items.length || items.length >= page.total) return { items, inside };
  }
}

const seen = (fence) => ({ "If-Match": `"${fence.version}"` });
export const fence = (fence_id) => ask(fencePath(fence_id));
export const fenceVersions = (fence_id) => ask(fencePath(fence_id, "/versions"));
export const deleteFence = (fence) => ask(fencePath(fence.fence_id), {}, { method: "DELETE", headers: seen(fence) });
export const importFences = (body, type) => ask("/api/fences/import", { existing: "update" }, { body, type });

/** Make it, or write the next version of the one that was seen. */
export function saveFence(known, json) {
  if (!known) return ask("/api/fences", {}, { json });
  return ask(fencePath(known.fence_id), {}, { json, method: "PUT", headers: seen(known) });
}
