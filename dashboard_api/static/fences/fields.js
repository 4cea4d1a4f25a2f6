// The form of a fence: a labelled field for each rule, the seldom ones folded away.
import { element } from "../dom.js";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const TEXT = { type: "text" };
const number = (more) => ({ type: "number", min: 0, step: "any", inputmode: "decimal", ...more });
const whole = (more) => number({ step: 1, inputmode: "numeric", ...more });

/** Name in the contract, label, attributes; then by how much a shown unit is larger than the stored one. */
const OFTEN = [
  ["speed_limit_kmh", "Speed limit, km/h", number({ max: 1000, placeholder: "as the fleet" })],
  ["dwell_s", "Longest stay, min", number({ placeholder: "no alert" }), 60],
  ["tags", "Tags, with commas", { ...TEXT, placeholder: "depot, customer", maxlength: 2000 }],
];
const SELDOM = [
  ["enter_confirm_fixes", "Fixes that confirm an entry", whole({ min: 1, max: 100, placeholder: "1" })],
  ["exit_confirm_fixes", "Fixes that confirm an exit", whole({ min: 1, max: 100, placeholder: "1" })],
  ["exit_buffer_m", "Exit only beyond, m", number({ max: 10000, placeholder: "0" })],
  ["colour", "Colour", { ...TEXT, placeholder: "by severity, or #3a86ff", maxlength: 32 }],
];

function field(name, label, control) {
  const id = `fence-${name}`;
  const error = element("p", { class: "field-error", id: `${id}-error`, hidden: "" });
  for (const [key, value] of Object.entries({ id, name, "data-testid": id, "aria-describedby": error.id }))
    control.setAttribute(key, value);
  return element("div", { class: `field field-${name.replace(".", "-")}` }, element("label", { for: id }, label), control, error);
}

const input = (name, label, attributes) => field(name, label, element("input", { autocomplete: "off", ...attributes }));

function check(name, label, attributes = {}) {
  const id = `fence-${name}`;
  const box = element("input", { type: "checkbox", id, name, "data-testid": id, ...attributes });
  return element("label", { class: "check" }, box, label);
}

function severity() {
  const names = { "": "as usual", info: "info", warning: "warning", critical: "critical" };
  const options = Object.entries(names).map(([value, text]) => element("option", { value }, text));
  return field("severity", "Severity of its alerts", element("select", {}, ...options));
}

function schedule() {
  const days = DAYS.map((day) => check("schedule.days", day, { value: day, id: `fence-day-${day}`, "data-testid": `fence-day-${day}` }));
  return element("fieldset", { class: "schedule" }, element("legend", {}, "When it alerts"),
    check("scheduled", "Only at these times"), element("div", { class: "days" }, ...days),
    input("schedule.start", "From", { type: "time" }), input("schedule.end", "To", { type: "time" }),
    input("schedule.zone", "Time zone", { ...TEXT, placeholder: "Europe/Amsterdam" }));
}

export function ruleFields() {
  const rows = (list) => list.map(([name, label, attributes]) => input(name, label, attributes));
  return [
    severity(), ...rows(OFTEN),
    element("details", { "data-testid": "fence-more" }, element("summary", {}, "More rules"),
      element("div", { class: "fields" }, check("alert_if_already_inside", "Alert also for trucks that are inside already"),
        ...rows(SELDOM), schedule())),
  ];
}

export function fill(form, fence) {
  const { elements } = form;
  elements.severity.value = fence.severity ?? "";
  for (const [name, , , per = 1] of [...OFTEN, ...SELDOM]) {
    const value = name === "tags" ? (fence.tags ?? []).join(", ") : (fence[name] ?? "");
    elements[name].value = per === 1 || value === "" ? value : value / per;
  }
  elements.alert_if_already_inside.checked = fence.alert_if_already_inside ?? false;
  const { days = DAYS.slice(0, 5), start = "06:00", end = "18:00", zone } = fence.schedule ?? {};
  elements.scheduled.checked = Boolean(fence.schedule);
  for (const box of elements["schedule.days"]) box.checked = days.includes(box.value);
  elements["schedule.start"].value = start;
  elements["schedule.end"].value = end;
  elements["schedule.zone"].value = zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The rules as the API takes them; an empty field is null. */
export function read({ elements }) {
  const rules = { severity: elements.severity.value || null, alert_if_already_inside: elements.alert_if_already_inside.checked };
  for (const [name, , { type }, per = 1] of [...OFTEN, ...SELDOM]) {
    const text = elements[name].value.trim();
    rules[name] = text === "" ? null : type === "number" ? Number(text) * per : text;
  }
  if (rules.dwell_s !== null) rules.dwell_s = Math.round(rules.dwell_s);
  rules.tags = (rules.tags ?? "").split(",").map((tag) => tag.trim()).filter(Boolean);
  const of = (name) => elements[`schedule.${name}`].value;
  const days = [...elements["schedule.days"]].filter((box) => box.checked).map((box) => box.value);
  rules.schedule = elements.scheduled.checked ? { days, start: of("start"), end: of("end"), zone: of("zone") } : null;
  return rules;
}

export const geometryField = (label, hint) => element("div", {},
  field("geometry", label, element("textarea", { rows: 4, spellcheck: "false", autocomplete: "off", required: "" })),
  element("small", { class: "hint" }, hint));
export const plainField = input;

export function clearErrors(form) {
  for (const each of form.querySelectorAll(".field-error")) each.hidden = true;
  for (const each of form.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
}

/** Show a refusal at the field that it names, such as body.schedule.zone; false where there is none. */
export function showError(form, where, message) {
  const parts = where.replace(/^body\./, "").split(/[.[]/);
  const name = [parts.slice(0, 2).join("."), parts[0]].find((each) => form.querySelector(`[id="fence-${each}-error"]`));
  if (!name) return false;
  const control = form.querySelector(`[id="fence-${name}"]`);
  const error = form.querySelector(`[id="fence-${name}-error"]`);
  error.textContent = message;
  error.hidden = false;
  control.setAttribute("aria-invalid", "true");
  control.closest("details")?.setAttribute("open", "");
  control.focus();
  return true;
}
