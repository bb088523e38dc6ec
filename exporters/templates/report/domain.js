
// The coarse map of the domain that was made before the reduction: what cannot be reached, and how near singularities are.
function domainMap(view) {
  const box = document.getElementById("domain-map");
  if (!box || !DATA.scan) return;
  const { grid, count } = DATA.scan;
  const s = DATA.rigid;
  const theta = unpack(DATA.scan.theta);
  const at = (i, k) => theta[i * s + k];
  const measures = DATA.scan.measures.map(({ text, values, logarithmic }) => ({ text, logarithmic, values: unpack(values) }))
    .filter((m) => m.values.some(Number.isFinite));
  const places = Array.from({ length: count }, (_, i) => i).filter((i) => DATA.scan.inside[i]);
  const failed = new Set(places.filter((i) => DATA.scan.failures[i] !== undefined));
  const planes = [];
  for (let a = 0; a < s; a++) for (let b = a + 1; b < s; b++) planes.push([a, b]);
  const state = { measure: 0, plane: 0 };
  const tools = make("div", { class: "tools" });
  if (measures.length > 1) tools.append(choice("Shown:", measures.map((m) => m.text), (i) => { state.measure = i; render(); }));
  if (planes.length > 1) tools.append(choice("Plane:", planes.map(([a, b]) => `${DATA.coordinates[a].name} and ${DATA.coordinates[b].name}`), (i) => { state.plane = i; render(); }));
  const figure = make("div");
  box.append(tools, figure);
  const map = { at, places, failed, grid };
  function render() {
    const measure = measures[state.measure];
    const width = Math.min(box.clientWidth, s === 1 ? 1000 : 560);
    figure.replaceChildren(s === 1 ? domainLine(map, measure, width) : domainPlane(map, measure, planes[state.plane], view.point, width));
  }
  render();
  onResize(render);
  if (s > 2 && grid.length > 0) view.onMove(render);
}

// One coordinate: a curve, and tiles where nothing can be reached.
function domainLine({ at, places, failed }, measure, width) {
  const known = places.filter((i) => failed.has(i) || Number.isFinite(measure.values[i]));
  const x = known.map((i) => at(i, 0));
  const y = known.map((i) => measure.values[i]);
  const series = [{ x, y, colour: "curve-1" }, { x, y, colour: "curve-1", dots: true }];
  const lost = known.filter((i) => failed.has(i));
  if (lost.length > 0) series.push({ x: lost.map((i) => at(i, 0)), y: lost.map(() => 0), colour: "bad", dots: true });
  return lineChart({ width, height: 240, x: coordinateLabel(0), series, logarithmic: measure.logarithmic, label: `${measure.text} along ${DATA.coordinates[0].name}` });
}

// Several coordinates: of a grid the cells in the plane through the sliders' configuration, otherwise all places, seen along the others.
function domainPlane({ at, places, failed, grid }, measure, [a, b], point, width) {
  const inner = width - 70;
  const [left, top] = [56, 8];
  const high = Math.min(inner, 420);
  const ranges = [a, b].map((k) => [DATA.domain.lower[k], DATA.domain.upper[k]]);
  const half = [a, b].map((k, i) => (grid.length > 0 ? (ranges[i][1] - ranges[i][0]) / (grid[k] - 1) / 2 : 0));
  // Cells at the ends reach beyond them.
  const [xs, ys] = ranges.map(([low, up], i) => [low - half[i], up + half[i]]);
  const px = (v) => left + (inner * (v - xs[0])) / (xs[1] - xs[0]);
  const py = (v) => top + high - (high * (v - ys[0])) / (ys[1] - ys[0]);
  const near = (i) => point.every((v, k) => {
    if (k === a || k === b) return true;
    const step = (DATA.domain.upper[k] - DATA.domain.lower[k]) / (grid[k] - 1);
    const cell = Math.round((v - DATA.domain.lower[k]) / step);
    return Math.abs(at(i, k) - DATA.domain.lower[k] - cell * step) < step / 2;
  });
  const is_dense = grid.length > 0 && places.every((i) => failed.has(i) || Number.isFinite(measure.values[i]));
  const shown = is_dense ? places.filter(near) : places.filter((i) => failed.has(i) || Number.isFinite(measure.values[i]));
  const scale = measure.logarithmic ? Math.log10 : (v) => v;
  const values = places.map((i) => measure.values[i]).filter(Number.isFinite);
  const [low, up] = [Math.min(...values), Math.max(...values)];
  const part = (v) => (up > low ? (scale(v) - scale(low)) / (scale(up) - scale(low)) : 0.5);
  const label = `${measure.text} in the plane of ${coordinateLabel(a)} and ${coordinateLabel(b)}, ${shown.length} places, ${shown.filter((i) => failed.has(i)).length} of them cannot be reached or reduced`;
  const svg = make("svg", { class: "chart", width, height: high + 92, viewBox: `0 0 ${width} ${high + 92}`, role: "img", "aria-label": label });
  svg.append(make("rect", { class: "empty", x: left, y: top, width: inner, height: high }));
  for (const i of shown) {
    const [x, y] = [at(i, a), at(i, b)];
    const [state, fill] = failed.has(i) ? ["lost", {}] : ["", { fill: shade(part(measure.values[i])) }];
    const mark = is_dense
      ? make("rect", { class: `tile ${state}`, x: px(x - half[0]), y: py(y + half[1]), width: px(x + half[0]) - px(x - half[0]), height: py(y - half[1]) - py(y + half[1]), ...fill })
      : make("circle", { class: `tile ${state}`, cx: px(x), cy: py(y), r: 6, ...fill });
    const what = failed.has(i) ? DATA.scan.failures[i] : `${measure.text}: ${pretty(measure.values[i])}`;
    mark.append(make("title", {}, `θ = [${point.map((_, k) => pretty(at(i, k), 4)).join(", ")}]: ${what}`));
    svg.append(mark);
  }
  for (const [v, t] of ticks(ranges[0], 5)) svg.append(make("text", { x: px(v), y: top + high + 15, "text-anchor": "middle" }, t));
  for (const [v, t] of ticks(ranges[1], 5)) svg.append(make("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, t));
  svg.append(make("text", { x: left + inner / 2, y: top + high + 32, "text-anchor": "middle" }, coordinateLabel(a)));
  svg.append(make("text", { transform: `translate(12 ${top + high / 2}) rotate(-90)`, "text-anchor": "middle" }, coordinateLabel(b)));
  shadeBar(svg, left, top + high + 44, Math.min(300, inner), [pretty(low), pretty(up)]);
  return svg;
}
