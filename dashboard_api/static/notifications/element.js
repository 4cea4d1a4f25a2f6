// Building elements without markup strings: text from an alert can never become markup.
import { timeAndAge } from "../units.js";
import { render } from "../vendor.js";

/** element("td", {class: "x"}, "text", childElement) */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function timeElement(time) {
  const made = element("span");
  render(timeAndAge(time), made);
  return made;
}
