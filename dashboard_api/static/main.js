// The page: hands what the live stream tells to the map and the panels, and what the dispatcher chooses to both.
import { Alerts, isOpen } from "./alerts.js";
import * as api from "./api.js";
import { drawBaseMap, home, makeMap } from "./basemap.js";
import { showConnection } from "./connection.js";
import * as controls from "./controls.js";
import { byTestId, element } from "./dom.js";
import { Feed, beep, toast } from "./feed.js";
import { Fleet, STATUSES } from "./fleet.js";
import { FleetPanel, HealthPanel } from "./fleetpanel.js";
import { TruckList } from "./list.js";
import { Live } from "./live.js";
import { choose, chosen, onChange, readAddress } from "./state.js";
import { TruckLayer } from "./trucklayer.js";
import { TruckPanel } from "./truckpanel.js";
import * as units from "./units.js";
import { title } from "./words.js";

const SLOWLY_MS = 5000;
const SEARCH_MS = 250;
const NEAR_ZOOM = 10;
const still = matchMedia("(prefers-reduced-motion: reduce)");

readAddress(STATUSES);
const [fleet, alerts] = [new Fleet(), new Alerts()];
const shared = { fleet, feed: null, signedOut: false };
const container = document.getElementById("map");
const map = makeMap(container);
if (chosen.camera) map.setView(chosen.camera.slice(0, 2), chosen.camera[2], { animate: false });
controls.makeChips();
controls.makeTabs();
controls.makeHelp();
const layer = new TruckLayer(fleet).addTo(map);
const list = new TruckList(fleet, byTestId("truck-list-panel"), pickFromList);
const truckPanel = new TruckPanel(map, fleet, alerts);
const panels = { fleet: new FleetPanel(fleet, byTestId("fleet-panel")), health: new HealthPanel(fleet, byTestId("health-panel")) };
const me = await api.me().catch((error) => ({ role: "viewer", signedOut: error.status === 401 }));
shared.signedOut = Boolean(me.signedOut);
const canEdit = me.role !== "viewer";
const feed = new Feed(alerts, byTestId("alert-panel"), { canEdit, onJump: jumpTo, announce, changed: alertsChanged });
let [fences, fenceLayer] = [null, null];

function announce(text, loud = false) {
  byTestId("announcer").textContent = text;
  if (loud) toast(text);
}

function look(lat, lon, zoom = map.getZoom()) {
  map.setView([lat, lon], zoom, { animate: !still.matches });
}

function jumpTo({ truck_id, lat, lon }) {
  const slot = fleet.slotOf(truck_id);
  const place = slot === null ? { lat, lon } : fleet.position(slot);
  choose({ truck: truck_id, opened: true, follows: false });
  if (place.lat != null) look(place.lat, place.lon, Math.max(NEAR_ZOOM, map.getZoom()));
}

function pickFromList(truck_id, byKey = false) {
  choose({ truck: truck_id, opened: !byKey, follows: false });
  const slot = fleet.slotOf(truck_id);
  if (slot !== null) look(...Object.values(fleet.position(slot)));
}

function follow() {
  const slot = chosen.follows ? fleet.slotOf(chosen.truck) : null;
  byTestId("following").hidden = !chosen.follows;
  if (slot === null) return;
  const { lat, lon } = fleet.position(slot);
  map.panTo([lat, lon], { animate: !still.matches, duration: 0.8 });
}

function showAll() {
  let bits = 0;
  for (const status of chosen.statuses) bits |= 1 << STATUSES.indexOf(status);
  fleet.shown = bits || 0xff;
  controls.showChips(fleet);
  layer.redraw();
  if (!byTestId("truck-list-panel").hidden) list.refresh();
}

function alertsChanged() {
  fleet.setAlerts(alerts.urgentTrucks());
  feed.refresh();
  const open = alerts.newest(isOpen).length;
  Object.assign(byTestId("open-alerts"), { hidden: open === 0, textContent: open > 999 ? "999+" : units.count(open) });
  showAll();
}

function takeAlert(change) {
  const raised = alerts.take(change);
  // Many at once are drawn once.
  takeAlert.timer ??= setTimeout(() => alertsChanged((takeAlert.timer = null)), 50);
  if (raised?.severity !== "critical" || !alerts.loaded) return;
  toast(`${title(raised)}: ${raised.truck_id ?? "whole fleet"}`, raised.truck_id ? () => jumpTo(raised) : null);
  if (localStorage.getItem("sound")) beep();
}

const live = (shared.live = new Live({
  frame(buffer) {
    const began = performance.now();
    fleet.takeFrame(buffer);
    showAll();
    layer.frame();
    follow();
    performance.measure("frame", { start: began, end: performance.now() });
    container.dataset.frame = String(fleet.frame_ms);
    showConnection(shared);
  },
  slots(first, ids) {
    fleet.takeSlots(first, ids);
    fleet.setAlerts(alerts.urgentTrucks());
  },
  alert: takeAlert,
  window: () => {},
  reset: () => alerts.load().then(alertsChanged).catch(() => setTimeout(() => alerts.load().then(alertsChanged, () => {}), SLOWLY_MS)),
  state: () => showConnection(shared),
}));

async function refreshSlowly() {
  try {
    shared.feed = (await api.pipeline()).feed;
    shared.signedOut = false;
    if (chosen.opened && chosen.truck) await truckPanel.refresh();
    else if (chosen.panel in panels) await panels[chosen.panel].refresh();
  } catch (error) {
    shared.signedOut = error.status === 401;
  }
}

onChange((changes) => {
  if ("truck" in changes || "opened" in changes || "panel" in changes) controls.showTabs();
  if ("truck" in changes) {
    layer.select(chosen.truck);
    if (chosen.truck === null) byTestId("truck-panel").replaceChildren();
  }
  if ("truck" in changes || "opened" in changes || "follows" in changes) truckPanel.refresh();
  if ("follows" in changes) follow(showFollowing());
  if ("panel" in changes) {
    refreshSlowly();
    if (chosen.panel === "fences") fences?.refresh();
  }
  if (!("camera" in changes)) showAll();
});

function showFollowing() {
  const stop = element("button", { type: "button", class: "button", "data-testid": "stop-following" }, "Stop");
  stop.addEventListener("click", () => choose({ follows: false }));
  byTestId("following").replaceChildren(element("span", {}, "Following ", element("b", {}, chosen.truck ?? "")), stop);
}

let searching = 0;
const search = byTestId("search");
search.value = chosen.text;
search.addEventListener("input", () => {
  choose({ text: search.value.trim(), panel: "trucks", opened: false });
  clearTimeout(searching);
  searching = setTimeout(askNames, SEARCH_MS);
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && list.first()) pickFromList(list.first());
  if (event.key === "Escape") search.blur(event.preventDefault());
});

async function askNames() {
  const text = chosen.text;
  const found = text ? await api.search(text, 500).catch(() => null) : null;
  if (text === chosen.text) list.setNamed(found?.items.map((truck) => truck.truck_id) ?? []);
}

controls.listenToKeys({
  "/": () => search.focus(search.select()),
  "?": () => byTestId("help-dialog").showModal(),
  h: () => home(map, !still.matches, choose({ follows: false })),
  f: () => chosen.truck && choose({ follows: !chosen.follows }),
  Escape: () => (chosen.follows ? choose({ follows: false }) : choose({ truck: null, opened: false })),
});
byTestId("theme").addEventListener("click", () => dispatchEvent(new Event("theme-toggle")));
const sound = byTestId("sound");
const showSound = () => sound.setAttribute("aria-pressed", String(Boolean(localStorage.getItem("sound"))));
sound.addEventListener("click", () => {
  if (localStorage.getItem("sound")) localStorage.removeItem("sound");
  else localStorage.setItem("sound", beep() ?? "on");
  showSound();
});
showSound();

map.on("moveend", () => {
  const { lat, lng } = map.getCenter();
  choose({ camera: [lat.toFixed(4), lng.toFixed(4), map.getZoom()] });
});
map.on("dragstart", () => chosen.follows && choose({ follows: false }));
map.on("click", (event) => {
  const slot = layer.at(event.containerPoint);
  if (slot !== null) return choose({ truck: fleet.ids[slot], opened: true, follows: false });
  if (chosen.truck) choose({ truck: null, follows: false, opened: false });
  const fence_id = fenceLayer?.at(event.containerPoint);
  if (fence_id && fences?.open(fence_id)) choose({ panel: "fences" });
});
map.on("mousemove", (event) => container.classList.toggle("over-truck", layer.at(event.containerPoint) !== null));

controls.showTabs();
if (chosen.truck) choose({ truck: chosen.truck, follows: chosen.follows });
if (chosen.text) askNames();
live.open();
setInterval(() => showConnection(shared), 1000);
setInterval(units.growOlder, 1000);
setInterval(refreshSlowly, SLOWLY_MS);
refreshSlowly();
const paint = await drawBaseMap(map);
addEventListener("theme", () => {
  paint();
  layer.repaint();
  fenceLayer?.repaint();
  refreshSlowly();
});

try {
  const [{ FenceLayer }, { makeFencePanel }] = await Promise.all([import("./fences/layer.js"), import("./fences/panel.js")]);
  fenceLayer = new FenceLayer(map);
  fences = makeFencePanel({ map, layer: fenceLayer, container: byTestId("fence-panel"), canEdit, announce });
} catch (error) {
  byTestId("fence-panel").append(element("p", { class: "empty" }, `Fences cannot be shown: ${error.message}`));
}
