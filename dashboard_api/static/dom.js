// Finding elements and colours of the page.

export const byTestId = (id) => document.querySelector(`[data-testid="${id}"]`);
export const on = (id, react, type = "click") => byTestId(id).addEventListener(type, react);
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Writing the same again would take what is selected, and make a screen reader speak. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Told to whoever observes; nothing is kept, as the page stays open all day. */
export function took(name, start) {
  performance.measure(name, { start });
  performance.clearMeasures(name);
}
