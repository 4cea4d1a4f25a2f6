// The page: asks every two seconds, and hands what it hears to the map and the panels.
import * as api from "./api.js";
import { drawStates, makeMap } from "./basemap.js";
import { judge, showConnection } from "./connection.js";
import * as panels from "./panels.js";
import { TruckLayer } from "./trucklayer.js";

const POLL_MS = 2000;
const RETRY_MS = 500;
const RETRY_MAX_MS = 10000;

const poll = { failures: 0, answered_ms: 0, trucks: [], feed: { connected: false, rebuilt: false } };
let selected = null;
let selectedWindows = [];

const container = document.getElementById("map");
const map = makeMap(container);
const layer = new TruckLayer().addTo(map);

async function refresh() {
  const [trucks, pipeline, windows, rejects] = await Promise.all([
    api.allTrucks(), api.pipeline(), api.fleetWindows(10), api.rejects(5),
  ]);
  Object.assign(poll, { trucks, feed: pipeline.feed, answered_ms: Date.now(), failures: 0 });
  if (selected) selectedWindows = (await api.truckWindows(selected, 5)).items;
  layer.show(trucks);
  panels.showStatuses(trucks);
  panels.showFleetWindows(windows.items);
  panels.showRejects(rejects, pipeline.counts);
  showSelected();
}

async function pollForever() {
  try {
    await refresh();
  } catch {
    poll.failures += 1;
  }
  const pause = poll.failures ? Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** (poll.failures - 1)) : POLL_MS;
  tick();
  setTimeout(pollForever, pause);
}

function tick() {
  showConnection(judge(poll, Date.now()));
}

function showSelected() {
  const truck = poll.trucks.find((each) => each.truck_id === selected);
  if (!truck) return panels.hideTruck();
  const age_s = truck.age_s + (Date.now() - poll.answered_ms) / 1000;
  return panels.showTruck(truck, selectedWindows, age_s, () => choose(null));
}

async function choose(truck_id) {
  selected = truck_id;
  selectedWindows = [];
  layer.select(truck_id);
  showSelected();
  if (!truck_id) return;
  const windows = await api.truckWindows(truck_id, 5).catch(() => ({ items: [] }));
  if (selected !== truck_id) return;
  selectedWindows = windows.items;
  showSelected();
}

map.on("click", (event) => choose(layer.at(event.containerPoint)));
map.on("mousemove", (event) => container.classList.toggle("over-truck", layer.at(event.containerPoint) !== null));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") choose(null);
});

const paintStates = await drawStates(map);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  paintStates();
  layer.repaint();
});
setInterval(tick, 1000);
pollForever();
