// Asking the API. A question that takes too long counts as failed.

const TIMEOUT_MS = 8000;

/** `asked` may hold method, headers and a body, which is sent as JSON. */
export async function ask(path, parameters = {}, { body, ...asked } = {}) {
  const query = new URLSearchParams(parameters).toString();
  const json = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const answer = await fetch(query ? `${path}?${query}` : path, { signal: AbortSignal.timeout(TIMEOUT_MS), ...json, ...asked });
  const told = await answer.json();
  if (answer.ok) return told;
  throw Object.assign(new Error(told.error.message), { status: answer.status });
}

const truckPath = (truck_id, more = "") => `/api/trucks/${encodeURIComponent(truck_id)}${more}`;

export const me = () => ask("/api/me");
export const pipeline = () => ask("/api/pipeline");
export const stats = () => ask("/api/stats");
export const rejects = (limit) => ask("/api/rejects", { limit });
export const windows = (parameters) => ask("/api/windows", { length_s: 60, ...parameters });
export const alerts = (parameters) => ask("/api/alerts", parameters);
export const acknowledge = (alert_ids) => ask("/api/alerts/acknowledge", {}, { body: { alert_ids } });
export const truck = (truck_id) => ask(truckPath(truck_id));
export const track = (truck_id) => ask(truckPath(truck_id, "/track"));
export const visits = (truck_id, limit) => ask(truckPath(truck_id, "/visits"), { limit });
export const search = (q, limit) => ask("/api/trucks", { q, limit });
