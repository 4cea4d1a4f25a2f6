// What all sections are made of: buttons, badges, questions, and rows that stay while nothing about them changes.
import { byTestId } from "../dom.js";
import { element } from "./element.js";

export function button(text, onClick, { kind = "", testId = "" } = {}) {
  const made = element("button", { type: "button", class: `button ${kind}`, "data-testid": testId }, text);
  made.addEventListener("click", async () => {
    made.disabled = true;
    try {
      await onClick();
    } catch (error) {
      say(error.message);
    }
    made.disabled = false;
  });
  return made;
}

export const badge = (text, look, testId = "badge") => element("span", { class: `state ${look}`, "data-testid": testId }, text);
export const empty = (text) => element("p", { class: "empty", "data-testid": "empty" }, text);

let timer = 0;

/** For eyes and for screen readers, until something else is said. */
export function say(text) {
  const shown = byTestId("said");
  shown.textContent = text;
  clearTimeout(timer);
  timer = setTimeout(() => (shown.textContent = ""), 8000);
}

/** A dialog with a form; `save` gets the form, and its error is shown where it was asked. */
export function ask({ title, content, action, save, kind = "main" }) {
  const error = element("p", { class: "form-error", role: "alert", "data-testid": "form-error", hidden: "" });
  const cancel = element("button", { type: "button", class: "button", "data-testid": "cancel" }, "Cancel");
  const submit = element("button", { type: "submit", class: `button ${kind}`, "data-testid": "save" }, action);
  const form = element("form", { class: "form", novalidate: "" }, element("h2", { id: "dialog-title" }, title), ...content, error,
    element("div", { class: "actions" }, cancel, submit));
  const dialog = element("dialog", { "aria-labelledby": "dialog-title", "data-testid": "dialog" }, form);
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    try {
      await save(form);
      dialog.close();
    } catch (refused) {
      error.textContent = refused.message;
      error.hidden = false;
      error.scrollIntoView({ block: "nearest" });
    }
    submit.disabled = false;
  });
  document.body.append(dialog);
  dialog.showModal();
  return form;
}

export const confirmed = (title, text, action, save) =>
  ask({ title, content: [element("p", {}, text)], action, save, kind: "danger" });

/** Something that is shown this one time. */
export function showSecret(name, secret) {
  const copy = element("button", { type: "button", class: "button", "data-testid": "copy" }, "Copy");
  copy.addEventListener("click", () => navigator.clipboard?.writeText(secret).then(() => say("Copied."), () => {}));
  ask({
    title: `The secret of ${name}`,
    content: [
      element("p", {}, "The receiver verifies each webhook with it. It is not shown again."),
      element("p", { class: "secret" }, element("code", { "data-testid": "secret" }, secret), copy),
    ],
    action: "Done", save: () => {},
  });
}

/** Rows are made anew only where what they show has changed, so that focus and open menus stay. */
export class Rows {
  #made = new Map();

  constructor({ key, row, empty }) {
    Object.assign(this, { key, row, nothing: empty });
    this.element = element("ul", { class: "cards", "data-testid": "rows" });
    this.none = element("div", {});
  }

  show(items) {
    const before = this.#made;
    this.#made = new Map();
    const rows = items.map((item) => {
      const [key, text] = [this.key(item), JSON.stringify(item)];
      const known = before.get(key);
      const row = known?.text === text ? known.row : this.row(item);
      this.#made.set(key, { text, row });
      return row;
    });
    if (rows.length !== this.element.children.length || rows.some((row, index) => row !== this.element.children[index])) {
      const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.testid : null;
      const place = [...this.element.children].findIndex((row) => row.contains(document.activeElement));
      this.element.replaceChildren(...rows);
      if (focused) (rows[place] ?? rows.at(-1))?.querySelector(`[data-testid="${focused}"]`)?.focus({ preventScroll: true });
    }
    this.none.replaceChildren(...(items.length ? [] : [empty(this.nothing)]));
  }
}
