// Small charts as SVG.  Each takes the element to draw into and plain figures; colours come from
// the classes `a` (the player), `b` (the opponent) and `nobody`.

const SVG = "http://www.w3.org/2000/svg";
const RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];
const SIDES = ["a", "b"];

/** An element: its tag, attributes, and children; text is text, never markup. */
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "rect", "line", "path", "circle", "text"].includes(tag);
  const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const whole = (number) => number.toLocaleString("en");

/** Round numbers from `low`, 0 or below, to `high`, about `number` steps apart. */
function ticks(high, number = 4, low = 0) {
  const rough = (high - low) / number;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= rough);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

/** An empty chart of the box's width, with a margin for labels. */
function canvas(box, height, margin, label) {
  const width = Math.max(240, box.clientWidth);
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label });
  box.replaceChildren(svg);
  return {
    svg, width, height,
    left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom,
    add: (tag, attributes, ...children) => svg.appendChild(make(tag, attributes, ...children)),
  };
}

const scale = (from, to, low, high) => (value) => low + ((value - from) / (to - from)) * (high - low);

/** Horizontal rules with their numbers at the left. */
function rules(chart, values, y, text) {
  for (const value of values) {
    chart.add("line", { class: "rule", x1: chart.left, x2: chart.right, y1: y(value), y2: y(value) });
    chart.add("text", { x: chart.left - 7, y: y(value) + 4, "text-anchor": "end" }, text(value));
  }
}

function words(chart, x, y, text, anchor = "middle", strong = false) {
  chart.add("text", { x, y, "text-anchor": anchor, class: strong ? "strong" : null }, text);
}

/** Hands by the points that they brought, five points a bar; void hands are left out. */
function drawPoints(box, points, hands, names) {
  const width = 5;
  const bars = new Map();
  let most = 30;
  for (const [value, count] of points) {
    if (value === 0) continue;
    const place = Math.sign(value) * Math.floor((Math.abs(value) - 1) / width);
    const key = `${Math.sign(value)}:${place}`;
    const bar = bars.get(key) ?? { side: value > 0 ? 0 : 1, low: Math.abs(place) * width + 1, count: 0 };
    bar.count += count;
    bars.set(key, bar);
    if (count / hands > 0.0002) most = Math.max(most, Math.abs(value));
  }
  most = Math.ceil(most / width) * width;
  const chart = canvas(box, 240, { left: 40, right: 8, top: 8, bottom: 38 }, "Histogram of points a hand");
  const tallest = Math.max(...[...bars.values()].map((bar) => bar.count), 1) / hands;
  const x = scale(-most, most, chart.left, chart.right);
  const y = scale(0, tallest * 1.05, chart.bottom, chart.top);
  rules(chart, ticks(tallest), y, (share) => percent(share, tallest < 0.04 ? 1 : 0));
  for (const bar of bars.values()) {
    if (bar.low > most) continue;
    const sign = bar.side ? -1 : 1;
    const ends = [x(sign * (bar.low - 1)), x(sign * (bar.low - 1 + width))].sort((p, q) => p - q);
    chart.add("rect", {
      class: `fill ${SIDES[bar.side]}`, x: ends[0] + 0.75, width: Math.max(1, ends[1] - ends[0] - 1.5),
      y: y(bar.count / hands), height: chart.bottom - y(bar.count / hands),
      "data-tip": `${names[bar.side]} wins ${bar.low} to ${bar.low + width - 1} points: ${percent(bar.count / hands)} of all hands`,
    });
  }
  chart.add("line", { class: "axis", x1: chart.left, x2: chart.right, y1: chart.bottom, y2: chart.bottom });
  const step = most > 80 ? 40 : 20;
  for (let value = -Math.floor(most / step) * step; value <= most; value += step) {
    words(chart, x(value), chart.bottom + 16, `${value > 0 ? "+" : ""}${value}`.replace("-", "−"));
  }
  const mean = sum(points.map(([value, count]) => value * count)) / hands;
  chart.add("line", { class: "mean", x1: x(mean), x2: x(mean), y1: chart.top, y2: chart.bottom });
  words(chart, (chart.left + chart.right) / 2, chart.height - 4, `points, mean ${mean.toFixed(2).replace("-", "−")}`);
}

/** Kinds of ending, a bar for each player who won so. */
function drawEndings(box, endings, hands, sides, names) {
  const rows = [];
  for (const [kind, counts] of Object.entries(endings)) {
    if (kind === "void") continue;
    for (let side = 0; side < sides; side++) rows.push({ kind: side ? "" : kind, of: kind, side, count: counts[side] });
  }
  rows.push({ kind: "void", of: "void", side: 2, count: sum(endings.void) });
  const high = sides > 1 ? 20 : 28;
  let place = 8;
  for (const row of rows) {
    if (row.kind) place += 9;
    row.y = place;
    place += high;
  }
  const chart = canvas(box, place + 6, { left: 72, right: 58, top: 0, bottom: 0 }, "How hands end");
  const x = scale(0, Math.max(...rows.map((row) => row.count), 1), chart.left, chart.right);
  for (const row of rows) {
    if (row.kind) words(chart, chart.left - 10, row.y + 13, row.kind, "end", true);
    chart.add("rect", {
      class: `fill ${[...SIDES, "nobody"][row.side]}`, x: chart.left, y: row.y, height: high - 3,
      width: Math.max(1, x(row.count) - chart.left), rx: 2,
      "data-tip": `${row.side < 2 ? `won by ${names[row.side]}: ` : ""}${row.of}, ${whole(row.count)} hands`,
    });
    words(chart, x(row.count) + 6, row.y + 13, percent(row.count / hands), "start");
  }
}

/** The median deadwood of each own turn, and the middle half around it. */
function drawDeadwood(box, quantiles, names) {
  const LOW = 1, MIDDLE = 2, HIGH = 3;  // of the quantiles 0.1, 0.25, 0.5, 0.75, 0.9
  const turns = Math.max(...quantiles.map((side) => side.length));
  const most = Math.max(10, ...quantiles.flat().map((row) => row[HIGH] ?? 0));
  const chart = canvas(box, 260, { left: 34, right: 10, top: 8, bottom: 38 }, "Deadwood by turn");
  const x = scale(0, Math.max(1, turns - 1), chart.left + 6, chart.right - 6);
  const y = scale(0, most, chart.bottom, chart.top);
  rules(chart, ticks(most), y, String);
  quantiles.forEach((rows, side) => {
    const there = rows.map((row, turn) => ({ row, turn })).filter(({ row }) => row[MIDDLE] !== null);
    const point = (which) => ({ row, turn }) => `${x(turn).toFixed(1)},${y(row[which]).toFixed(1)}`;
    const band = [...there.map(point(HIGH)), ...there.map(point(LOW)).reverse()].join("L");
    chart.add("path", { class: `band ${SIDES[side]}`, d: `M${band}Z` });
    chart.add("path", { class: `curve ${SIDES[side]}`, d: `M${there.map(point(MIDDLE)).join("L")}` });
    for (const { row, turn } of there) {
      chart.add("circle", {
        class: `fill ${SIDES[side]}`, cx: x(turn), cy: y(row[MIDDLE]), r: 4,
        "data-tip": `${names[side]}, turn ${turn + 1}: median ${row[MIDDLE]}, half of the hands ${row[LOW]} to ${row[HIGH]}`,
      });
    }
  });
  turnAxis(chart, turns, x);
}

function turnAxis(chart, turns, x) {
  const every = Math.ceil(turns / Math.max(4, (chart.right - chart.left) / 28));
  for (let turn = 0; turn < turns; turn += every) words(chart, x(turn), chart.bottom + 16, turn + 1);
  words(chart, (chart.left + chart.right) / 2, chart.height - 4, "own turn");
}

/**
 * Shares by turn (across) and something else (upwards), the darker the larger.
 * `cells[turn][level]` is a share or null where there is nothing to share; `largest` is the darkest.
 */
function drawHeatMap(box, cells, levels, side, largest, tip, label) {
  const turns = cells.length;
  const cellHeight = 20;
  const chart = canvas(box, levels.length * cellHeight + 46, { left: 34, right: 4, top: 4, bottom: 42 }, label);
  const x = scale(0, turns, chart.left, chart.right);
  const y = scale(0, levels.length, chart.bottom, chart.top);
  const wide = x(1) - x(0);
  levels.forEach((text, level) => words(chart, chart.left - 7, y(level + 0.5) + 4, text, "end"));
  cells.forEach((column, turn) => column.forEach((share, level) => {
    const shape = { x: x(turn) + 0.75, y: y(level + 1) + 0.75, width: Math.max(1, wide - 1.5), height: cellHeight - 1.5, rx: 2 };
    chart.add("rect", { class: "empty", ...shape });
    if (share === null || largest === 0) return;
    chart.add("rect", { class: `cell ${SIDES[side]}`, ...shape, "fill-opacity": Math.sqrt(share / largest).toFixed(3), "data-tip": tip(turn, level) });
    if (share === 0) return;
    if (wide >= 30 && levels.length < 12) {
      const dark = share / largest > 0.3;
      chart.add("text", { x: x(turn + 0.5), y: y(level + 0.5) + 4, "text-anchor": "middle", style: `font-size:11px;fill:var(--${dark ? "surface" : "ink"})` },
        (100 * share).toFixed(100 * share < 9.95 ? 1 : 0));
    }
  }));
  turnAxis(chart, turns, (turn) => x(turn + 0.5));
}

/** The share of the pile cards of each rank that is taken, a bar for each player. */
function drawRanks(box, ranks, sides, names) {
  const share = (side, rank) => ranks[side][rank][1] / Math.max(1, sum(ranks[side][rank]));
  const all = RANKS.flatMap((_, rank) => SIDES.slice(0, sides).map((_, side) => share(side, rank)));
  const most = Math.max(...all, 0.1);
  const chart = canvas(box, 240, { left: 40, right: 4, top: 8, bottom: 24 }, "Cards taken from the pile, by rank");
  const y = scale(0, most * 1.05, chart.bottom, chart.top);
  const x = scale(0, 13, chart.left, chart.right);
  rules(chart, ticks(most), y, (value) => percent(value, 0));
  const wide = ((x(1) - x(0)) * 0.78) / sides;
  RANKS.forEach((name, rank) => {
    for (let side = 0; side < sides; side++) {
      chart.add("rect", {
        class: `fill ${SIDES[side]}`, x: x(rank + 0.11) + side * wide, width: wide - 1, rx: 1.5,
        y: y(share(side, rank)), height: chart.bottom - y(share(side, rank)),
        "data-tip": `${names[side]} takes ${name}: ${percent(share(side, rank))} of ${whole(sum(ranks[side][rank]))}`,
      });
    }
    words(chart, x(rank + 0.5), chart.bottom + 16, name);
  });
}
