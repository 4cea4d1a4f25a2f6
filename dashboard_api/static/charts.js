// Line and bar charts in the colours of the theme.
import { css, element } from "./dom.js";

const { uPlot } = globalThis;
const HEIGHT_PX = 130;

/** series: [{name, colour, unit, bars}]; data: [seconds[], ...values[]] */
export function chart(box, name, unit, series, data) {
  const axis = { stroke: css("--quiet"), grid: { stroke: css("--line"), width: 1 }, ticks: { show: false }, font: `11px ${css("--sans")}` };
  const lines = series.map((each) => ({
    label: `${each.name} (${unit})`, stroke: css(each.colour), width: 1.75, points: { show: false }, dash: each.dash,
    ...(each.bars ? { fill: css(each.colour), paths: uPlot.paths.bars({ size: [0.7, 40] }) } : {}),
  }));
  const options = {
    width: Math.max(200, box.clientWidth || 360), height: HEIGHT_PX, legend: { show: false }, cursor: { show: false },
    scales: { y: { range: (_, least, most) => [0, Math.max(1, (most ?? 1) * 1.1)] } },
    axes: [{ ...axis, values: (_, times) => times.map((s) => new Date(s * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })), space: 70 }, { ...axis, size: 44 }],
    series: [{}, ...lines],
  };
  const keys = series.map((each) => element("span", { class: `key ${each.colour.slice(2)}` }, element("i", {}), each.name));
  const holder = element("div", { class: "chart", role: "img", "aria-label": `${name}: ${summary(series, data, unit)}` });
  box.replaceChildren(element("h3", {}, name, element("small", {}, ` ${unit}`), ...(series.length > 1 ? keys : [])), data[0].length > 1 ? holder : element("p", { class: "empty" }, "Not enough yet."));
  if (data[0].length > 1) new uPlot(options, data, holder);
}

function summary(series, data, unit) {
  return series.map((each, index) => `${each.name} now ${Math.round(data[index + 1].at(-1) ?? 0)} ${unit}`).join(", ");
}
