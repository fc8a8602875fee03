"use strict";
// Makes the tables of a report sortable and its curves readable. The page is complete without this script.

// ---- tables: a click on a header sorts by its column, a second one the other way, a third one as before ----

/** Return the number at the beginning of a cell, such as 0.47 of "0.47 ± 0.02"; NaN for another text. */
function numberOf(text) {
  const plain = text.trim().replace(/^<\s*/, "").replace(/\u2212/g, "-").replace(/(\d),(?=\d{3})/g, "$1");
  const match = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i.exec(plain);
  return match ? Number(match[0]) : NaN;
}

/** Return the order of two cells; cells without a value are last, and numbers before texts. */
function compareCells(left, right, sign) {
  const isEmpty = (text) => /^[\s\u2013\u2014-]*$/.test(text);
  if (isEmpty(left) || isEmpty(right)) return Number(isEmpty(left)) - Number(isEmpty(right));
  const [first, second] = [numberOf(left), numberOf(right)];
  if (Number.isNaN(first) !== Number.isNaN(second)) return Number.isNaN(first) ? 1 : -1;
  if (Number.isNaN(first)) return sign * left.localeCompare(right, "en", { numeric: true });
  return sign * (first - second);
}

function makeSortable(table) {
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];
  const original = [...body.rows];
  if (original.length < 2) return;
  const next = { none: "descending", descending: "ascending", ascending: "none" };
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const order = next[header.getAttribute("aria-sort")];
      headers.forEach((other) => other.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const text = (row) => row.cells[column].textContent;
      const rows = [...original];
      if (order !== "none") rows.sort((a, b) => compareCells(text(a), text(b), sign));
      body.append(...rows);
    });
  });
}

// ---- curves: values at the pointer or by the arrow keys, and series to switch off in the legend ----

const SVG = "http://www.w3.org/2000/svg";
const MOST_LINES = 12; // of the values at a position

/** Return where an axis has a value, from 0 at its low end to 1. */
function shareOf(axis, value) {
  const scale = axis.logarithmic ? Math.log : (number) => number;
  return (scale(value) - scale(axis.low)) / (scale(axis.high) - scale(axis.low));
}

/** Return a number with at most six significant digits, as JSON wrote it otherwise. */
function numberText(value) {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

function makeReadable(figure) {
  const data = JSON.parse(figure.dataset.curves);
  const svg = figure.querySelector("svg");
  if (!data.box || !svg) return;
  const [left, top, width, height] = data.box;
  const xOf = (value) => left + width * shareOf(data.x, value);
  const yOf = (value) => top + height * (1 - shareOf(data.y, value));
  const hidden = new Set();
  makeLegend(svg, hidden, () => show(null));

  // A line at the position, dots on the curves, and a box with the values.
  const guide = document.createElementNS(SVG, "g");
  guide.setAttribute("class", "guide");
  svg.append(guide);
  const box = document.createElement("div");
  box.className = "values";
  box.setAttribute("role", "status");
  figure.querySelector(".drawing").after(box);
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "group"); // a picture would hide its buttons from screen readers
  svg.setAttribute("aria-description", "The arrow keys show the values.");
  const positions = [...new Set(data.series.flatMap((series) => series.x))]
    .filter((x) => x !== null && (x > 0 || !data.x.logarithmic)).sort((a, b) => a - b);
  let current = null;

  function pointsAt(x) {
    return data.series.filter((series) => !hidden.has(series.number)).flatMap((series) => {
      const index = series.x.indexOf(x);
      if (index < 0 || series.y[index] === null) return [];
      const ends = [series.low[index], series.high[index]];
      const range = ends.every((end) => typeof end === "number") ? ` (${ends.map(numberText).join(" to ")})` : "";
      const drawn = svg.querySelector(`g[data-series="${series.number}"] path[style*="stroke:"]`);
      const color = drawn ? getComputedStyle(drawn).stroke : "";
      return [{ color, y: series.y[index], text: `${series.name}: ${numberText(series.y[index])}${range}` }];
    }).sort((a, b) => b.y - a.y);
  }

  /** Show the values at a position of the x axis; none for null. */
  function show(x) {
    current = x;
    guide.replaceChildren();
    box.replaceChildren();
    const points = x === null ? [] : pointsAt(x);
    box.hidden = points.length === 0;
    if (box.hidden) return;
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("d", `M ${xOf(x)} ${top} v ${height}`);
    guide.append(line);
    addLine(`${data.x.title} ${numberText(x)}`, "");
    points.forEach((point, order) => {
      const dot = document.createElementNS(SVG, "circle");
      dot.setAttribute("cx", xOf(x));
      dot.setAttribute("cy", yOf(point.y));
      dot.setAttribute("r", "2.5");
      dot.style.setProperty("--series", point.color);
      guide.append(dot);
      if (order < MOST_LINES) addLine(point.text, point.color);
    });
    if (points.length > MOST_LINES) addLine(`and ${points.length - MOST_LINES} more`, "");
    placeBox(xOf(x));
  }

  /** Add a line to the box, as text. */
  function addLine(text, color) {
    const line = document.createElement("div");
    line.textContent = text;
    line.style.setProperty("--series", color);
    box.append(line);
  }

  /** Place the box beside the line, at the side with more room. */
  function placeBox(x) {
    const frame = figure.getBoundingClientRect();
    const picture = svg.getBoundingClientRect();
    const scale = picture.width / svg.viewBox.baseVal.width;
    const at = picture.left - frame.left + x * scale;
    const isRight = at + 14 + box.offsetWidth <= frame.width;
    box.style.left = `${Math.max(0, isRight ? at + 14 : at - 14 - box.offsetWidth)}px`;
    box.style.top = `${picture.top - frame.top + top * scale}px`;
  }

  svg.addEventListener("pointermove", (event) => {
    const picture = svg.getBoundingClientRect();
    const x = ((event.clientX - picture.left) / picture.width) * svg.viewBox.baseVal.width;
    const y = ((event.clientY - picture.top) / picture.height) * svg.viewBox.baseVal.height;
    if (y < top - 4) return show(null);
    const distance = (value) => Math.abs(xOf(value) - x);
    show(positions.reduce((best, value) => (best === null || distance(value) < distance(best) ? value : best), null));
  });
  svg.addEventListener("pointerleave", () => show(null));
  svg.addEventListener("blur", () => show(null));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") show(null);
    if (!step || event.target !== svg) return;
    event.preventDefault();
    const index = current === null ? (step > 0 ? 0 : positions.length - 1) : positions.indexOf(current) + step;
    show(positions[Math.min(Math.max(index, 0), positions.length - 1)] ?? null);
  });
  show(null);
}

/** Make the names of the legend buttons that switch their series off and on. */
function makeLegend(svg, hidden, changed) {
  for (const name of svg.querySelectorAll("g[data-name]")) {
    const number = Number(name.dataset.name);
    const entry = [name];
    // The sample of a series comes before its name.
    for (let part = name.previousElementSibling; part && !part.querySelector("text"); part = part.previousElementSibling) {
      entry.push(part);
    }
    const toggle = () => {
      const isOff = !hidden.delete(number);
      if (isOff) hidden.add(number);
      name.setAttribute("aria-pressed", String(!isOff));
      entry.forEach((part) => part.classList.toggle("off", isOff));
      svg.querySelectorAll(`g[data-series="${number}"]`).forEach((part) => part.classList.toggle("gone", isOff));
      changed();
    };
    name.setAttribute("role", "button");
    name.setAttribute("tabindex", "0");
    name.setAttribute("aria-pressed", "true");
    entry.forEach((part) => {
      part.classList.add("entry");
      part.addEventListener("click", toggle);
    });
    name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
  }
}

if (typeof document !== "undefined") {
  document.querySelectorAll("main table").forEach(makeSortable);
  document.querySelectorAll("figure[data-curves]").forEach(makeReadable);
}
