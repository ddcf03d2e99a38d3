// Sample hands, step by step: both hands open, what was done, and what the policy thought of it.

const SUITS = ["♠", "♥", "♦", "♣"];
const KNOCK = 52;
const OTHER_ACTIONS = { 104: "draw", 105: "take", 106: "pass", 107: "big gin" };

const isRed = (card) => [1, 2].includes(Math.floor(card / 13));
const face = (card) => RANKS[card % 13] + SUITS[Math.floor(card / 13)];

function cardElement(card, marks = {}) {
  const classes = ["card", isRed(card) ? "red" : "", marks.fresh ? "new" : "", marks.known ? "known" : ""];
  return make("div", { class: classes.filter(Boolean).join(" "), title: marks.known ? "known to the other player" : null },
    RANKS[card % 13], make("span", {}, SUITS[Math.floor(card / 13)]));
}

/** An action's name with its card in the colour of its suit. */
function actionName(action) {
  if (action >= 2 * KNOCK) return [OTHER_ACTIONS[action]];
  const card = action % KNOCK;
  return [action < KNOCK ? "discard " : "knock ", make("span", { class: isRed(card) ? "suit-red" : "" }, face(card))];
}

class HandViewer {
  /** `moved` is told the number of the hand and of the step whenever either changes. */
  constructor(list, box, moved) {
    Object.assign(this, { list, box, moved, hands: [], names: [], hand: 0, step: 0, timer: null });
  }

  show(hands, names, hand = 0, step = 0) {
    this.pause();
    Object.assign(this, { hands, names });
    this.list.replaceChildren(...hands.map((one, number) => this.chip(one, number)));
    this.goTo(hand, step);
  }

  chip(hand, number) {
    const gain = hand.points ? ` ${hand.points > 0 ? "+" : "−"}${Math.abs(hand.points)}` : "";
    const side = hand.winner === null ? "nobody" : SIDES[hand.winner];
    return make("button", { type: "button", "aria-pressed": "false", onclick: () => { this.pause(); this.goTo(number, 0); } },
      `${number + 1} · ${hand.result}`, make("b", { class: side }, gain));
  }

  goTo(hand, step) {
    if (!this.hands.length) return this.box.replaceChildren(make("p", { class: "note" }, "No hands were recorded."));
    this.hand = Math.min(Math.max(hand, 0), this.hands.length - 1);
    this.step = Math.min(Math.max(step, 0), this.last);
    if (this.step === this.last) this.pause();
    [...this.list.children].forEach((chip, number) => chip.setAttribute("aria-pressed", number === this.hand));
    this.draw();
    this.moved(this.hand, this.step);
  }

  by(steps) { this.goTo(this.hand, this.step + steps); }

  get last() { return this.hands[this.hand].steps.length - 1; }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
  }

  play() {
    if (this.timer) this.pause();
    else {
      if (this.step === this.last) this.step = 0;
      this.timer = setInterval(() => this.by(1), 900);
    }
    this.draw();
  }

  draw() {
    const focused = this.box.contains(document.activeElement) ? document.activeElement.id : "";
    const hand = this.hands[this.hand];
    const step = hand.steps[this.step];
    this.box.replaceChildren(
      make("div", {}, this.table(hand, step), this.controls()),
      make("div", { class: "side" }, this.thoughts(hand, step), this.curve(hand)),
    );
    this.drawCurve(hand);
    if (focused) document.getElementById(focused)?.focus();
  }

  table(hand, step) {
    const before = hand.steps[this.step - 1];
    const fresh = before && before.drawn.length && step.mover !== null ? before.drawn : [];
    const seat = (side) => [this.who(hand, step, side), this.cards(step.hands[side], fresh)];
    return make("div", { class: "felt" }, ...seat(1), this.middle(step), ...seat(0), this.says(hand, step));
  }

  who(hand, step, side) {
    return make("div", { class: step.mover === side ? "who turn" : "who", "data-side": SIDES[side] },
      make("b", {}, this.names[side]), make("i", { class: "deadwood" }, `deadwood ${step.hands[side].deadwood}`),
      hand.dealer === side ? make("i", {}, "dealer") : null);
  }

  cards(held, fresh) {
    const one = (card) => cardElement(card, { fresh: fresh.includes(card), known: held.known.includes(card) });
    const groups = held.melds.map((meld) => make("div", { class: "meld" }, ...meld.map(one)));
    if (held.loose.length) groups.push(make("div", { class: "loose" }, ...held.loose.map(one)));
    if (held.laid.length) groups.push(make("div", { class: "meld laid", title: "laid off" }, ...held.laid.map(one)));
    return make("div", { class: "hand" }, ...groups);
  }

  middle(step) {
    const top = step.pile.at(-1);
    const below = step.pile.slice(0, -1).reverse().map((card) => make("span", {}, face(card)));
    return make("div", { class: "middle" },
      make("div", { class: "card back", title: `${step.stock} cards in the stock` }, step.stock),
      top === undefined ? make("div", { class: "card none", title: "the pile is empty" }) : cardElement(top),
      step.down < 0 ? null : make("div", { class: "card back", title: `thrown face down: ${face(step.down)}` }, face(step.down)),
      make("div", { class: "below" }, below.length ? "under it:" : "", ...below));
  }

  says(hand, step) {
    if (step.mover !== null) {
      return make("div", { class: "says" }, make("b", {}, this.names[step.mover]), ` ${step.says}`);
    }
    if (hand.winner === null) return make("div", { class: "says" }, "The hand is void: nobody scores.");
    const result = hand.result === "undercut" ? "undercuts the knock" : `wins with a ${hand.result}`;
    return make("div", { class: "says" }, make("b", {}, this.names[hand.winner]),
      ` ${hand.result === "undercut" ? result : result.replace("a gin", "gin").replace("a big gin", "big gin")}: ${Math.abs(hand.points)} points`);
  }

  controls() {
    const button = (id, label, text, to, off) => make("button", { type: "button", id, "aria-label": label, title: label, onclick: to, disabled: off ? "" : null }, text);
    const go = (steps) => () => { this.pause(); this.by(steps); };
    return make("div", { class: "controls" },
      button("first", "to the deal", "⏮", go(-1000), this.step === 0),
      button("back", "one step back", "◀", go(-1), this.step === 0),
      button("play", this.timer ? "pause" : "play", this.timer ? "❚❚" : "▶ play", () => this.play(), false),
      button("next", "one step on", "▶", go(1), this.step === this.last),
      button("end", "to the end", "⏭", go(1000), this.step === this.last),
      make("input", {
        type: "range", id: "slider", min: 0, max: this.last, value: this.step, "aria-label": "step",
        oninput: (event) => { this.pause(); this.goTo(this.hand, Number(event.target.value)); },
      }),
      make("output", {}, `${this.step} / ${this.last}`));
  }

  /** The probabilities of a policy that explains itself; of others, the choice alone. */
  thoughts(hand, step) {
    if (step.mover === null) return this.settlement(hand, step);
    const rows = step.probabilities ?? [[step.action, null]];
    const items = rows.map(([action, share]) => make("li", { class: action === step.action ? "chosen" : "" },
      make("span", { class: "what" }, ...actionName(action)),
      share === null ? "" : make("div", { class: "bar" }, make("div", { style: `width:${(100 * share).toFixed(1)}%` })),
      make("span", { class: "percent" }, share === null ? "" : percent(share))));
    const value = step.value === undefined ? null
      : make("p", { class: "note value" }, `value ${step.value.toFixed(2).replace("-", "−")} ${hand.unit}`);
    return this.panel(SIDES[step.mover], `Turn ${step.turn}, ${this.names[step.mover]}: ${step.phase}`, items, value);
  }

  settlement(hand, step) {
    const items = this.names.map((name, side) => make("li", { class: SIDES[side] },
      make("span", { class: "what" }, name), make("span"), make("span", { class: "percent" }, String(step.hands[side].deadwood))));
    const laid = step.hands.some((held) => held.laid.length) ? " after layoffs" : "";
    return this.panel("", `The hand is over: deadwood${laid}`, items, null);
  }

  panel(side, title, items, below) {
    return make("figure", { class: side }, make("figcaption", { class: "ink" }, make("h3", {}, title)),
      make("ul", { class: "actions" }, ...items), below);
  }

  curve(hand) {
    const valued = hand.steps.some((step) => step.value !== undefined);
    return make("figure", {}, make("figcaption", {},
      make("h3", {}, valued ? "Value through the hand" : "Deadwood through the hand"),
      valued ? make("p", {}, `What is expected at each own decision, in ${hand.unit}.`) : null), make("div", { class: "chart", id: "curve" }));
  }

  drawCurve(hand) {
    const valued = hand.steps.some((step) => step.value !== undefined);
    const series = SIDES.map((_, side) => hand.steps
      .map((step, number) => [number, valued ? (step.mover === side ? step.value : undefined) : step.hands[side].deadwood])
      .filter(([, value]) => value !== undefined)).filter((line) => line.length);
    const sides = SIDES.map((_, side) => side).filter((side) => !valued || hand.steps.some((step) => step.mover === side && step.value !== undefined));
    const values = series.flat().map(([, value]) => value);
    const low = Math.min(0, ...values), high = Math.max(valued ? 0.01 : 10, ...values);
    const chart = canvas(document.getElementById("curve"), 150, { left: 38, right: 8, top: 8, bottom: 8 }, "Curve of this hand");
    const x = scale(0, Math.max(1, this.last), chart.left, chart.right);
    const y = scale(low, high, chart.bottom, chart.top);
    rules(chart, ticks(high, 3, low), y, (value) => String(Number(value.toFixed(2))).replace("-", "−"));
    series.forEach((line, place) => {
      chart.add("path", { class: `curve ${SIDES[sides[place]]}`, d: `M${line.map(([n, value]) => `${x(n).toFixed(1)},${y(value).toFixed(1)}`).join("L")}` });
    });
    series.forEach((line, place) => line.forEach(([n, value]) => {
      chart.add("circle", { class: `fill ${SIDES[sides[place]]}`, cx: x(n), cy: y(value), r: n === this.step ? 5 : 2.5 });
    }));
    chart.add("line", { class: "now", x1: x(this.step), x2: x(this.step), y1: chart.top, y2: chart.bottom });
    const hit = chart.add("rect", { class: "hit", x: chart.left, y: 0, width: chart.right - chart.left, height: chart.height });
    hit.addEventListener("click", (event) => {
      const box = chart.svg.getBoundingClientRect();
      const place = ((event.clientX - box.left) * chart.width) / box.width;
      this.pause();
      this.goTo(this.hand, Math.round(((place - chart.left) / (chart.right - chart.left)) * this.last));
    });
  }
}
