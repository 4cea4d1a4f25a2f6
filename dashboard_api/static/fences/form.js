// The rules of a fence in the form of index.html, and what is wrong with them.

/** Fields that are rules as they stand; an input's data-per says by how much its unit is larger than the stored one. */
const PLAIN = ["severity", "speed_limit_kmh", "dwell_s", "enter_confirm_fixes", "exit_confirm_fixes", "exit_buffer_m", "colour", "radius_m", "width_m"];
const TIMES = ["start", "end", "zone"];

export function fill({ elements }, fence) {
  elements.name.value = fence.name ?? "";
  for (const name of PLAIN) {
    const { per = 1 } = elements[name].dataset;
    elements[name].value = fence[name] == null ? "" : per === 1 ? fence[name] : fence[name] / per;
  }
  elements.tags.value = (fence.tags ?? []).join(", ");
  elements.alert_if_already_inside.checked = fence.alert_if_already_inside ?? false;
  elements.scheduled.checked = Boolean(fence.schedule);
  const schedule = fence.schedule ?? { zone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  for (const name of TIMES) elements[`schedule.${name}`].value = schedule[name] ?? elements[`schedule.${name}`].defaultValue;
  for (const box of elements.days) box.checked = schedule.days?.includes(box.value) ?? box.defaultChecked;
}

/** As the API takes it; an empty field is null. Raises where the browser finds a field wrong. */
export function read({ elements }) {
  const wrong = [...elements].find((each) => each.willValidate && !each.validity.valid);
  if (wrong) throw Object.assign(new Error(wrong.validationMessage), { where: wrong.name });
  const rules = { name: elements.name.value.trim(), alert_if_already_inside: elements.alert_if_already_inside.checked };
  for (const name of PLAIN) {
    const { value, type, dataset } = elements[name];
    rules[name] = value.trim() === "" ? null : type !== "number" ? value.trim() : dataset.per ? Math.round(value * dataset.per) : Number(value);
  }
  rules.tags = elements.tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
  const days = [...elements.days].filter((box) => box.checked).map((box) => box.value);
  const times = Object.fromEntries(TIMES.map((name) => [name, elements[`schedule.${name}`].value]));
  rules.schedule = elements.scheduled.checked ? { days, ...times } : null;
  return rules;
}

export function clearErrors(form) {
  for (const each of form.querySelectorAll(".field-error")) each.remove();
  for (const each of form.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
}

/** Show a refusal at the field that it names, such as body.schedule.zone; false where there is none. */
export function showError(form, where, message) {
  const parts = where.replace(/^body\./, "").split(/[.[]/);
  const control = [parts.slice(0, 2).join("."), parts[0]].map((name) => document.getElementById(`fence-${name}`)).find(Boolean);
  if (!control) return false;
  const id = `${control.id}-error`;
  const error = Object.assign(document.createElement("p"), { id, className: "field-error", textContent: message });
  control.after(error);
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", id);
  for (let folded = control; (folded = folded.parentElement.closest("details")); ) folded.open = true;
  control.focus();
  return true;
}
