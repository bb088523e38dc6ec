
// Sliders, modes, and the mouse, finger or keyboard that turns the mechanism.
function viewer() {
  const canvas = document.getElementById("scene");
  if (!canvas) return null;
  const point = [...DATA.base];
  const listeners = [];
  const kinematics = DATA.skeleton ? new Kinematics(DATA.skeleton) : null;
  const parts = kinematics ? bodyParts(DATA.skeleton) : [];
  const fixed = kinematics ? rails(kinematics) : [];
  const camera = new Camera(reach(kinematics));
  const state = { mode: -1, size: 1, start: 0, valid: true };

  function stand(at) {
    if (!kinematics) return true;
    return kinematics.moveTo(mechanismTheta(at));
  }

  function draw(now) {
    const s = DATA.rigid;
    const phase = Math.sin(((now - state.start) / 1800) * 2 * Math.PI);
    let at = point;
    let shape = null;
    let amplitude = 0;
    if (state.mode >= 0 && state.mode < s) {
      at = [...point];
      const k = state.mode;
      const { lower, upper } = DATA.domain;
      at[k] = Math.min(upper[k], Math.max(lower[k], point[k] + 0.12 * state.size * (upper[k] - lower[k]) * phase));
    }
    state.valid = stand(at);
    let ghost = [];
    const outputs = reducedOutputs(at);
    if (state.mode >= s) {
      shape = kinematics && DATA.shapes.modes > 0 ? modeShape(state.mode - s, at) : null;
      const most = largestMotion(shape, outputs, state.mode);
      amplitude = most > 0 ? (0.1 * state.size * phase * camera.size) / most : 0;
      if (kinematics) ghost = collect(kinematics, parts, null, 0);
    }
    const items = kinematics ? [...fixed, ...collect(kinematics, parts, shape, amplitude), ...actions(kinematics, shape, amplitude, camera)] : [];
    const markers = (outputs ?? []).map((o, i) => ({
      name: DATA.outputs[i],
      position: state.mode >= s ? add(o.position, o.amplitude[state.mode], amplitude) : o.position,
    }));
    drawScene(canvas, camera, items, ghost, markers);
    if (state.mode < 0) tell(outputs);
  }

  // How far the reduced model's outputs are from the drawn mechanism, in words.
  function tell(outputs) {
    const text = document.getElementById("scene-text");
    if (!state.valid) {
      text.textContent = "The mechanism cannot be closed here.";
      return;
    }
    if (!outputs) {
      text.textContent = "The model is undefined here.";
      return;
    }
    text.textContent = outputs
      .map((o, i) => {
        const place = `${DATA.outputs[i]}: (${o.position.map((v) => (Math.abs(v) < 5e-5 ? 0 : v).toFixed(4)).join(", ").replace(/-/g, "\u2212")}) m`;
        if (!kinematics) return place;
        const f = DATA.skeleton.outputs[i];
        const exact = kinematics.place({ body: f.body, r: f.rotation, p: f.position }, kinematics.frames).p;
        return `${place}, ${pretty(Math.hypot(...add(o.position, exact, -1)), 2)} m from the full model`;
      })
      .join(" · ");
  }

  let pending = false;
  function redraw() {
    if (pending) return;
    pending = true;
    requestAnimationFrame((now) => {
      pending = false;
      draw(now);
      if (state.mode >= 0 && document.visibilityState === "visible") redraw();
    });
  }

  function setPoint(k, value) {
    point[k] = value;
    redraw();
    listeners.forEach((listen) => listen(point));
  }

  buildSliders(point, setPoint);
  buildModes((mode) => {
    state.mode = mode;
    state.start = performance.now();
    redraw();
  }, (size) => {
    state.size = size;
    redraw();
  });
  handle(canvas, camera, redraw);
  document.addEventListener("visibilitychange", redraw);
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => draw(performance.now()));
  redraw();
  return { point, onMove: (listen) => listeners.push(listen) };
}

// Points the mechanism passes: home and the ends of each coordinate.
function reach(kinematics) {
  const points = [];
  const { lower, upper } = DATA.domain;
  const visit = (at) => {
    const outputs = reducedOutputs(at);
    if (outputs) points.push(...outputs.map((o) => o.position));
    if (!kinematics || !kinematics.moveTo(mechanismTheta(at))) return;
    DATA.skeleton.nodes.forEach((n) => points.push(placed(kinematics, n.body, null, n.position)));
    kinematics.pairs.forEach((p) => points.push(kinematics.place(p.a, kinematics.frames).p));
    DATA.skeleton.springs.forEach((s) => [s.a, s.b].forEach((f) => points.push(attachedPlace(kinematics, f))));
  };
  visit(DATA.base);
  DATA.base.forEach((_, k) => {
    for (const end of [lower[k], upper[k]]) {
      const at = [...DATA.base];
      at[k] = end;
      visit(at);
    }
  });
  return points.length > 0 ? points : [[-1, -1, -1], [1, 1, 1]];
}

function largestMotion(shape, outputs, mode) {
  let most = 0;
  if (shape) for (let i = 0; i < shape.length; i += 6) most = Math.max(most, Math.hypot(shape[i], shape[i + 1], shape[i + 2]));
  else for (const o of outputs ?? []) most = Math.max(most, Math.hypot(...o.amplitude[mode]));
  return most;
}

function buildSliders(point, setPoint) {
  const box = document.getElementById("sliders");
  point.forEach((value, k) => {
    const { name, unit } = DATA.coordinates[k];
    const [low, high] = [DATA.domain.lower[k], DATA.domain.upper[k]];
    const input = make("input", { type: "range", id: "theta-" + k, min: low, max: high, step: (high - low) / 400, value });
    const output = make("output", { for: "theta-" + k });
    const show = (v) => {
      output.textContent = unit === "1" ? pretty(v) : `${pretty(v)} ${unit}`;
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => {
      show(Number(input.value));
      setPoint(k, Number(input.value));
    });
    show(value);
    box.append(make("label", { for: "theta-" + k, class: "slider" }, make("span", {}, name), input, output));
  });
}

function buildModes(choose, resize) {
  const box = document.getElementById("modes");
  const words = { rigid: "rigid", constraint: "constraint", attachment: "attachment", internal: "internal" };
  const add = (text, kind, mode) => {
    const button = make("button", { type: "button", "aria-pressed": mode < 0, class: "mode " + kind, "data-mode": mode }, text);
    button.addEventListener("click", () => {
      box.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", b === button));
      choose(mode);
    });
    box.append(button);
  };
  add("at rest", "none", -1);
  DATA.coordinates.forEach((c, i) => {
    const hz = DATA.mode_hz[i - DATA.rigid];
    add(hz > 0 ? `${c.name}, ${pretty(hz)} Hz` : c.name, words[c.kind], i);
  });
  const size = document.getElementById("mode-size");
  size.addEventListener("input", () => resize(Number(size.value)));
}

function handle(canvas, camera, redraw) {
  const down = new Map();
  let gap = 0;
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    down.set(e.pointerId, [e.clientX, e.clientY]);
  });
  const up = (e) => {
    down.delete(e.pointerId);
    gap = 0;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointermove", (e) => {
    const last = down.get(e.pointerId);
    if (!last) return;
    down.set(e.pointerId, [e.clientX, e.clientY]);
    if (down.size === 2) {
      const [a, b] = [...down.values()];
      const now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (gap > 0) camera.zoomBy(now / gap);
      gap = now;
    } else camera.turnBy(e.clientX - last[0], e.clientY - last[1]);
    redraw();
  });
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    camera.zoomBy(Math.exp(-0.001 * e.deltaY));
    redraw();
  }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const step = { ArrowLeft: [-15, 0], ArrowRight: [15, 0], ArrowUp: [0, -15], ArrowDown: [0, 15] }[e.key];
    if (step) camera.turnBy(...step);
    else if (e.key === "+" || e.key === "=") camera.zoomBy(1.15);
    else if (e.key === "-") camera.zoomBy(1 / 1.15);
    else if (e.key === "0") camera.reset();
    else return;
    e.preventDefault();
    redraw();
  });
}
