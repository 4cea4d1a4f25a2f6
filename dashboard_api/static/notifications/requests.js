// What the API is asked about notifications; a refusal carries its message.
import { ask } from "../api.js";

async function send(method, path, json) {
  try {
    return await ask(path, {}, { method, json });
  } catch (refused) {
    if (refused.where?.startsWith("body.")) refused.message = `${refused.where.slice(5)}: ${refused.message}`;
    throw refused;
  }
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
