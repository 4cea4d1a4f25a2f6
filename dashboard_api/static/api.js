// Asking the API. A question that takes too long counts as failed.

const TIMEOUT_MS = 5000;
const PAGE = 1000;

async function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const answer = await fetch(query ? `${path}?${query}` : path, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

export async function allTrucks() {
  const trucks = [];
  for (;;) {
    const page = await ask("/api/trucks", { limit: PAGE, offset: trucks.length });
    trucks.push(...page.items);
    if (page.items.length === 0 || trucks.length >= page.total) return trucks;
  }
}

export const pipeline = () => ask("/api/pipeline");
export const rejects = (limit) => ask("/api/rejects", { limit });
export const fleetWindows = (limit) => ask("/api/windows", { scope: "fleet", length_s: 60, limit });
export const truckWindows = (truck_id, limit) => ask("/api/windows", { truck_id, length_s: 60, limit });
