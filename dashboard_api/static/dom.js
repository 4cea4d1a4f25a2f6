// Building elements without markup strings: text from a topic can never become markup.

/** element("td", {class: "x"}, "text", childElement) */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

export const byTestId = (id) => document.querySelector(`[data-testid="${id}"]`);
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
