// What the API is asked about notifications; a refusal carries its message.

const TIMEOUT_MS = 10000;

async function send(method, path, body) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  const asked = { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(TIMEOUT_MS) };
  const answer = await fetch(path, asked).catch(() => {
    throw new Error("The server does not answer. Nothing is lost here: try again.");
  });
  if (answer.status === 204) return null;
  const told = await answer.json();
  if (answer.ok) return told;
  const where = told.error.where?.startsWith("body.") ? `${told.error.where.slice(5)}: ` : "";
  throw Object.assign(new Error(`${where}${told.error.message}`), { status: answer.status });
}

const at = (kind, id, more = "") => `/api/${kind}/${encodeURIComponent(id)}${more}`;

export const all = (kind, parameters = {}) => send("GET", `/api/${kind}?${new URLSearchParams(parameters)}`);
export const add = (kind, draft) => send("POST", `/api/${kind}`, draft);
export const change = (kind, id, draft) => send("PUT", at(kind, id), draft);
export const remove = (kind, id) => send("DELETE", at(kind, id));
export const rotate = (channel_id) => send("POST", at("channels", channel_id, "/rotate"));
export const test = (channel_id) => send("POST", at("channels", channel_id, "/test"));
export const delivery = (delivery_id) => send("GET", at("deliveries", delivery_id));
export const resend = (delivery_id) => send("POST", at("deliveries", delivery_id, "/resend"));
export const resendDead = (channel_id) => send("POST", "/api/deliveries/resend", { channel_id });
