// Line and bar charts in the colours of the theme.
import { byTestId, css } from "./dom.js";
import { minute, zone } from "./units.js";
import { html, nothing, render } from "./vendor.js";

const { uPlot } = globalThis;
const HEIGHT_PX = 118;

/** series: [{name, colour, dash, bars}]; data: [seconds[], ...values[]] */
export function chart(testId, name, unit, series, data) {
  const box = byTestId(testId);
  const now = series.map((each, index) => `${each.name} now ${Math.round(data[index + 1].at(-1) ?? 0)} ${unit}`).join(", ");
  const keys = series.map((each) => html`<span class="key ${each.colour.slice(2)}"><i></i>${each.name}</span>`);
  const enough = data[0].length > 1;
  render(html`<h3>${name} <small>${unit} · ${zone()}</small>${series.length > 1 ? keys : nothing}</h3>
    ${enough ? html`<div class="chart" role="img" aria-label="${name}: ${now}"></div>` : html`<p class="empty">Not enough yet.</p>`}`, box);
  if (!enough) return;
  const holder = box.querySelector(".chart");
  holder.replaceChildren();
  new uPlot(options(series, box.clientWidth), data, holder);
}

function options(series, width) {
  const axis = { stroke: css("--quiet"), grid: { stroke: css("--line"), width: 1 }, ticks: { show: false }, font: `11px ${css("--sans")}` };
  const lines = series.map(({ colour, dash, bars }) => ({
    stroke: css(colour), dash, width: 1.75, points: { show: false }, ...(bars && { fill: css(colour), paths: uPlot.paths.bars({ size: [0.7, 40] }) }),
  }));
  return {
    width: Math.max(200, width || 360), height: HEIGHT_PX, legend: { show: false }, cursor: { show: false },
    scales: { y: { range: (_, least, most) => [0, Math.max(1, (most ?? 1) * 1.1)] } },
    axes: [{ ...axis, values: (_, times) => times.map((s) => minute(s * 1000)), space: 70, size: 26 }, { ...axis, size: 44 }],
    series: [{}, ...lines],
  };
}
