
// Boxes of the configuration space, coloured by error or degree.
function boxPlots(view) {
  const box = document.getElementById("box-plots");
  if (!box || DATA.boxes.length === 0) return;
  const s = DATA.rigid;
  const blocks = [...new Set(DATA.boxes.flatMap((b) => Object.keys(b.errors)))];
  const measures = [
    ...blocks.map((name) => ({ text: `error of ${name}`, of: (b) => b.errors[name]?.[DATA.criterion === "max" ? 1 : 0] ?? NaN, show: percent, logarithmic: true })),
    { text: "degree of the polynomials", of: (b) => b.degree, show: (v) => pretty(v) },
    { text: "stored numbers", of: (b) => b.numbers, show: (v) => pretty(v) },
  ];
  // One box has one colour: what it says fits into a table.
  if (DATA.boxes.length === 1) {
    const only = DATA.boxes[0];
    const row = (m) => make("tr", {}, make("td", {}, m.text), make("td", {}, m.show(m.of(only))));
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "the only box, all of the range"), make("th", { scope: "col" }, "")));
    box.append(make("div", { class: "scroll" }, make("table", {}, head, make("tbody", {}, ...measures.map(row)))));
    return;
  }
  const state = { measure: 0, plane: 0 };
  const planes = [];
  for (let a = 0; a < s; a++) for (let b = a + 1; b < s; b++) planes.push([a, b]);
  const tools = make("div", { class: "tools" }, choice("Colour:", measures.map((m) => m.text), (i) => { state.measure = i; render(); }));
  const name = (k) => DATA.coordinates[k].name;
  if (planes.length > 1) tools.append(choice("Plane:", planes.map(([a, b]) => `${name(a)} and ${name(b)}`), (i) => { state.plane = i; render(); }));
  const figure = make("div");
  box.append(tools, figure);
  function render() {
    const measure = measures[state.measure];
    const width = Math.min(box.clientWidth, s === 1 ? 1000 : 560);
    figure.replaceChildren(s === 1 ? boxStrip(measure, width) : boxSlice(measure, planes[state.plane], view.point, width));
  }
  render();
  onResize(render);
  if (s > 1) view.onMove(render);
}

function shadeOf(measure) {
  const values = DATA.boxes.map(measure.of).filter((v) => Number.isFinite(v) && (!measure.logarithmic || v > 0));
  const place = measure.logarithmic ? Math.log : (v) => v;
  const [low, high] = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [0, 0];
  const part = (b) => {
    const v = measure.of(b);
    return high > low && Number.isFinite(v) && (!measure.logarithmic || v > 0) ? (place(v) - place(low)) / (place(high) - place(low)) : 0.5;
  };
  return { part, ends: values.length > 0 ? [measure.show(low), measure.show(high)] : ["", ""] };
}

function tile(svg, b, measure, part, [x, y, w, h]) {
  const value = measure.show(measure.of(b));
  const rect = make("rect", { class: "tile", x, y, width: Math.max(0, w), height: Math.max(0, h), fill: shade(part) });
  rect.append(make("title", {}, `${measure.text}: ${value}; degree ${b.degree}; ${b.reached ? "tolerance reached" : "tolerance not reached"}`));
  svg.append(rect);
  if (w > 7 * value.length + 6 && h > 18) svg.append(make("text", { x: x + w / 2, y: y + h / 2 + 4, "text-anchor": "middle", style: `fill:${part > 0.5 ? "#111" : "#fff"}` }, value));
}

// One coordinate: boxes side by side, as high as their degree.
function boxStrip(measure, width) {
  const height = 230;
  const [left, right, top, bottom] = [40, width - 12, 10, height - 78];
  const { part, ends } = shadeOf(measure);
  const xs = [DATA.domain.lower[0], DATA.domain.upper[0]];
  const most = Math.max(1, ...DATA.boxes.map((b) => b.degree));
  const px = (v) => left + ((right - left) * (v - xs[0])) / (xs[1] - xs[0]);
  const py = (v) => bottom - ((bottom - top) * v) / most;
  const svg = make("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${DATA.boxes.length} boxes along ${DATA.coordinates[0].name}, coloured by ${measure.text}` });
  for (const b of DATA.boxes) tile(svg, b, measure, part(b), [px(b.lower[0]), py(b.degree), px(b.upper[0]) - px(b.lower[0]), bottom - py(b.degree)]);
  for (const [v, t] of ticks(xs, Math.floor(width / 90))) svg.append(make("text", { x: px(v), y: bottom + 15, "text-anchor": "middle" }, t));
  for (const [v, t] of ticks([0, most], 4)) svg.append(make("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, t));
  svg.append(make("text", { transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, "degree"));
  svg.append(make("text", { x: (left + right) / 2, y: bottom + 32, "text-anchor": "middle" }, coordinateLabel(0)));
  shadeBar(svg, left, height - 34, Math.min(300, right - left), ends);
  return svg;
}

// Several coordinates: the boxes that a plane through the sliders' configuration cuts.
function boxSlice(measure, [a, b], point, width) {
  const inner = width - 70;
  const [left, top] = [56, 8];
  const { part, ends } = shadeOf(measure);
  const xs = [DATA.domain.lower[a], DATA.domain.upper[a]];
  const ys = [DATA.domain.lower[b], DATA.domain.upper[b]];
  const high = Math.min(inner, 420);
  const px = (v) => left + (inner * (v - xs[0])) / (xs[1] - xs[0]);
  const py = (v) => top + high - (high * (v - ys[0])) / (ys[1] - ys[0]);
  const text = coordinateLabel;
  const cut = DATA.boxes.filter((box) => point.every((v, k) => k === a || k === b || (v >= box.lower[k] && v <= box.upper[k])));
  const svg = make("svg", { class: "chart", width, height: high + 92, viewBox: `0 0 ${width} ${high + 92}`, role: "img", "aria-label": `${cut.length} boxes in the plane of ${text(a)} and ${text(b)}, coloured by ${measure.text}` });
  svg.append(make("rect", { class: "empty", x: left, y: top, width: inner, height: high }));
  for (const box of cut) tile(svg, box, measure, part(box), [px(box.lower[a]), py(box.upper[b]), px(box.upper[a]) - px(box.lower[a]), py(box.lower[b]) - py(box.upper[b])]);
  for (const [v, t] of ticks(xs, 5)) svg.append(make("text", { x: px(v), y: top + high + 15, "text-anchor": "middle" }, t));
  for (const [v, t] of ticks(ys, 5)) svg.append(make("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, t));
  svg.append(make("text", { x: left + inner / 2, y: top + high + 32, "text-anchor": "middle" }, text(a)));
  svg.append(make("text", { transform: `translate(12 ${top + high / 2}) rotate(-90)`, "text-anchor": "middle" }, text(b)));
  svg.append(make("circle", { class: "mark", cx: px(point[a]), cy: py(point[b]), r: 5 }));
  shadeBar(svg, left, top + high + 44, Math.min(300, inner), ends);
  return svg;
}

const view = viewer();
frequencyPlots(view);
coefficientPlots();
domainMap(view);
boxPlots(view);
historyPlots();
let known = document.body.clientWidth;
window.addEventListener("resize", () => {
  if (document.body.clientWidth === known) return;
  known = document.body.clientWidth;
  resized.forEach((render) => render());
});
