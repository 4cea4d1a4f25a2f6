// The panel of fences: a list to search, buttons to draw, and the fence that is open.
import { element } from "../dom.js";
import { Editor } from "./editor.js";
import { outline, shapeOf } from "./geo.js";
import { FenceList } from "./list.js";
import * as requests from "./requests.js";

const REFRESH_MS = 3000;
const PER_REFRESH = 1000;
const KINDS = ["polygon", "circle", "corridor"];

export function makeFencePanel({ map, layer, container, canEdit, announce = () => {} }) {
  let known = { fences: [], inside: {} };
  let editor = null;
  let timer = null;
  let loaded = false;
  const list = new FenceList({ onOpen: (fence_id) => open(fence_id) && lookAt(fence_id) });
  const message = element("p", { class: "fence-message", role: "status", "data-testid": "fences-message", hidden: "" });
  const exported = element("a", { href: "/api/fences?format=geojson&limit=1000", download: "fences.geojson", "data-testid": "fences-export" }, "Export as GeoJSON");
  const overview = element("div", { class: "fences", "data-testid": "fences" }, canEdit ? drawButtons() : null, list.element, exported, message);
  container.append(overview);

  function say(text) {
    message.textContent = text;
    message.hidden = false;
    announce(text);
  }

  function drawButtons() {
    const buttons = KINDS.map((kind) => {
      const made = element("button", { type: "button", class: kind, "data-testid": `draw-${kind}` },
        element("span", { class: `kind ${kind}`, "aria-hidden": "true" }), kind[0].toUpperCase() + kind.slice(1));
      // A click without a mouse: whoever works by keyboard goes on in the form.
      made.addEventListener("click", (event) => startDrawing(kind, event.detail === 0));
      return made;
    });
    return element("div", { class: "draw", role: "group", "aria-label": "Draw a fence" }, ...buttons);
  }

  function show(made) {
    editor?.remove();
    editor = made;
    overview.hidden = editor !== null;
    if (editor) container.append(editor.element);
    layer.hide(editor?.fence_id ?? null);
    layer.select(editor?.fence_id ?? null);
    tell();
  }

  const on = {
    close,
    saved: async (fence) => {
      await refresh();
      show(new Editor({ map, fence, canEdit, on }));
      editor.focus();
      announce(`${fence.name} is saved and counts from now on.`);
    },
    deleted: async (fence) => {
      close();
      await refresh();
      say(`${fence.name} is deleted.`);
    },
    reload: async ({ fence_id }) => {
      const fence = await requests.oneFence(fence_id).catch(() => null);
      if (!fence) return on.deleted({ name: "The fence" });
      show(new Editor({ map, fence, canEdit, on }));
      return editor.focus();
    },
  };

  function busy() {
    if (!editor?.dirty) return false;
    announce("Save or cancel the fence that is open first.");
    return true;
  }

  function open(fence_id) {
    if (editor?.fence_id === fence_id) return true;
    const fence = known.fences.find((each) => each.fence_id === fence_id);
    if (!fence || busy()) return false;
    show(new Editor({ map, fence, canEdit, on }));
    editor.focus();
    return true;
  }

  function startDrawing(kind, byKeyboard = false) {
    if (!canEdit || busy()) return;
    show(new Editor({ map, kind, canEdit, on }));
    if (byKeyboard) editor.focus();
    else map.getContainer().focus({ preventScroll: true });
    announce(`Drawing a ${kind}.`);
  }

  function close() {
    const fence_id = editor?.fence_id;
    show(null);
    list.focus(fence_id);
  }

  function lookAt(fence_id) {
    const { fill, lines } = outline(shapeOf(known.fences.find((each) => each.fence_id === fence_id)));
    map.fitBounds([...fill, ...lines].flat(), { padding: [60, 60] });
  }

  function tell() {
    layer.setFences(known.fences, known.inside);
    list.show(known);
    if (editor?.fence_id) editor.showInside(known.inside[editor.fence_id]);
  }

  async function refresh() {
    known = await requests.allFences();
    loaded = true;
    tell();
  }

  // With the panel closed, what was last known stays on the map: geometries are too large to fetch for nobody.
  async function refreshForever() {
    clearTimeout(timer);
    const wanted = !document.hidden && !(container.hidden && loaded);
    if (wanted) await refresh().catch(() => {}); // The page tells that the server does not answer.
    timer = setTimeout(refreshForever, REFRESH_MS * Math.max(1, known.fences.length / PER_REFRESH));
  }

  document.addEventListener("visibilitychange", () => !document.hidden && refreshForever());
  refreshForever();
  return { refresh: refreshForever, open };
}
