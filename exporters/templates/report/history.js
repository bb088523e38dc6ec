
// How the refinement went: errors, samples, boxes and degree, round by round.
function historyPlots() {
  const box = document.getElementById("history-plots");
  if (!box) return;
  const rounds = DATA.history;
  const x = rounds.map((_, i) => i + 1);
  const judged = DATA.criterion === "max" ? 1 : 0;
  const blocks = [...new Set(rounds.flatMap((r) => Object.keys(r.errors)))];
  const charts = [
    ...blocks.map((name) => ({
      title: `error of ${name}`,
      y: rounds.map((r) => r.errors[name]?.[judged] ?? NaN),
      logarithmic: true,
      references: DATA.tolerances[name] ? [["tolerance", DATA.tolerances[name]]] : [],
    })),
    { title: "samples used", y: rounds.map((r) => r.samples) },
    { title: "boxes tried", y: rounds.map((r) => r.boxes) },
    { title: "boxes finished", y: rounds.map((r) => r.finished) },
    { title: "largest degree tried", y: rounds.map((r) => r.degree) },
  ];
  const grid = make("div", { class: "small-charts" });
  box.append(grid);
  function render() {
    const width = box.clientWidth;
    const columns = Math.max(width < 500 ? 2 : 3, Math.floor(width / 300));
    const small = Math.floor((width - 12 * (columns - 1)) / columns);
    grid.style.gridTemplateColumns = `repeat(auto-fill, ${small}px)`;
    grid.replaceChildren(...charts.map(({ title, y, ...rest }) => {
      const series = [{ x, y, colour: "curve-1", dots: true }, { x, y, colour: "curve-1" }];
      return make("figure", {}, make("figcaption", {}, title), lineChart({ width: small, height: 140, series, label: `${title}, by round of the refinement`, ...rest }));
    }));
  }
  render();
  onResize(render);
}
