"use strict";
// Uses the page in the frame as a reader would, and writes down what it saw.
const findings = {
  problems: [], width: 0, content_width: 0, requests: 0, charts: 0, empty_charts: [], sliders: [], modes: [],
  turned_by_key: false, without_name: [], blocks_with_errors: [], farthest_output: 0, says_what_is_missing: false,
};
const frame = document.getElementById("page");

function distances(text) {
  const found = [...text.matchAll(/([\d.]+(?:e−?\d+)?) m from the full model/g)];
  return found.map((m) => Number(m[1].replace("−", "-")));
}

async function probe() {
  const page = frame.contentWindow;
  const all = (selector) => [...page.document.querySelectorAll(selector)];
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

  const text = page.document.getElementById("scene-text");
  for (const slider of all("#sliders input")) {
    const start = slider.value;
    let moved = true;
    for (const end of [slider.min, slider.max, start]) {
      before = await picture();
      slider.value = end;
      slider.dispatchEvent(new page.Event("input"));
      moved &&= before !== (await picture());
      findings.farthest_output = Math.max(findings.farthest_output, ...distances(text.textContent));
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
  findings.blocks_with_errors = all(".block").filter((b) => b.querySelector("figure.error .curve")).map((b) => b.dataset.block);
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
