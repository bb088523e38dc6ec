
// The mechanism as lines, plates and points in space, and their picture on a canvas.
const BODY_COLOURS = ["body-1", "body-2", "body-3", "body-4", "body-5", "body-6"];

// What is drawn of each body, in its own axes: chains of beam nodes, or what a rigid body carries.
function bodyParts(skeleton) {
  const kinds = [...new Set(skeleton.bodies.map((b) => b.name.split(".").pop()))];
  const parts = skeleton.bodies.map((b) => ({
    colour: BODY_COLOURS[kinds.indexOf(b.name.split(".").pop()) % BODY_COLOURS.length],
    chains: [],
    points: [],
  }));
  for (const [a, b] of skeleton.beams) {
    const { chains } = parts[skeleton.nodes[a].body];
    const last = chains[chains.length - 1];
    if (last && last[last.length - 1] === a) last.push(b);
    else chains.push([a, b]);
  }
  const attach = (f) => {
    if (f.body === null || parts[f.body].chains.length > 0) return;
    const { points } = parts[f.body];
    const near = (p) => Math.hypot(...add(p.position, f.position, -1)) < 1e-6;
    if (!points.some(near)) points.push({ node: f.node, position: f.position });
  };
  for (const joint of skeleton.joints) [joint.a, joint.b].forEach(attach);
  for (const pair of [...skeleton.drives, ...skeleton.springs]) [pair.a, pair.b].forEach(attach);
  skeleton.loads.forEach((load) => attach(load.at));
  skeleton.outputs.forEach(attach);
  for (const part of parts) part.points = aroundTheirMiddle(part.points);
  return parts;
}

// Points of a plate in the order of its edge.
function aroundTheirMiddle(all) {
  if (all.length < 3) return all;
  const middle = all.reduce((sum, p) => add(sum, p.position, 1 / all.length), [0, 0, 0]);
  const arm = (p) => Math.hypot(...add(p.position, middle, -1));
  const points = all.filter((p) => arm(p) > 0.35 * Math.max(...all.map(arm)));
  const arms = points.map((p) => add(p.position, middle, -1));
  const x = arms.reduce((a, b) => (Math.hypot(...b) > Math.hypot(...a) ? b : a));
  const normal = arms.map((a) => cross(x, a)).reduce((a, b) => (Math.hypot(...b) > Math.hypot(...a) ? b : a));
  const y = cross(normal, x);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const angle = (a) => Math.atan2(dot(a, y) / (Math.hypot(...y) || 1), dot(a, x) / (Math.hypot(...x) || 1));
  return points.map((p, i) => [angle(arms[i]), p]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]);
}

// Place of a point of a body in space; `shape` adds the deformation of a mode.
function placed(kinematics, body, node, position, shape, amplitude) {
  let local = position;
  if (shape && node !== null && node !== undefined) {
    const offset = add(position, kinematics.skeleton.nodes[node].position, -1);
    const u = shape.subarray(6 * node, 6 * node + 3);
    const phi = shape.subarray(6 * node + 3, 6 * node + 6);
    local = add(position, add(u, cross(phi, offset)), amplitude);
  }
  const frame = kinematics.frames[body];
  return add(frame.p, rotate(frame.r, local));
}

// A smooth curve through points (cubic, tangents from neighbours).
function smooth(points) {
  if (points.length < 3) return points;
  const out = [points[0]];
  for (let i = 0; i + 1 < points.length; i++) {
    const [b, c] = [points[i], points[i + 1]];
    const a = points[i - 1] ?? add(b, add(c, b, -1), -1);
    const d = points[i + 2] ?? add(c, add(c, b, -1));
    for (const t of [0.25, 0.5, 0.75, 1]) {
      out.push([0, 1, 2].map((k) => 0.5 * (2 * b[k] + (c[k] - a[k]) * t + (2 * a[k] - 5 * b[k] + 4 * c[k] - d[k]) * t * t + (3 * b[k] - a[k] - 3 * c[k] + d[k]) * t * t * t)));
    }
  }
  return out;
}

// Everything of the mechanism in its present place.
function collect(kinematics, parts, shape, amplitude) {
  const items = [];
  const nodes = kinematics.skeleton.nodes;
  parts.forEach((part, body) => {
    for (const chain of part.chains) {
      const line = chain.map((n) => placed(kinematics, body, n, nodes[n].position, shape, amplitude));
      items.push({ type: "line", points: shape ? smooth(line) : line, colour: part.colour });
    }
    if (part.chains.length > 0) return;
    const points = part.points.map((p) => placed(kinematics, body, p.node, p.position, shape, amplitude));
    if (points.length >= 3) items.push({ type: "plate", points, colour: part.colour });
    else if (points.length === 2) items.push({ type: "line", points, colour: part.colour });
    if (points.length === 1) items.push({ type: "block", points, colour: part.colour });
  });
  for (const joint of kinematics.skeleton.joints) {
    const side = joint.a.body === null ? joint.b : joint.a;
    const grounded = joint.a.body === null || joint.b.body === null;
    if (side.body === null) continue;
    const at = placed(kinematics, side.body, side.node, side.position, shape, amplitude);
    items.push({ type: grounded && joint.kind !== "prismatic" ? "anchor" : "joint", points: [at] });
  }
  return items;
}

// Place of a frame that a body or the ground carries.
function attachedPlace(kinematics, f, shape, amplitude) {
  return f.body === null ? f.position : placed(kinematics, f.body, f.node, f.position, shape, amplitude);
}

// Cylinders of actuated distances, springs, loads and gravity.
function actions(kinematics, shape, amplitude, camera) {
  const { skeleton } = kinematics;
  const at = (f) => attachedPlace(kinematics, f, shape, amplitude);
  const items = [];
  for (const drive of skeleton.drives) {
    if (drive.kind !== "distance") continue;
    const [a, b] = [at(drive.a), at(drive.b)];
    items.push({ type: "piston", points: [a, b] }, { type: "cylinder", points: [a, add(a, add(b, a, -1), 0.55)] });
    for (const [f, p] of [[drive.a, a], [drive.b, b]]) items.push({ type: f.body === null ? "anchor" : "joint", points: [p] });
  }
  for (const spring of skeleton.springs) items.push({ type: "spring", points: [at(spring.a), at(spring.b)] });
  const arrow = (from, vector, name, part) => {
    const size = Math.hypot(...vector);
    if (size > 0) items.push({ type: "arrow", points: [from, add(from, vector, (part * camera.size) / size)], name });
  };
  for (const load of skeleton.loads) {
    arrow(at(load.at), load.force, `${pretty(Math.hypot(...load.force))} N`, 0.16);
    arrow(at(load.at), load.moment, `${pretty(Math.hypot(...load.moment))} N m`, 0.12);
  }
  arrow(camera.middle, skeleton.gravity, "g", 0.1);
  if (items.length > 0 && items[items.length - 1].name === "g") items[items.length - 1].corner = true;
  return items;
}

// A zigzag between two points of the picture.
function strokeSpring(context, [a, b], width) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const length = Math.hypot(dx, dy) || 1;
  const [nx, ny] = [-dy / length, dx / length];
  const bends = 10;
  const points = [a];
  for (let i = 1; i < bends; i++) {
    const part = 0.15 + (0.7 * i) / bends;
    const side = (i % 2 ? 1 : -1) * Math.min(1.5 * width, 0.2 * length);
    points.push([a[0] + part * dx + side * nx, a[1] + part * dy + side * ny]);
  }
  strokeLine(context, [...points, b], Math.max(1.4, 0.25 * width), colour("ink"));
}

// An arrow with its name at the point.
function strokeArrow(context, [a, b], name) {
  const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
  const wing = (turn) => [b[0] - 10 * Math.cos(angle + turn), b[1] - 10 * Math.sin(angle + turn)];
  strokeLine(context, [a, b], 2.2, colour("accent"));
  strokeLine(context, [wing(0.45), b, wing(-0.45)], 2.2, colour("accent"));
  context.font = "600 12px system-ui, sans-serif";
  context.lineWidth = 4;
  context.strokeStyle = colour("panel");
  context.strokeText(name, b[0] + 8, b[1] + 4);
  context.fillStyle = colour("accent");
  context.fillText(name, b[0] + 8, b[1] + 4);
}

// Rails of prismatic joints on the ground.
function rails(kinematics) {
  const reach = 0.3 * kinematics.length;
  return kinematics.skeleton.joints
    .filter((j) => j.kind === "prismatic" && (j.a.body === null || j.b.body === null))
    .map((j) => {
      const a = kinematics.place({ body: j.a.body, r: j.a.rotation, p: j.a.position }, kinematics.home);
      const b = kinematics.place({ body: j.b.body, r: j.b.rotation, p: j.b.position }, kinematics.home);
      const axis = [a.r[2], a.r[5], a.r[8]];
      return { type: "rail", points: [add(b.p, axis, -reach), add(b.p, axis, reach)] };
    });
}

class Camera {
  constructor(points) {
    this.low = [0, 1, 2].map((k) => Math.min(...points.map((p) => p[k])));
    this.high = [0, 1, 2].map((k) => Math.max(...points.map((p) => p[k])));
    this.middle = this.low.map((v, k) => (v + this.high[k]) / 2);
    const spread = this.high.map((v, k) => v - this.low[k]);
    this.size = Math.max(Math.hypot(...spread), 1e-3);
    this.points = points;
    this.flat = spread.findIndex((v) => v < 1e-4 * this.size);
    this.reset();
  }

  reset() {
    // A flat mechanism is seen from the front, others from a corner.
    [this.yaw, this.pitch] = this.flat === 1 ? [-0.3, 0.2] : this.flat === 0 ? [1.25, 0.2] : this.flat === 2 ? [-0.25, 1.1] : [-0.65, 0.42];
    this.zoom = 1;
    this.fitted = "";
  }

  // Shows everything the mechanism passes, until the reader turns or zooms.
  fit(width, height) {
    const key = `${width} ${height}`;
    if (this.fitted === "never" || this.fitted === key) return;
    this.fitted = key;
    [this.zoom, this.shift] = [1, [0, 0]];
    const seen = this.points.map((p) => this.see(p, width, height));
    const [left, right] = [Math.min(...seen.map((p) => p[0])), Math.max(...seen.map((p) => p[0]))];
    const [top, bottom] = [Math.min(...seen.map((p) => p[1])), Math.max(...seen.map((p) => p[1]))];
    this.zoom = Math.min((0.82 * width) / (right - left || 1), (0.78 * height) / (bottom - top || 1));
    this.shift = [(width / 2 - (left + right) / 2) * this.zoom, (height / 2 - (top + bottom) / 2) * this.zoom];
    this.zoomed = 1;
  }

  zoomBy(factor) {
    const next = Math.min(8, Math.max(0.3, this.zoomed * factor));
    this.zoom *= next / this.zoomed;
    this.shift = this.shift.map((v) => (v * next) / this.zoomed);
    this.zoomed = next;
    this.fitted = "never";
  }

  turnBy(dx, dy) {
    this.yaw -= 0.008 * dx;
    this.pitch = Math.min(1.5, Math.max(-1.5, this.pitch + 0.008 * dy));
    this.fitted = "never";
  }

  // Picture of a point: across, down, and distance from the reader in sizes of the mechanism.
  see(point, width, height) {
    const [x, y, z] = add(point, this.middle, -1).map((v) => v / this.size);
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const right = cy * x + sy * y;
    const away = -sy * x + cy * y;
    const depth = away * cp - z * sp;
    const up = away * sp + z * cp;
    const scale = (this.zoom * 0.92 * Math.min(width, height * 1.25)) / (1 + depth / 3.2);
    return [width / 2 + this.shift[0] + right * scale, height / 2 + this.shift[1] - up * scale, depth, scale];
  }
}

function strokeLine(context, places, width, style) {
  context.beginPath();
  places.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.lineWidth = width;
  context.strokeStyle = style;
  context.stroke();
}

function drawGrid(context, camera, width, height) {
  const cell = 10 ** Math.floor(Math.log10(camera.size)) * (camera.size / 10 ** Math.floor(Math.log10(camera.size)) > 4 ? 1 : 0.25);
  const [nx, ny] = [0, 1].map((k) => Math.ceil((0.75 * camera.size) / cell));
  const z = camera.low[2] - 0.06 * camera.size;
  const centre = camera.middle.map((v) => Math.round(v / cell) * cell);
  const style = colour("grid");
  for (let i = -nx; i <= nx; i++) {
    const ends = [[i * cell, -ny * cell], [i * cell, ny * cell]];
    strokeLine(context, ends.map(([x, y]) => camera.see([centre[0] + x, centre[1] + y, z], width, height)), 1, style);
    strokeLine(context, ends.map(([x, y]) => camera.see([centre[0] + y, centre[1] + x, z], width, height)), 1, style);
  }
}

function drawItem(context, item, places, ghost) {
  const unit = Math.min(places[0][3], 620) / 420;
  const thick = Math.max(3.5, 9 * unit);
  const paint = item.colour ? colour(item.colour) : colour("ink");
  if (ghost) {
    if (item.type === "line") strokeLine(context, places, 1.5, colour("ghost"));
    return;
  }
  if (item.type === "line" || item.type === "plate") {
    if (item.type === "plate") {
      context.beginPath();
      places.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.globalAlpha = 0.35;
      context.fillStyle = paint;
      context.fill();
      context.globalAlpha = 1;
    }
    const line = item.type === "plate" ? [...places, places[0]] : places;
    strokeLine(context, line, thick + 2, colour("edge"));
    strokeLine(context, line, thick, paint);
    strokeLine(context, line.map(([x, y]) => [x - 0.12 * thick, y - 0.18 * thick]), thick * 0.3, colour("shine"));
  } else if (item.type === "rail") {
    strokeLine(context, places, 2, colour("soft"));
  } else if (item.type === "piston" || item.type === "cylinder") {
    const wide = item.type === "piston" ? 0.45 * thick : 1.25 * thick;
    strokeLine(context, places, wide + 2, colour("edge"));
    strokeLine(context, places, wide, colour(item.type === "piston" ? "shine-solid" : "soft"));
  } else if (item.type === "spring") {
    strokeSpring(context, places, thick);
  } else if (item.type === "arrow") {
    strokeArrow(context, places, item.name);
  } else {
    const [x, y] = places[0];
    context.beginPath();
    if (item.type === "block") context.rect(x - thick, y - thick, 2 * thick, 2 * thick);
    else if (item.type === "anchor") {
      context.moveTo(x, y);
      context.lineTo(x - 1.3 * thick, y + 2 * thick);
      context.lineTo(x + 1.3 * thick, y + 2 * thick);
      context.closePath();
    } else context.arc(x, y, 0.62 * thick, 0, 7);
    context.fillStyle = item.type === "block" ? paint : item.type === "anchor" ? colour("soft") : colour("paper");
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = colour("edge");
    context.stroke();
    if (item.type === "anchor") {
      context.beginPath();
      context.arc(x, y, 0.62 * thick, 0, 7);
      context.fillStyle = colour("paper");
      context.fill();
      context.stroke();
    }
  }
}

// Far things first. `ghost` items are the undeformed mechanism behind a mode.
function drawScene(canvas, camera, items, ghost, markers) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  camera.fit(width, height);
  context.lineCap = context.lineJoin = "round";
  drawGrid(context, camera, width, height);
  const see = (item) => {
    const places = item.points.map((p) => camera.see(p, width, height));
    if (!item.corner) return places;
    // A direction alone: shown in the corner of the picture, away from the bodies.
    const [dx, dy] = [0, 1].map((k) => 52 - (places[0][k] + places[1][k]) / 2);
    return places.map(([x, y, ...rest]) => [x + dx, y + dy, ...rest]);
  };
  for (const item of ghost) drawItem(context, item, see(item), true);
  const order = { rail: 0.5, plate: 0.02, joint: -0.12, anchor: -0.1, block: -0.05, cylinder: -0.01, arrow: -0.3 };
  items
    .map((item) => {
      const places = see(item);
      return [places.reduce((sum, p) => sum + p[2], 0) / places.length + (order[item.type] ?? 0), item, places];
    })
    .sort((a, b) => b[0] - a[0])
    .forEach(([, item, places]) => drawItem(context, item, places, false));
  context.font = "600 13px system-ui, sans-serif";
  for (const { name, position } of markers) {
    const [x, y] = camera.see(position, width, height);
    context.beginPath();
    context.arc(x, y, 9, 0, 7);
    context.lineWidth = 2.5;
    context.strokeStyle = colour("accent");
    context.stroke();
    context.lineWidth = 4;
    context.strokeStyle = colour("paper");
    context.strokeText(name, x + 13, y - 8);
    context.fillStyle = colour("ink");
    context.fillText(name, x + 13, y - 8);
  }
}
