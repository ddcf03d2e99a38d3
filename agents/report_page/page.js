// The page: which opponent, which hand and which step are shown.  The address's hash holds all
// three, as in #opponent=1&hand=3&step=12, so that a link leads to a position.

const content = JSON.parse(document.getElementById("content").textContent);
const at = (id) => document.getElementById(id);
const shown = { opponent: 0, knocks: "share" };
const viewer = new HandViewer(at("hand-list"), at("viewer"), remember);

function pairing() { return content.pairings[shown.opponent]; }

/** What the two sides are called; a player who met himself is one side with two seats. */
function names() {
  const same = pairing().statistics.sides === 1;
  return [content.player, same ? `${content.player} again` : pairing().opponent];
}

function header() {
  at("title").textContent = `How ${content.player} plays`;
  const hands = sum(content.pairings.map((one) => one.statistics.hands));
  at("about").textContent = `Gin rummy, ${content.rules} rules · ${whole(hands)} hands · seed ${content.seed} · ${content.date}`;
  at("footer").textContent = `Written by ginenv ${content.version}. The charts count every hand that was played, those of the matches too.`;
  const head = [["against"], ["points a hand"], ["hands", "minor"], ["games won"], ["games", "minor"]];
  at("result").replaceChildren(
    make("thead", {}, make("tr", {}, ...head.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
    make("tbody", {}, ...content.pairings.map(({ opponent, result }) => make("tr", {},
      make("td", {}, opponent), make("td", { class: `points ${result.mean === null ? "" : result.mean < 0 ? "b" : "a"}` }, result.points.replace("-", "−")),
      make("td", { class: "minor" }, whole(result.hands)), make("td", {}, result.games), make("td", { class: "minor" }, whole(result.matches))))));
  if (content.pairings.length > 1) {
    at("opponents").replaceChildren(...content.pairings.map(({ opponent }, number) =>
      make("button", { type: "button", onclick: () => select(number) }, `against ${opponent}`)));
  }
}

function select(opponent, hand = 0, step = 0) {
  shown.opponent = Math.min(Math.max(opponent, 0), content.pairings.length - 1);
  [...at("opponents").children].forEach((chip, number) => chip.setAttribute("aria-pressed", number === shown.opponent));
  const sides = pairing().statistics.sides;
  at("legend").replaceChildren(...names().slice(0, sides).map((name, side) =>
    make("span", { class: `key ${SIDES[side]}` }, make("span", {}, name))));
  drawCharts();
  viewer.show(pairing().hands, names(), hand, step);
}

function drawCharts() {
  const found = pairing().statistics;
  const called = names().slice(0, found.sides);
  drawPoints(at("points"), found.points, found.hands, names());
  drawEndings(at("endings"), found.endings, found.hands, found.sides, called);
  drawDeadwood(at("deadwood"), found.deadwood, called);
  drawRanks(at("ranks"), found.ranks, found.sides, called);
  drawKnocks(found, called);
  drawThrown(found, called);
  drawChoices(found, called);
}

/** A box for each side's heat map, under the side's name. */
function boxes(id, called) {
  const made = called.map((name, side) => make("div", {},
    make("h4", {}, make("span", { class: `key ${SIDES[side]}` }, make("span", {}, name))), make("div", { class: "chart" })));
  at(id).replaceChildren(...made);
  return made.map((one) => one.lastChild);
}

const KNOCK_VIEWS = {
  share: ["share of all knocks", "Of all knocks, gin included, the share of each own turn (across) and deadwood (upwards), in %."],
  rate: ["how often, where it could", "Where a knock was legal with that deadwood: how often the player knocked, in %. Empty: it never could."],
};

function drawKnocks(found, called) {
  at("knock-words").textContent = KNOCK_VIEWS[shown.knocks][1];
  at("knock-choice").replaceChildren(...Object.entries(KNOCK_VIEWS).map(([view, [text]]) =>
    make("button", { type: "button", "aria-pressed": view === shown.knocks, onclick: () => { shown.knocks = view; drawKnocks(found, called); } }, text)));
  const all = called.map((_, side) => Math.max(1, sum(found.knocks[side].flat())));
  const cells = called.map((_, side) => found.knocks[side].map((column, turn) => column.map((count, deadwood) => {
    if (shown.knocks === "share") return count / all[side];
    const could = found.chances[side][turn][deadwood];
    return could ? count / could : null;
  })));
  const largest = shown.knocks === "rate" ? 1 : Math.max(...cells.flat(2), 0);
  const levels = Array.from({ length: 11 }, (_, deadwood) => (deadwood ? String(deadwood) : "gin"));
  boxes("knocks", called).forEach((box, side) => drawHeatMap(box, cells[side], levels, side, largest,
    (turn, deadwood) => `turn ${turn + 1}, ${deadwood ? `deadwood ${deadwood}` : "gin"}: ${whole(found.knocks[side][turn][deadwood])} knocks of ${whole(found.chances[side][turn][deadwood])} that were legal`,
    `When ${called[side]} knocks`));
}

function drawThrown(found, called) {
  const cells = called.map((_, side) => found.thrown[side].map((column) => {
    const all = sum(column);
    return column.map((count) => (all ? count / all : null));
  }));
  // Late turns are few and noisy: they do not set the scale.
  const often = cells.flatMap((side, number) => side.filter((_, turn) => sum(found.thrown[number][turn]) > 0.02 * sum(found.thrown[number][0])));
  const largest = Math.max(...often.flat().map((share) => share ?? 0), 0);
  const capped = cells.map((side) => side.map((column) => column.map((share) => (share === null ? null : Math.min(share, largest)))));
  boxes("thrown", called).forEach((box, side) => drawHeatMap(box, capped[side], RANKS, side, largest,
    (turn, rank) => `turn ${turn + 1}, ${RANKS[rank]}: ${percent(cells[side][turn][rank])} of ${whole(sum(found.thrown[side][turn]))} discards`,
    `What ${called[side]} throws`));
}

function drawChoices(found, called) {
  const rows = [
    ["upcard, as non-dealer", (side, fits) => found.upcard[side][0][fits]],
    ["upcard, as dealer", (side, fits) => found.upcard[side][1][fits]],
    ["later turns", (side, fits) => [0, 1].map((taken) => sum(found.draws[side].map((turn) => turn[fits][taken])))],
  ];
  const cell = ([left, taken]) => make("td", {}, make("span", { class: "share" }, left + taken ? percent(taken / (left + taken)) : "–"),
    make("span", { class: "of" }, ` of ${whole(left + taken)}`));
  const lines = rows.flatMap(([text, counts]) => called.map((name, side) => make("tr", {},
    make("td", {}, make("span", { class: `key ${SIDES[side]}`, title: name }, make("span", {}, text))), cell(counts(side, 1)), cell(counts(side, 0)))));
  at("choices").replaceChildren(make("table", {}, make("thead", {}, make("tr", {},
    ...["", "fits", "does not fit"].map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, ...lines)));
}

function remember(hand, step) {
  history.replaceState(null, "", `#opponent=${shown.opponent}&hand=${hand + 1}&step=${step}`);
}

function fromHash() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const number = (key) => Number.parseInt(wanted.get(key) ?? "0", 10) || 0;
  select(number("opponent"), number("hand") - 1, number("step"));
}

function showTip(event) {
  const text = event.target.dataset?.tip;
  at("tip").classList.toggle("shown", Boolean(text));
  if (!text) return;
  at("tip").textContent = text;
  const { width, height } = at("tip").getBoundingClientRect();
  const left = Math.min(Math.max(event.clientX - width / 2, 6), innerWidth - width - 6);
  const top = event.clientY - height - 12 < 6 ? event.clientY + 18 : event.clientY - height - 12;
  at("tip").style.transform = `translate(${left}px, ${top}px)`;
}

document.addEventListener("pointermove", showTip);
document.addEventListener("pointerdown", showTip);
document.addEventListener("scroll", () => at("tip").classList.remove("shown"), { passive: true });
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
  const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -1000, End: 1000 }[event.key];
  if (steps === undefined) return;
  event.preventDefault();
  viewer.pause();
  viewer.by(steps);
});
window.addEventListener("hashchange", fromHash);
let width = document.documentElement.clientWidth;
window.addEventListener("resize", () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  drawCharts();
  viewer.goTo(viewer.hand, viewer.step);
});

header();
fromHash();
