// What the dispatcher has chosen: truck, filter, search, panel. Kept in the address, so that a link shows the same.

const ADDRESS_MS = 200;
const listeners = new Set();
let timer = 0;

export const chosen = { truck: null, follows: false, statuses: new Set(), text: "", panel: "alerts", opened: false, camera: null };
export const onChange = (listener) => listeners.add(listener);

/** Change some of it; every listener hears which. */
export function choose(changes) {
  Object.assign(chosen, changes);
  clearTimeout(timer);
  // Browsers refuse a page that writes its address too often, and a drag moves the camera with each picture.
  timer = setTimeout(writeAddress, ADDRESS_MS);
  for (const listener of listeners) listener(changes);
}

export const letGo = () => choose({ truck: null, follows: false, opened: false });

export function readAddress(statuses) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const camera = (asked.get("at") ?? "").split(",").map(Number);
  if (camera.length === 3 && camera.every(Number.isFinite)) chosen.camera = camera;
  chosen.truck = asked.get("truck");
  chosen.opened = chosen.truck !== null;
  chosen.follows = chosen.opened && asked.has("follow");
  chosen.text = asked.get("q") ?? "";
  chosen.panel = asked.get("panel") ?? chosen.panel;
  chosen.statuses = new Set((asked.get("show") ?? "").split(",").filter((each) => statuses.includes(each)));
}

function writeAddress() {
  const { camera, truck, follows, text, panel, statuses } = chosen;
  const parts = { at: camera?.join(","), truck, follow: follows && "1", show: [...statuses].join(","), q: text, panel: panel !== "alerts" && panel };
  const kept = Object.entries(parts).filter(([, value]) => value);
  history.replaceState(null, "", kept.length ? `#${new URLSearchParams(kept)}`.replaceAll("%2C", ",") : location.pathname);
}
