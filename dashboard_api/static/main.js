// The page: hands what the live stream tells to the map and the panels, and what the dispatcher chooses to both.
import { Alerts, isOpen } from "./alerts.js";
import * as api from "./api.js";
import { drawBaseMap, home, makeMap } from "./basemap.js";
import { showConnection } from "./connection.js";
import * as controls from "./controls.js";
import { byTestId, on, took, write } from "./dom.js";
import { FencePanel } from "./fences/panel.js";
import { Feed, beep, toast } from "./feed.js";
import { Fleet, STATUSES } from "./fleet.js";
import { showFleet, showHealth } from "./fleetpanel.js";
import { TruckList } from "./list.js";
import { Live } from "./live.js";
import { choose, chosen, letGo, onChange, readAddress } from "./state.js";
import { TruckLayer } from "./trucklayer.js";
import { TruckPanel } from "./truckpanel.js";
import { growOlder } from "./units.js";
import { title } from "./words.js";

const SLOWLY_MS = 5000;
const SEARCH_MS = 250;
const GATHER_MS = 50;
const NEAR_ZOOM = 10;
const still = matchMedia("(prefers-reduced-motion: reduce)");

readAddress(STATUSES);
const [fleet, alerts] = [new Fleet(), new Alerts()];
const shared = { fleet, live: { state: "loading" }, feed: null, signedOut: false };
const container = byTestId("map");
const map = makeMap(container);
if (chosen.camera) map.setView(chosen.camera.slice(0, 2), chosen.camera[2], { animate: false });
const layer = new TruckLayer(fleet).addTo(map);
const list = new TruckList(fleet, pickFromList);
const truckPanel = new TruckPanel(map, fleet, alerts);
const me = await api.me().catch(({ status }) => ({ role: "viewer", signedOut: status === 401 }));
shared.signedOut = Boolean(me.signedOut);
if (me.signedOut) for (const list of ["no-alerts", "fence-more-rows"]) write(byTestId(list), "Nothing to show: not signed in.");
const canEdit = me.role !== "viewer";
if (!canEdit) for (const each of document.querySelectorAll("[data-edits]")) each.remove();
const feed = new Feed(alerts, { canEdit, onJump: jumpTo, announce, changed: alertsChanged });
const fences = new FencePanel({ map, canEdit, announce, isTaken: (point) => layer.at(point) !== null });

function announce(text, loud = false) {
  byTestId("announcer").textContent = text;
  if (loud) toast(text);
}

function look({ lat, lon }, zoom = map.getZoom()) {
  map.setView([lat, lon], zoom, { animate: !still.matches });
}

function jumpTo({ truck_id, ...place }) {
  const slot = fleet.slotOf(truck_id);
  choose({ truck: truck_id, opened: true, follows: false });
  if (slot !== null || place.lat !== null) look(slot === null ? place : fleet.position(slot), Math.max(NEAR_ZOOM, map.getZoom()));
}

function pickFromList(truck_id, byKey = false) {
  choose({ truck: truck_id, opened: !byKey, follows: false });
  const slot = fleet.slotOf(truck_id);
  if (slot !== null) look(fleet.position(slot));
}

function follow() {
  byTestId("following").hidden = !chosen.follows;
  write(byTestId("following").querySelector("b"), chosen.truck ?? "");
  const slot = chosen.follows ? fleet.slotOf(chosen.truck) : null;
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
  Object.assign(byTestId("open-alerts"), { hidden: open === 0, textContent: open > 999 ? "999+" : open });
  showAll();
}

function takeAlert(change) {
  const raised = alerts.take(change);
  // Many at once are drawn once.
  takeAlert.timer ??= setTimeout(() => alertsChanged((takeAlert.timer = null)), GATHER_MS);
  if (raised?.severity !== "critical" || !alerts.loaded) return;
  toast(`${title(raised)}: ${raised.truck_id ?? "whole fleet"}`, raised.truck_id ? () => jumpTo(raised) : null);
  if (localStorage.getItem("sound")) beep();
}

/** Until it succeeds: an alert that was missed meanwhile must not stay unseen. */
const loadAlerts = () => alerts.load().then(alertsChanged, () => setTimeout(loadAlerts, SLOWLY_MS));

shared.live = new Live({
  frame(buffer) {
    const start = performance.now();
    fleet.takeFrame(buffer);
    showAll();
    layer.frame();
    follow();
    took("frame", start);
    container.dataset.frame = String(fleet.frame_ms);
    showConnection(shared);
  },
  slots(first, ids) {
    fleet.takeSlots(first, ids);
    fleet.setAlerts(alerts.urgentTrucks());
  },
  alert: takeAlert,
  reset: loadAlerts,
  state: () => showConnection(shared),
});

async function refreshSlowly() {
  try {
    shared.feed = (await api.pipeline()).feed;
    shared.signedOut = false;
    if (chosen.opened && chosen.truck) await truckPanel.refresh();
    else if (chosen.panel === "fleet") await showFleet();
    else if (chosen.panel === "health") await showHealth(fleet);
  } catch ({ status }) {
    shared.signedOut = status === 401;
  }
}

onChange((changes) => {
  if ("truck" in changes || "opened" in changes || "panel" in changes) controls.showTabs();
  if ("truck" in changes) layer.select(chosen.truck);
  if ("truck" in changes || "opened" in changes || "follows" in changes) truckPanel.refresh();
  if ("follows" in changes) follow();
  if ("panel" in changes) {
    refreshSlowly();
    if (chosen.panel === "fences") fences.refresh();
  }
  if (!("camera" in changes)) showAll();
});

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
  Escape: () => (chosen.follows ? choose({ follows: false }) : letGo()),
});
on("stop-following", () => choose({ follows: false }));

map.on("moveend", () => {
  const { lat, lng } = map.getCenter();
  choose({ camera: [lat.toFixed(4), lng.toFixed(4), map.getZoom()] });
});
map.on("dragstart", () => chosen.follows && choose({ follows: false }));
map.on("click", ({ containerPoint }) => {
  if (fences.isEditing) return;
  const slot = layer.at(containerPoint);
  if (slot !== null) choose({ truck: fleet.ids[slot], opened: true, follows: false });
  else if (chosen.truck) letGo();
});
map.on("mousemove", ({ containerPoint }) => container.classList.toggle("over-truck", layer.at(containerPoint) !== null));

controls.showTabs();
if (chosen.truck) choose({ truck: chosen.truck, follows: chosen.follows });
if (chosen.text) askNames();
showConnection(shared);
shared.live.open();
setInterval(() => showConnection(shared), 1000);
setInterval(growOlder, 1000);
setInterval(refreshSlowly, SLOWLY_MS);
refreshSlowly();
const paint = await drawBaseMap(map);
addEventListener("theme", () => {
  paint();
  layer.repaint();
  fences.repaint();
  refreshSlowly();
});
