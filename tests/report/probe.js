"use strict";
// Uses the page in the frame as a reader would, and writes down what it saw.
const findings = {
  problems: [], width: 0, content_width: 0, requests: 0, charts: 0, empty_charts: [], sliders: [], modes: [],
  turned_by_key: false, without_name: [], blocks_with_errors: [], domain_marks: 0, closure_error: null, says_what_is_missing: false, trouble: "",
};
const frame = document.getElementById("page");

// Runs in the page: how far the outputs of the mechanism that it closes itself are from those of
// the full model, at all points of all lines.
function closureError() {
  if (!DATA.skeleton) return null;
  const kinematics = new Kinematics(DATA.skeleton);
  const entries = DATA.blocks.find((b) => b.name === "outputs").entries;
  let worst = 0;
  DATA.lines.forEach((line, l) => {
    const exact = entries.map((e) => unpack(e.full[l]));
    const parts = unpack(line.parts);
    for (let i = 0; i < exact[0].length; i++) {
      const part = parts[i];
      const point = line.from.map((v, k) => v + part * (line.to[k] - v));
      if (!Number.isFinite(exact[0][i])) continue;
      if (!kinematics.moveTo(mechanismTheta(point))) return Infinity;
      entries.forEach((entry, e) => {
        const [name, axis] = [entry.label.slice(0, -2), "xyz".indexOf(entry.label.slice(-1))];
        const f = DATA.skeleton.outputs[DATA.outputs.indexOf(name)];
        const at = kinematics.place({ body: f.body, r: f.rotation, p: f.position }, kinematics.frames).p;
        worst = Math.max(worst, Math.abs(at[axis] - exact[e][i]));
      });
    }
  });
  return worst;
}

async function probe() {
  const page = frame.contentWindow;
  const all = (selector) => [...page.document.querySelectorAll(selector)];
  const trouble = page.document.getElementById("trouble");
  if (trouble && trouble.checkVisibility()) findings.trouble = trouble.textContent;
  findings.width = page.innerWidth;
  findings.content_width = page.document.documentElement.scrollWidth;
  findings.requests = page.performance.getEntriesByType("resource").length;
  const canvas = page.document.getElementById("scene");
  if (!canvas) throw new Error("the page has no drawing");
  // Frames may be rare where no one looks: wait for them, not for the clock.
  const nextFrame = () => new Promise((done) => page.requestAnimationFrame(done));
  const picture = async (ms = 0) => {
    const start = page.performance.now();
    do {
      await nextFrame();
      await nextFrame();
    } while (page.performance.now() - start < ms);
    return canvas.toDataURL();
  };
  let before = await picture();
  canvas.focus();
  canvas.dispatchEvent(new page.KeyboardEvent("keydown", { key: "ArrowLeft", cancelable: true }));
  findings.turned_by_key = before !== (await picture());

  for (const slider of all("#sliders input")) {
    const start = slider.value;
    let moved = true;
    for (const end of [slider.min, slider.max, start]) {
      before = await picture();
      slider.value = end;
      slider.dispatchEvent(new page.Event("input"));
      moved &&= before !== (await picture());
    }
    findings.sliders.push(moved);
  }
  for (const button of all("#modes button").slice(1)) {
    button.click();
    const first = await picture(100);
    findings.modes.push(first !== (await picture(200)));
  }
  all("#modes button")[0].click();

  const charts = all("svg.chart");
  findings.charts = charts.length;
  const drawn = (chart) => [...chart.querySelectorAll(".curve")].some((c) => c.getAttribute("d").includes("L")) || chart.querySelector(".tile, rect[fill]");
  findings.empty_charts = charts.filter((c) => !drawn(c)).map((c) => c.getAttribute("aria-label"));
  findings.without_name = [
    ...all("svg.chart, canvas").filter((e) => !e.getAttribute("aria-label")),
    ...all("input, select").filter((e) => e.labels.length === 0),
  ].map((e) => e.outerHTML.slice(0, 80));
  findings.domain_marks = all("#domain-map .tile, #domain-map circle").length;
  findings.blocks_with_errors = all(".block").filter((b) => b.querySelector("figure.error .curve")).map((b) => b.dataset.block);
  const script = page.document.createElement("script");
  script.textContent = `${closureError}; window.closureError = closureError();`;
  page.document.body.append(script);
  findings.closure_error = page.closureError;
  findings.says_what_is_missing = page.document.getElementById("missing") !== null;
}

frame.addEventListener("load", () => {
  probe()
    .catch((error) => findings.problems.push(String(error)))
    .finally(() => {
      document.getElementById("findings").textContent = JSON.stringify(findings);
      frame.remove();
    });
});
