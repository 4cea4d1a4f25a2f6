// Labelled controls, each built from what it is called in the contract, and what is read from them.
import { element } from "./element.js";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
let last = 0;

function labelled(label, control, hint = "") {
  const id = `field-${(last += 1)}`;
  control.id = id;
  const told = hint && element("small", { id: `${id}-hint` }, hint);
  if (told) control.setAttribute("aria-describedby", told.id);
  return element("div", { class: "field" }, element("label", { for: id }, label), control, told || null);
}

const named = (name, more) => ({ name, "data-testid": `field-${name}`, autocomplete: "off", ...more });

export const text = (name, label, value = "", { hint, ...more } = {}) =>
  labelled(label, element("input", named(name, { type: "text", value: value ?? "", ...more })), hint);

export const number = (name, label, value, { hint, ...more } = {}) =>
  labelled(label, element("input", named(name, { type: "number", min: 0, inputmode: "numeric", value: value ?? "", ...more })), hint);

export const list = (name, label, values = [], hint = "With commas; empty: any.") => text(name, label, values.join(", "), { hint });

export function select(name, label, options, value) {
  const made = element("select", named(name), ...Object.entries(options).map(([key, shown]) => element("option", { value: key }, shown)));
  made.value = value;
  return labelled(label, made);
}

export function check(name, label, checked = false, value = "on") {
  const box = element("input", { type: "checkbox", name, value, "data-testid": value === "on" ? `field-${name}` : `field-${name}-${value}` });
  box.checked = checked;
  return element("label", { class: "check" }, box, label);
}

/** `options`: value → what is shown. */
export const several = (name, legend, options, chosen = []) =>
  element("fieldset", {}, element("legend", {}, legend),
    element("div", { class: "checks" }, ...Object.entries(options).map(([value, shown]) => check(name, shown, chosen.includes(value), value))));

export function hours(schedule) {
  const { days = DAYS.slice(0, 5), start = "08:00", end = "18:00", zone } = schedule ?? {};
  return element("fieldset", {}, element("legend", {}, "Time of day"), check("timed", "Only at these hours", Boolean(schedule)),
    element("div", { class: "checks" }, ...DAYS.map((day) => check("days", day, days.includes(day), day))),
    element("div", { class: "fields" }, text("start", "From", start, { type: "time" }), text("end", "To", end, { type: "time" }),
      text("zone", "Time zone", zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone)));
}

export const chosen = (form, name) => [...form.querySelectorAll(`input[name="${name}"]:checked`)].map((box) => box.value);
export const names = (form, name) => form.elements[name].value.split(",").map((each) => each.trim()).filter(Boolean);
export const typed = (form, name) => form.elements[name].value.trim() || null;
export const ticked = (form, name) => form.elements[name].checked;

/** A whole number, or what stands for nothing. */
export function whole(form, name, nothing = 0, per = 1) {
  const value = form.elements[name].value.trim();
  return value === "" ? nothing : Math.round(Number(value) * per);
}

export const hoursOf = (form) => ticked(form, "timed")
  ? { days: chosen(form, "days"), start: form.elements.start.value, end: form.elements.end.value, zone: form.elements.zone.value.trim() } : null;
