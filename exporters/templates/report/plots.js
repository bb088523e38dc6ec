
// Frequencies and coefficients along the lines through the domain.
function parts(count, from, to) {
  return Array.from({ length: count }, (_, i) => from + ((to - from) * i) / Math.max(1, count - 1));
}

// Places on line `l` for a number of points: the coordinate itself, or the part of the diagonal.
function across(l, count) {
  const line = DATA.lines[l];
  return line.axis === null ? parts(count, 0, 1) : parts(count, line.from[line.axis], line.to[line.axis]);
}

// Places on line `l` where the full model was looked at: between the samples of the fit, and on peaks.
function measured(l) {
  const line = DATA.lines[l];
  const [from, to] = line.axis === null ? [0, 1] : [line.from[line.axis], line.to[line.axis]];
  return Array.from(unpack(line.parts), (part) => from + (to - from) * part);
}

function lineChoice(onchange, start = 0) {
  if (DATA.lines.length < 2) return "";
  const label = choice("Along", DATA.lines.map((l) => l.label), onchange);
  label.querySelector("select").selectedIndex = start;
  return label;
}

// The line along which most entries vary: about its first axis an arm turns as a whole, and nothing does.
function liveliest() {
  const varies = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return high - low > 1e-6 * Math.max(Math.abs(low), Math.abs(high));
  };
  const entries = DATA.blocks.flatMap((block) => block.entries);
  const counts = DATA.lines.map((_, l) => entries.filter((entry) => varies(unpack(entry.reduced[l]))).length);
  return counts.indexOf(Math.max(...counts));
}

function legend(...entries) {
  return make("p", { class: "legend" }, ...entries.map(([kind, text]) => make("span", { class: kind }, text)));
}

function frequencyPlots(view) {
  const box = document.getElementById("frequency-plots");
  const { count, lines, maps, side } = DATA.frequencies;
  if (count === 0) {
    document.getElementById("no-frequencies").hidden = false;
    return;
  }
  const state = { line: 0, mode: 0, map: 0 };
  const tools = make("div", { class: "tools" }, lineChoice((i) => { state.line = i; render(); }));
  const figure = make("div");
  const mapTools = make("div", { class: "tools" });
  const mapFigure = make("div");
  box.append(tools, figure, mapTools, mapFigure);
  if (maps.length > 0) {
    const name = (k) => DATA.coordinates[k].name;
    mapTools.append(
      choice("Frequency", Array.from({ length: count }, (_, i) => String(i + 1)), (i) => { state.mode = i; render(); }),
      choice("over", maps.map((m) => `${name(m.axes[0])} and ${name(m.axes[1])}`), (i) => { state.map = i; render(); }),
    );
  }
  function render() {
    const { full, reduced } = lines[state.line];
    const hasFull = DATA.skeleton !== null;
    const series = [];
    for (let mode = 0; mode < count; mode++) {
      const values = unpack(reduced[mode]);
      const colour = CURVES[mode % CURVES.length];
      series.push({ x: across(state.line, values.length), y: values, colour });
      const exact = unpack(full[mode]);
      if (hasFull) series.push({ x: measured(state.line), y: exact, colour, dots: true });
    }
    const width = Math.min(box.clientWidth, 1000);
    const label = `Natural frequencies along ${DATA.lines[state.line].label}, ${count} of the reduced model` + (hasFull ? " and of the full model" : "");
    figure.replaceChildren(
      legend(["line any", "reduced model"], ...(hasFull ? [["dot any", "lowest of the full model, actuators and loaded points held"]] : [])),
      lineChart({ width, height: width < 500 ? 260 : 340, x: DATA.lines[state.line].label, y: "frequency [Hz]", series, label }),
      hasFull ? unrepresented(state.line) : "",
    );
    if (maps.length > 0) {
      const map = maps[state.map];
      const [a, b] = map.axes;
      const text = coordinateLabel;
      const ends = (k) => [DATA.domain.lower[k], DATA.domain.upper[k]];
      mapFigure.replaceChildren(heatMap({
        width: Math.min(box.clientWidth, 520), x: text(a), y: text(b), xs: ends(a), ys: ends(b), side, unit: "Hz",
        values: unpack(map.values[state.mode]), mark: [view.point[a], view.point[b]],
        label: `Frequency ${state.mode + 1} of the reduced model over ${text(a)} and ${text(b)}`,
      }));
    }
  }
  render();
  onResize(render);
  if (maps.length > 0) view.onMove(render);
}

// Says where a low frequency of the full model has no mode within 5 %.
function unrepresented(l) {
  const { full, reduced } = DATA.frequencies.lines[l];
  const [exact, kept] = [full.map(unpack), reduced.map(unpack)];
  const [count, finer] = [exact[0].length, kept[0].length];
  const parts = unpack(DATA.lines[l].parts);
  const places = measured(l).filter((_, i) => {
    const at = Math.round(parts[i] * (finer - 1));
    return exact.some((f) => Number.isFinite(f[i]) && !kept.some((k) => Math.abs(k[at] / f[i] - 1) < 0.05));
  });
  if (places.length === 0) return "";
  const text = `At ${places.length} of ${count} places, from ${pretty(places[0])} to ${pretty(places[places.length - 1])}, a low frequency of the full model has no mode within 5 %: keep more internal modes if it matters there.`;
  return make("p", { class: "missing" }, text);
}

function coefficientPlots() {
  const box = document.getElementById("coefficient-plots");
  if (!box) return;
  const state = { line: liveliest() };
  const hasFull = DATA.skeleton !== null;
  const tools = make("div", { class: "tools" }, lineChoice((i) => { state.line = i; render(); }, state.line));
  const body = make("div");
  box.append(tools, body);
  function render() {
    const width = box.clientWidth;
    const columns = Math.max(width < 500 ? 2 : 3, Math.floor(width / 300));
    const small = Math.floor((width - 12 * (columns - 1)) / columns);
    body.replaceChildren(legend(["line", "reduced model"], ...(hasFull ? [["dot", "full model"]] : [])), ...DATA.blocks.map((block) => blockFigure(block, state.line, small, width)));
  }
  render();
  onResize(render);
}

function blockFigure(block, l, small, width) {
  const section = make("section", { class: "block", "data-block": block.name }, make("h3", {}, block.title));
  const constant = block.constant > 0 ? `${block.constant} more ${block.constant === 1 ? "is" : "are"} constant.` : "";
  if (block.entries.length === 0) {
    section.append(make("p", { class: "note" }, block.constant > 0 ? `No entry varies with the configuration; ${block.constant} are constant.` : "Zero everywhere."));
    return section;
  }
  const shown = block.entries.length < block.varying ? `The ${block.entries.length} entries that vary most, of ${block.varying}.` : block.varying === 1 ? "The only entry that varies." : `All ${block.varying} entries that vary.`;
  section.append(make("p", { class: "note" }, `${shown} ${constant}`));
  const grid = make("div", { class: "small-charts", style: `grid-template-columns:repeat(auto-fill, ${small}px)` });
  for (const entry of block.entries) {
    const reduced = unpack(entry.reduced[l]);
    const full = unpack(entry.full[l]);
    const series = [];
    if (full.length > 0) series.push({ x: measured(l), y: full, colour: "curve-2", dots: true });
    series.push({ x: across(l, reduced.length), y: reduced, colour: "curve-1" });
    const title = entry.unit === "1" ? entry.label : `${entry.label} [${entry.unit}]`;
    grid.append(make("figure", {}, make("figcaption", {}, title), lineChart({ width: small, height: 140, series, label: `${title} along ${DATA.lines[l].label}` })));
  }
  section.append(grid);
  const packed = DATA.lines[l].errors[block.name];
  if (packed) {
    const errors = unpack(packed);
    const tolerance = DATA.tolerances[block.name];
    section.append(make("figure", { class: "error" }, make("figcaption", {}, "relative error of the whole block, all entries"), lineChart({
      width, height: 170, x: DATA.lines[l].label, logarithmic: true, label: `Relative error of ${block.title} along ${DATA.lines[l].label}`,
      series: [{ x: measured(l), y: errors, colour: "curve-2" }],
      references: tolerance ? [[`tolerance (${DATA.criterion})`, tolerance]] : [],
    })));
  }
  return section;
}

const resized = [];
function onResize(render) {
  resized.push(render);
}
