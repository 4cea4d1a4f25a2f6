// What the API is asked about fences; a refusal carries its status and the field that it names.

const TIMEOUT_MS = 10000;
const PAGE = 1000;
const at = (fence_id) => `/api/fences/${encodeURIComponent(fence_id)}`;

async function send(method, path, { body, version } = {}) {
  const headers = { ...(body && { "Content-Type": "application/json" }), ...(version && { "If-Match": `"${version}"` }) };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(path, { method, headers, body, signal }).catch(() => {
    throw new Error("The server does not answer. Nothing is lost here: try again.");
  });
  const found = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.error.message), { status: answer.status, where: found.error.where });
  return found;
}

export async function allFences() {
  const [fences, inside] = [[], {}];
  for (;;) {
    const page = await send("GET", `/api/fences?limit=${PAGE}&offset=${fences.length}`);
    fences.push(...page.items);
    Object.assign(inside, page.inside);
    if (!page.items.length || fences.length >= page.total) return { fences, inside };
  }
}

export const oneFence = (fence_id) => send("GET", at(fence_id));
export const deleteFence = ({ fence_id, version }) => send("DELETE", at(fence_id), { version });

/** Make it, or write the next version of the one that was seen. */
export function saveFence(seen, draft) {
  const body = JSON.stringify(draft);
  return seen ? send("PUT", at(seen.fence_id), { body, version: seen.version }) : send("POST", "/api/fences", { body });
}
