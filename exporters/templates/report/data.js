"use strict";

// What goes wrong is told on the page, not only in the console.
window.addEventListener("error", (event) => {
  const trouble = document.getElementById("trouble");
  trouble.textContent = `This page does not work as it should: ${event.message}`;
  trouble.hidden = false;
});

// The document that the report was written with, and arrays in it: single precision, base64.
const DATA = JSON.parse(document.getElementById("data").textContent);

function unpack(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

// Number with few digits for people.
function pretty(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(digits));
  const text = size >= 1e5 || size < 1e-3 ? rounded.toExponential().replace("+", "") : String(rounded);
  return text.replace(/-/g, "\u2212");
}

function percent(part) {
  return pretty(100 * part) + " %";
}

// Colours follow the page, which follows the reader's choice of light or dark.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// An element with attributes and children.
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "circle", "rect", "text", "g", "title", "line", "tspan"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Name and unit of a coordinate, for an axis.
function coordinateLabel(k) {
  const { name, unit } = DATA.coordinates[k];
  return unit === "1" ? name : `${name} [${unit}]`;
}

// A labelled list of choices.
function choice(label, options, onchange) {
  const select = make("select");
  options.forEach((text, i) => select.append(make("option", { value: i }, text)));
  select.addEventListener("change", () => onchange(Number(select.value)));
  return make("label", { class: "choice" }, label + " ", select);
}
