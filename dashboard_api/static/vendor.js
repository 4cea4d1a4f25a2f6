// The vendored libraries as modules; they only know how to set a global.
import "./vendor/leaflet/leaflet.js";
import "./vendor/topojson-client/topojson-client.min.js";

export const { L, topojson } = globalThis;
