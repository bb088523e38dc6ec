
// Loop closure of the undeformed mechanism: Gauss-Newton on the frames of all bodies. Frames are
// { r: rotation, row-major, p: position }; the ground is body null.
const IDENTITY = { r: [1, 0, 0, 0, 1, 0, 0, 0, 1], p: [0, 0, 0] };

function rotate(r, v) {
  return [r[0] * v[0] + r[1] * v[1] + r[2] * v[2], r[3] * v[0] + r[4] * v[1] + r[5] * v[2], r[6] * v[0] + r[7] * v[1] + r[8] * v[2]];
}
function rotateBack(r, v) {
  return [r[0] * v[0] + r[3] * v[1] + r[6] * v[2], r[1] * v[0] + r[4] * v[1] + r[7] * v[2], r[2] * v[0] + r[5] * v[1] + r[8] * v[2]];
}
function product(a, b) {
  const out = new Array(9);
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  return out;
}
function transposed(a) {
  return [a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]];
}
function add(a, b, factor = 1) {
  return [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]];
}
function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
function compose(outer, inner) {
  return { r: product(outer.r, inner.r), p: add(outer.p, rotate(outer.r, inner.p)) };
}
function turn(v) {
  const angle = Math.hypot(...v);
  const a = angle < 1e-6 ? 1 : Math.sin(angle) / angle;
  const b = angle < 1e-6 ? 0.5 : (1 - Math.cos(angle)) / (angle * angle);
  const [x, y, z] = v;
  return [1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y, b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x, b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)];
}

// What keeps a joint closed, from the second frame seen from the first; lengths over `length`.
function jointResidual(kind, d, length) {
  const p = d.p.map((v) => v / length);
  const tilt = [d.r[2], d.r[5]];
  const spin = [(d.r[7] - d.r[5]) / 2, (d.r[2] - d.r[6]) / 2, (d.r[3] - d.r[1]) / 2];
  switch (kind) {
    case "fixed": return [...p, ...spin];
    case "hinge": return [...p, ...tilt];
    case "prismatic": return [p[0], p[1], ...spin];
    case "cylindrical": return [p[0], p[1], ...tilt];
    case "universal": return [...p, d.r[6]];
    case "spherical": return p;
    case "planar": return [p[2], ...tilt];
    case "translation": return spin;
    default: throw new Error(`the drawing knows no joint "${kind}"`);
  }
}

function driveValue(kind, d) {
  switch (kind) {
    case "angle": return Math.atan2(d.r[3], d.r[0]);
    case "shift": return d.p[2];
    case "distance": return Math.hypot(...d.p);
    default: throw new Error(`the drawing knows no drive "${kind}"`);
  }
}

class Kinematics {
  constructor(skeleton) {
    this.skeleton = skeleton;
    this.home = skeleton.bodies.map((b) => ({ r: b.rotation, p: b.position }));
    // Nodes alone may all lie in one point, as where joints follow each other there.
    const ends = [...skeleton.joints, ...skeleton.drives, ...skeleton.springs].flatMap((pair) => [pair.a, pair.b]);
    const points = [...skeleton.nodes, ...skeleton.outputs, ...ends].map((f) => (f.body === null ? f.position : add(this.home[f.body].p, rotate(this.home[f.body].r, f.position))));
    const travel = skeleton.drives.map((d, k) => (d.kind === "angle" ? 0 : DATA.domain.upper[k] - DATA.domain.lower[k] || 0));
    const spread = [0, 1, 2].map((k) => Math.max(...points.map((p) => p[k])) - Math.min(...points.map((p) => p[k])));
    this.length = Math.max(...spread, ...travel, 1e-6);
    const frame = (f) => ({ body: f.body, r: f.rotation, p: f.position });
    this.pairs = [
      ...skeleton.joints.map((j) => ({ joint: j.kind, a: frame(j.a), b: frame(j.b) })),
      ...skeleton.drives.map((d, k) => ({ drive: d.kind, coordinate: k, a: frame(d.a), b: frame(d.b) })),
    ];
    for (const pair of this.pairs) if (pair.drive) pair.zero = driveValue(pair.drive, this.relative(pair, this.home));
    this.frames = this.home;
    this.theta = [...skeleton.home];
  }

  place(attached, frames) {
    return compose(attached.body === null ? IDENTITY : frames[attached.body], attached);
  }

  relative(pair, frames) {
    const a = this.place(pair.a, frames);
    const b = this.place(pair.b, frames);
    return { r: product(transposed(a.r), b.r), p: rotateBack(a.r, add(b.p, a.p, -1)) };
  }

  residual(pair, frames, theta) {
    const d = this.relative(pair, frames);
    if (pair.joint) return jointResidual(pair.joint, d, this.length);
    const k = pair.coordinate;
    const gap = driveValue(pair.drive, d) - pair.zero - (theta[k] - this.skeleton.home[k]);
    return [pair.drive === "angle" ? gap - 2 * Math.PI * Math.round(gap / (2 * Math.PI)) : gap / this.length];
  }

  moved(frame, dof, step) {
    const v = [0, 0, 0];
    v[dof % 3] = step;
    return dof < 3 ? { r: frame.r, p: add(frame.p, rotate(frame.r, v), this.length) } : { r: product(frame.r, turn(v)), p: frame.p };
  }

  // One correction; returns the size of the residual before it.
  correct(frames, theta) {
    const n = 6 * frames.length;
    const normal = new Float64Array(n * n);
    const right = new Float64Array(n);
    let size = 0;
    for (const pair of this.pairs) {
      const value = this.residual(pair, frames, theta);
      size = Math.max(size, ...value.map(Math.abs));
      const columns = [];
      for (const body of [pair.a.body, pair.b.body]) {
        if (body === null) continue;
        for (let dof = 0; dof < 6; dof++) {
          const kept = frames[body];
          frames[body] = this.moved(kept, dof, 1e-6);
          const next = this.residual(pair, frames, theta);
          frames[body] = kept;
          columns.push([6 * body + dof, next.map((v, i) => (v - value[i]) / 1e-6)]);
        }
      }
      for (const [i, a] of columns) {
        for (let r = 0; r < value.length; r++) right[i] -= a[r] * value[r];
        for (const [j, b] of columns) for (let r = 0; r < value.length; r++) normal[i * n + j] += a[r] * b[r];
      }
    }
    for (let i = 0; i < n; i++) normal[i * n + i] += 1e-9;
    solveDefinite(normal, right, n);
    frames.forEach((frame, body) => {
      const step = right.subarray(6 * body, 6 * body + 6);
      frames[body] = {
        r: product(frame.r, turn([step[3], step[4], step[5]])),
        p: add(frame.p, rotate(frame.r, [step[0], step[1], step[2]]), this.length),
      };
    });
    return size;
  }

  // Moves in small steps from where it is; false where the loop does not close.
  follow(target, finer) {
    const widest = this.skeleton.drives.map((d) => (d.kind === "angle" ? 0.15 : 0.1 * this.length) / finer);
    const from = [...this.theta];
    const steps = Math.max(1, ...target.map((t, k) => Math.ceil(Math.abs(t - from[k]) / widest[k])));
    let frames = [...this.frames];
    for (let i = 1; i <= steps; i++) {
      const theta = target.map((t, k) => from[k] + ((t - from[k]) * i) / steps);
      let size = Infinity;
      for (let round = 0; round < 12 && size > 1e-9; round++) size = this.correct(frames, theta);
      if (!(size < 1e-6)) return false;
    }
    this.frames = frames;
    this.theta = [...target];
    return true;
  }

  moveTo(target) {
    if (this.follow(target, 1)) return true;
    this.frames = this.home;
    this.theta = [...this.skeleton.home];
    return this.follow(target, 4);
  }
}

// Cholesky factorisation and solution in place.
function solveDefinite(a, x, n) {
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let sum = a[i * n + j];
      for (let k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i === j ? Math.sqrt(Math.max(sum, 1e-300)) : sum / a[j * n + j];
    }
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i] -= a[i * n + k] * x[k];
    x[i] /= a[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i] -= a[k * n + i] * x[k];
    x[i] /= a[i * n + i];
  }
}
