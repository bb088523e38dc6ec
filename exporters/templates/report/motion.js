
// Outputs of the reduced model from its own functions, and shapes of its modes.
function findBox(theta) {
  let node = DATA.tree[0];
  while (node && node.node === "split") node = DATA.tree[theta[node.axis] < node.at ? node.low : node.high];
  return node && node.node === "leaf" ? node.index : -1;
}

function insideDomain(theta) {
  return DATA.domain.inequalities.every((i) => i.coefficients.reduce((sum, c, k) => sum + c * theta[k], 0) <= i.bound + 1e-12);
}

// Per output: position and, per mode, the displacement of a unit amplitude; null without a model.
function reducedOutputs(theta) {
  const index = insideDomain(theta) ? findBox(theta) : -1;
  if (index < 0) return null;
  const { components, functions, tables, constants } = DATA.motion;
  const table = tables[index];
  table.numbers ??= unpack(table.values);
  const box = DATA.boxes[index];
  const most = Math.max(0, ...table.terms.flat());
  const wave = (d, phi) => (d % 2 ? Math.cos(((d + 1) / 2) * phi) : Math.sin((d / 2) * phi));
  const basis = theta.map((t, k) => {
    // Waves of outputs are those of half the angle.
    if (functions[k] === "waves") return Array.from({ length: most + 1 }, (_, d) => (d ? wave(d, t / 2) : 1));
    const x = (2 * t - box.lower[k] - box.upper[k]) / (box.upper[k] - box.lower[k]);
    const values = [1, x];
    for (let d = 2; d <= most; d++) values.push(2 * x * values[d - 1] - values[d - 2]);
    return values;
  });
  const out = DATA.outputs.map(() => ({ position: [0, 0, 0], amplitude: DATA.coordinates.map(() => [0, 0, 0]) }));
  const put = (c, value) => {
    if (c.quantity === "position") out[c.output].position[c.axis] = value;
    else out[c.output].amplitude[c.coordinate][c.row] = value;
  };
  const sums = new Float64Array(components.length);
  table.terms.forEach((degrees, row) => {
    const weight = degrees.reduce((w, d, k) => w * basis[k][d], 1);
    for (let c = 0; c < sums.length; c++) sums[c] += weight * table.numbers[row * sums.length + c];
  });
  components.forEach((c, i) => put(c, sums[i]));
  constants.forEach((c) => put(c.component, c.value));
  return out;
}

// Shape of elastic mode `mode` at the model's coordinates: six values per node, body axes. Changes
// along the coordinates are added up; on the lines through the base point this is exact.
function modeShape(mode, point) {
  const { shapes, skeleton } = DATA;
  const length = 6 * skeleton.nodes.length;
  shapes.unpacked ??= {
    base: unpack(shapes.base),
    axes: shapes.axes.map((axis) => axis.shapes.map(unpack)),
  };
  const start = mode * length;
  const base = shapes.unpacked.base.subarray(start, start + length);
  const out = Float64Array.from(base);
  shapes.axes.forEach((axis, k) => {
    const last = axis.places.length - 1;
    if (last < 1) return;
    let i = 0;
    while (i < last - 1 && axis.places[i + 1] < point[k]) i++;
    const part = Math.min(1, Math.max(0, (point[k] - axis.places[i]) / (axis.places[i + 1] - axis.places[i])));
    const [low, high] = [shapes.unpacked.axes[k][i], shapes.unpacked.axes[k][i + 1]];
    for (let c = 0; c < length; c++) out[c] += (1 - part) * low[start + c] + part * high[start + c] - base[c];
  });
  return out;
}

// θ of the mechanism for the model's coordinates; they differ for a model along a path.
function mechanismTheta(point) {
  if (!DATA.path || DATA.path.length === 0) return point;
  const at = Math.min(1, Math.max(0, point[0])) * (DATA.path.length - 1);
  const i = Math.min(DATA.path.length - 2, Math.floor(at));
  return DATA.path[i].map((v, k) => v + (at - i) * (DATA.path[i + 1][k] - v));
}
