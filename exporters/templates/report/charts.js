
// Line charts as SVG, drawn for the width they have.
const CURVES = ["curve-1", "curve-2", "curve-3", "curve-4", "curve-5", "curve-6"];

// `least` is the least span in parts of the largest value: less would show errors within tolerance as if they were shapes.
function range(values, logarithmic, least = 1e-9) {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    if (!Number.isFinite(v) || (logarithmic && v <= 0)) continue;
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  if (low > high) return logarithmic ? [1e-3, 1] : [0, 1];
  if (logarithmic) {
    // At most eight decades; what is smaller lies on the lower end.
    const last = Math.ceil(Math.log10(high));
    return [10 ** Math.min(last - 1, Math.max(last - 8, Math.floor(Math.log10(low)))), 10 ** last];
  }
  const large = Math.max(Math.abs(low), Math.abs(high));
  if (high - low <= 1e-9 * large) return [low - (large / 2 || 0.5), high + (large / 2 || 0.5)];
  const missing = Math.max(0, least * large - (high - low)) / 2;
  [low, high] = [low - missing, high + missing];
  return [low, high];
}

function ticks([low, high], count, logarithmic) {
  const out = [];
  if (logarithmic) {
    const [first, last] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
    const step = Math.max(1, Math.ceil((last - first) / count));
    for (let e = first; e <= last; e += step) out.push([10 ** e, "10" + superscript(e)]);
    return out;
  }
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => rough <= m * power * 1.000001) ?? 10);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const large = Math.max(Math.abs(low), Math.abs(high));
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
    const value = i * step;
    const text = large >= 1e5 || large < 1e-3 ? (i === 0 ? "0" : pretty(value, 3)) : value.toFixed(Math.min(digits, 8));
    out.push([value, text.replace(/-/g, "\u2212")]);
  }
  return out.length < 2 && count < 30 ? ticks([low, high], 2 * count, false) : out;
}

function superscript(exponent) {
  return String(exponent).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));
}

// chart: { width, height, x: label, y: label, logarithmic, series: [{ x, y, colour, dots, label }], references: [[name, value]] }
function lineChart(chart) {
  const { width, height, series, logarithmic = false, references = [] } = chart;
  const xs = range(series.flatMap((s) => Array.from(s.x)));
  let ys = range([...series.flatMap((s) => Array.from(s.y)), ...references.map((r) => r[1])], logarithmic, 0.02);
  if (!logarithmic) ys = [ys[0] - 0.06 * (ys[1] - ys[0]), ys[1] + 0.06 * (ys[1] - ys[0])];
  const up = ticks(ys, height < 180 ? 4 : 5, logarithmic);
  const left = 16 + (chart.y ? 16 : 0) + 6.6 * Math.max(2, ...up.map((t) => t[1].length));
  const [right, top, bottom] = [width - 12, 8, height - (chart.x ? 38 : 22)];
  const place = logarithmic ? (v) => Math.log10(Math.max(v, ys[0])) : (v) => v;
  const px = (v) => left + ((right - left) * (v - xs[0])) / (xs[1] - xs[0]);
  const py = (v) => bottom - ((bottom - top) * (place(v) - place(ys[0]))) / (place(ys[1]) - place(ys[0]));
  const svg = make("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": chart.label });
  for (const [value, text] of ticks(xs, Math.max(2, Math.floor((right - left) / 75)), false)) {
    svg.append(make("path", { class: "rule", d: `M${px(value)} ${top}V${bottom}` }), make("text", { x: px(value), y: bottom + 15, "text-anchor": "middle" }, text));
  }
  for (const [value, text] of up) {
    svg.append(make("path", { class: "rule", d: `M${left} ${py(value)}H${right}` }), make("text", { x: left - 6, y: py(value) + 4, "text-anchor": "end" }, text));
  }
  svg.append(make("path", { class: "frame", d: `M${left} ${top}V${bottom}H${right}` }));
  if (chart.x) svg.append(make("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, chart.x));
  if (chart.y) svg.append(make("text", { transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, chart.y));
  for (const [name, value] of references) {
    svg.append(make("path", { class: "reference", d: `M${left} ${py(value)}H${right}` }), make("text", { x: right - 3, y: py(value) - 4, "text-anchor": "end" }, name));
  }
  const visible = (v) => Number.isFinite(v) && (!logarithmic || v > 0);
  for (const s of series.filter((s) => s.dots)) {
    const group = make("g", { class: "dots", style: `stroke:var(--${s.colour})` });
    const stride = Math.ceil((7 * s.x.length) / (right - left));
    // Where dots are too many to be told apart, the highest and the lowest stay.
    const ends = [Math.max, Math.min].map((end) => s.y.indexOf(end(...s.y.filter(visible))));
    for (let i = 0; i < s.x.length; i++) if (visible(s.y[i]) && (i % stride === 0 || ends.includes(i))) group.append(make("circle", { cx: px(s.x[i]).toFixed(1), cy: py(s.y[i]).toFixed(1), r: width < 300 ? 2.2 : 3 }));
    svg.append(group);
  }
  for (const s of series.filter((s) => !s.dots)) {
    let d = "";
    let pen = false;
    for (let i = 0; i < s.x.length; i++) {
      const shown = visible(s.y[i]);
      if (shown) d += `${pen ? "L" : "M"}${px(s.x[i]).toFixed(1)} ${py(s.y[i]).toFixed(1)}`;
      pen = shown;
    }
    svg.append(make("path", { class: "curve", d, style: `stroke:var(--${s.colour})` }));
  }
  readout(svg, chart, { left, right, top, bottom, px, xs });
  return svg;
}

// A vertical line under the pointer, and the values there.
function readout(svg, chart, { left, right, top, bottom, px, xs }) {
  const line = make("path", { class: "cursor", visibility: "hidden" });
  const text = make("text", { class: "values", y: top + 12, visibility: "hidden" });
  svg.append(line, text);
  svg.addEventListener("pointermove", (e) => {
    const box = svg.getBoundingClientRect();
    const x = xs[0] + ((xs[1] - xs[0]) * ((e.clientX - box.left) * (chart.width / box.width) - left)) / (right - left);
    if (!(x >= xs[0] && x <= xs[1])) return;
    const values = chart.series.slice(0, 6).map((s) => {
      let best = 0;
      for (let i = 1; i < s.x.length; i++) if (Math.abs(s.x[i] - x) < Math.abs(s.x[best] - x)) best = i;
      return pretty(s.y[best]);
    });
    const half = px(x) > (left + right) / 2;
    line.setAttribute("d", `M${px(x)} ${top}V${bottom}`);
    text.setAttribute("x", px(x) + (half ? -6 : 6));
    text.setAttribute("text-anchor", half ? "end" : "start");
    text.textContent = `${pretty(x)}: ${[...new Set(values)].join(", ")}`;
    line.setAttribute("visibility", "visible");
    text.setAttribute("visibility", "visible");
  });
  svg.addEventListener("pointerleave", () => {
    line.setAttribute("visibility", "hidden");
    text.setAttribute("visibility", "hidden");
  });
}

// Values on a grid as colours, with a bar that says what they mean.
function heatMap({ width, x, y, xs, ys, unit, mark, label, ...grid }) {
  const { side, values } = finer(grid, 5);
  const inner = Math.min(width - 90, 420);
  const [left, top] = [52, 8];
  const [low, high] = range(values);
  const cell = inner / side;
  const svg = make("svg", { class: "chart", width, height: inner + 92, viewBox: `0 0 ${width} ${inner + 92}`, role: "img", "aria-label": label });
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < side; i++) {
      const v = values[j * side + i];
      if (!Number.isFinite(v)) continue;
      const tile = make("rect", { x: left + i * cell, y: top + inner - (j + 1) * cell, width: cell + 0.5, height: cell + 0.5, fill: shade((v - low) / (high - low || 1)) });
      tile.append(make("title", {}, `${pretty(v)} ${unit}`));
      svg.append(tile);
    }
  }
  const place = (v, [a, b]) => (inner * (v - a)) / (b - a);
  for (const [v, t] of ticks(xs, 4)) svg.append(make("text", { x: left + place(v, xs), y: top + inner + 15, "text-anchor": "middle" }, t));
  for (const [v, t] of ticks(ys, 4)) svg.append(make("text", { x: left - 6, y: top + inner - place(v, ys) + 4, "text-anchor": "end" }, t));
  svg.append(make("text", { x: left + inner / 2, y: top + inner + 32, "text-anchor": "middle" }, x));
  svg.append(make("text", { transform: `translate(12 ${top + inner / 2}) rotate(-90)`, "text-anchor": "middle" }, y));
  svg.append(make("circle", { class: "mark", cx: left + place(mark[0], xs), cy: top + inner - place(mark[1], ys), r: 5 }));
  shadeBar(svg, left, top + inner + 44, inner, [`${pretty(low)} ${unit}`, `${pretty(high)} ${unit}`]);
  return svg;
}

// A square grid of values with `factor` places for one, interpolated between them.
function finer({ side, values }, factor) {
  const next = factor * (side - 1) + 1;
  const out = new Float64Array(next * next);
  for (let j = 0; j < next; j++) {
    for (let i = 0; i < next; i++) {
      const [a, b] = [i, j].map((v) => Math.min(side - 2, Math.floor(v / factor)));
      const [p, q] = [i / factor - a, j / factor - b];
      const at = (m, n) => values[(b + n) * side + a + m];
      out[j * next + i] = (1 - q) * ((1 - p) * at(0, 0) + p * at(1, 0)) + q * ((1 - p) * at(0, 1) + p * at(1, 1));
    }
  }
  return { side: next, values: out };
}

// Dark blue to light yellow, of growing lightness.
function shade(part) {
  const stops = [[0, 32, 77], [66, 77, 108], [124, 123, 120], [188, 175, 111], [255, 234, 70]];
  const at = Math.min(1, Math.max(0, part)) * 4;
  const low = Math.min(3, Math.floor(at));
  return `rgb(${stops[low].map((c, k) => Math.round(c + (at - low) * (stops[low + 1][k] - c))).join(",")})`;
}

function shadeBar(svg, left, top, width, ends) {
  for (let i = 0; i < 40; i++) svg.append(make("rect", { x: left + (i * width) / 40, y: top, width: width / 40 + 0.5, height: 10, fill: shade(i / 39) }));
  svg.append(make("text", { x: left, y: top + 24 }, ends[0]), make("text", { x: left + width, y: top + 24, "text-anchor": "end" }, ends[1]));
}
