
"use strict";
// Adds to a page that is complete without it: a tip for points, an order and a search
// for outliers, and copying. Text of the user's only ever becomes textContent.
(() => {
  const find = (id) => document.getElementById(id);
  const drawn = JSON.parse(find("drawn").textContent);
  const table = find("outlier-rows");
  const lines = table ? [...table.tBodies[0].rows] : [];
  const lineOf = new Map(lines.map((line) => [Number(line.dataset.row), line]));
  const OUTLIERS = -1;

  // ---- points

  const svg = find("scatter");
  const plot = find("plot");
  const points = svg ? readPoints() : [];
  const pointOf = new Map(points.map((point) => [point.row, point]));
  const NEAR = 14; // pixels between the pointer and the point it means
  let current = null;

  function readPoints() {
    const found = [];
    for (const path of svg.querySelectorAll("path[data-label]")) {
      const group = path.parentNode.transform.baseVal.consolidate().matrix;
      const label = Number(path.dataset.label);
      for (const mark of path.getAttribute("d").matchAll(/M(-?\d+) (-?\d+)/g)) {
        const i = found.length;
        found.push({
          x: mark[1] * group.a, y: mark[2] * group.d, label, row: drawn.rows[i],
          id: drawn.ids ? drawn.ids[i] : null,
        });
      }
    }
    return found;
  }

  function describe(point) {
    const row = `row ${point.row.toLocaleString("en")}`;
    const cluster = drawn.clusters ? `cluster ${point.label}` : "inlier";
    const words = [
      point.id === null ? row : point.id,
      (point.id === null ? "" : `${row}, `) +
        (point.label === OUTLIERS ? "outlier" : cluster),
    ];
    const reason = drawn.reasons[point.row];
    if (point.label === OUTLIERS && reason) words.push(reason);
    return words;
  }

  function nearest(event) {
    const toScreen = svg.getScreenCTM();
    let best = null;
    let least = NEAR;
    for (const point of points) {
      const distance = Math.hypot(
        toScreen.a * point.x + toScreen.e - event.clientX,
        toScreen.d * point.y + toScreen.f - event.clientY,
      );
      // outliers lie on top: where one is as near as another point, it is meant
      if (distance < least || (distance === least && point.label === OUTLIERS)) {
        least = distance;
        best = point;
      }
    }
    return best;
  }

  function show(point) {
    if (point === current) return;
    current = point;
    tip.replaceChildren();
    ring.setAttribute("visibility", point ? "visible" : "hidden");
    if (!point) return;
    ring.setAttribute("cx", point.x);
    ring.setAttribute("cy", point.y);
    for (const words of describe(point)) {
      const part = document.createElement("span");
      part.dir = "auto";
      part.textContent = words;
      // a space between the parts, for those who hear them
      tip.append(part, " ");
    }
    place(point);
  }

  // what the keys have led to stays when the pointer goes
  function leave() {
    if (document.activeElement !== plot) show(null);
  }

  function place(point) {
    const box = plot.getBoundingClientRect();
    const toScreen = svg.getScreenCTM();
    const x = toScreen.a * point.x + toScreen.e - box.left;
    const y = toScreen.d * point.y + toScreen.f - box.top;
    const onTheRight = x < box.width / 2;
    tip.style.left = onTheRight ? `${x + 14}px` : "auto";
    tip.style.right = onTheRight ? "auto" : `${box.width - x + 14}px`;
    tip.style.maxWidth = `${(onTheRight ? box.width - x : x) - 16}px`;
    tip.style.top = y < box.height / 2 ? `${y + 10}px` : "auto";
    tip.style.bottom = y < box.height / 2 ? "auto" : `${box.height - y + 10}px`;
  }

  function goToLine(point) {
    const line = point && lineOf.get(point.row);
    if (!line) return;
    if (line.hidden) search("");
    line.scrollIntoView({ block: "center" });
    line.querySelector("button")?.focus({ preventScroll: true });
    for (const other of lines) other.classList.toggle("found", other === line);
  }

  function goToPoint(row) {
    show(pointOf.get(row));
    plot.scrollIntoView({ block: "center" });
    plot.focus({ preventScroll: true });
  }

  // keys lead through the outliers, the costliest first, or through all points
  function stops() {
    const outliers = points.filter((point) => point.label === OUTLIERS);
    if (!outliers.length) return points;
    const place = new Map(lines.map((line, i) => [Number(line.dataset.row), i]));
    const rank = (point) => place.get(point.row) ?? lines.length;
    return outliers.sort((a, b) => rank(a) - rank(b));
  }

  function step(event) {
    const keys = {
      ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1,
      Home: -Infinity, End: Infinity,
    };
    if (event.key === "Escape") return show(null);
    if (event.key !== "Enter" && !(event.key in keys)) return undefined;
    // or the key would also press the button that it leads to
    event.preventDefault();
    if (event.key === "Enter") return goToLine(current);
    const all = stops();
    const at = all.indexOf(current);
    const to = at < 0 && keys[event.key] === -1 ? all.length - 1 : at + keys[event.key];
    return show(all[Math.max(0, Math.min(all.length - 1, to))]);
  }

  const tip = document.createElement("div");
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");

  function preparePlot() {
    tip.className = "tip";
    tip.id = "tip";
    tip.setAttribute("role", "status");
    tip.setAttribute("aria-live", "polite");
    plot.append(tip);
    ring.setAttribute("class", "ring");
    ring.setAttribute("r", "9");
    ring.setAttribute("visibility", "hidden");
    svg.append(ring);
    plot.tabIndex = 0;
    plot.setAttribute("role", "application");
    const who = points.some((p) => p.label === OUTLIERS) ? "outliers" : "points";
    plot.setAttribute(
      "aria-label",
      `The rows drawn: arrow keys step through the ${who}, Enter goes to the table`,
    );
    // the browser would show the title as a tip of its own
    const title = svg.querySelector("title");
    svg.setAttribute("aria-label", title.textContent);
    svg.setAttribute("aria-describedby", "scatter-told");
    svg.removeAttribute("aria-labelledby");
    title.remove();
    listen();
  }

  function listen() {
    let before = null; // the point that the tip told of before it was touched
    plot.addEventListener("pointermove", (event) => {
      // a page that scrolls below a resting pointer moves it by nothing
      if (event.movementX || event.movementY) show(nearest(event));
    });
    plot.addEventListener("pointerdown", (event) => {
      before = current;
      show(nearest(event));
    });
    plot.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") leave();
    });
    plot.addEventListener("click", (event) => {
      const point = nearest(event);
      // who touches a point wants to read first, and goes on with a second touch
      if (event.pointerType !== "touch" || point === before) goToLine(point);
    });
    plot.addEventListener("keydown", step);
    plot.addEventListener("blur", () => show(null));
  }

  // ---- the table of outliers

  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function valueOf(line, column, sorts) {
    const cell = line.cells[column];
    const text = cell.textContent.trim();
    if (text === "\u2013") return null;
    if (sorts !== "number") return text;
    return Number(cell.dataset.value ?? text.replaceAll(",", ""));
  }

  function sortBy(column) {
    const heads = [...table.tHead.rows[0].cells];
    const head = heads[column];
    const rising = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const sorts = head.dataset.sorts;
    const keyed = lines.map((line) => [valueOf(line, column, sorts), line]);
    const compare = sorts === "number" ? (a, b) => a - b : collator.compare;
    keyed.sort(([a], [b]) => {
      // what is not known comes last, in both directions
      if (a === null || b === null) return (a === null) - (b === null);
      return rising ? compare(a, b) : compare(b, a);
    });
    table.tBodies[0].append(...keyed.map(([, line]) => line));
  }

  const simple = (text) => text.normalize("NFKC").toLowerCase().trim();
  const texts = lines.map((line) => simple(
    [...line.cells].map((cell) => cell.textContent).join(" "),
  ));

  function search(words) {
    find("search").value = words;
    filter();
  }

  function filter() {
    const words = find("search").value;
    const wanted = simple(words);
    let count = 0;
    lines.forEach((line, i) => {
      line.hidden = !texts[i].includes(wanted);
      count += line.hidden ? 0 : 1;
    });
    const all = lines.length.toLocaleString("en");
    const none = `No line holds \u201c${words.trim()}\u201d.`;
    const some = `${count.toLocaleString("en")} of ${all} lines`;
    find("found").textContent = count ? some : none;
  }

  function prepareTable() {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => sortBy(column));
      head.replaceChildren(button);
    });
    for (const line of lines) prepareLine(line);
    find("controls").hidden = false;
    find("search").addEventListener("input", filter);
    filter();
  }

  function prepareLine(line) {
    const row = Number(line.dataset.row);
    if (!pointOf.has(row)) return;
    const head = line.cells[0];
    const button = document.createElement("button");
    button.type = "button";
    button.className = "locate";
    button.textContent = head.textContent;
    button.setAttribute("aria-label", `Row ${head.textContent}: show its point`);
    button.addEventListener("click", () => goToPoint(row));
    head.replaceChildren(button);
    line.addEventListener("pointerenter", () => show(pointOf.get(row)));
    line.addEventListener("pointerleave", leave);
  }

  // ---- the command

  function select(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }

  async function copy() {
    const command = find("command");
    let done = false;
    try {
      await navigator.clipboard.writeText(command.textContent);
      done = true;
    } catch {
      // pages from a disk may be refused; the older way asks for a selection
      select(command);
      done = document.execCommand?.("copy") ?? false;
    }
    find("copied").textContent = done
      ? "Copied." : "The browser refused: it is selected, copy it by hand.";
  }

  if (svg) preparePlot();
  if (table) prepareTable();
  find("copying").hidden = false;
  find("copy").addEventListener("click", copy);
})();
