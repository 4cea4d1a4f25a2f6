// The vendored libraries as modules; some of them only know how to set a global.
import "./vendor/leaflet/leaflet.js";
import "./vendor/leaflet-editable/Leaflet.Editable.js";
import "./vendor/topojson-client/topojson-client.min.js";

export { html, nothing, render } from "./vendor/lit-html/lit-html.js";
export { repeat } from "./vendor/lit-html/directives/repeat.js";
export const { L, topojson } = globalThis;
