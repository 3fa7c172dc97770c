// Draws a table from what the house says of it; knows no rules.

import { make, say, state } from "./api.js";

const SIGNS = { C: "♣", D: "♦", H: "♥", S: "♠" };
const RANKS = { J: "В", Q: "Д", K: "К", A: "Т" };
const PLACES = {
  2: ["own", "top"],
  3: ["own", "topleft", "topright"],
  4: ["own", "left", "top", "right"],
  5: ["own", "left", "topleft", "topright", "right"],
};

const letters = () => (state.language === "en" ? "latin" : "cyrillic");

// A card for the eyes and for a screen reader: 10♥, К♠.
export function cardName(card) {
  const rank = card[0] === "T" ? "10" : state.language === "en" ? card[0] : RANKS[card[0]] || card[0];
  return rank + SIGNS[card[1]];
}

function svg(symbol, className) {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("class", className);
  picture.setAttribute("viewBox", symbol.startsWith("suit") ? "0 0 24 24" : "0 0 100 142");
  picture.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `/cards.svg?letters=${letters()}#${symbol}`);
  picture.append(use);
  return picture;
}

export const cardPicture = (card) => svg(card || "back", "card");

function faceUp(card, more = "") {
  const name = cardName(card);
  return make("span", { class: `face ${more}`, role: "img", "aria-label": name, title: name }, cardPicture(card));
}

// The whole table. `play(action)` is called for what the person chooses; without it nothing can be
// chosen. `marks` are numbers to show beside actions.
export function drawTable(seen, play = null, marks = {}) {
  const table = seen.table;
  const n = table.seats.length;
  const bottom = table.seat === null || table.seat < 0 ? 0 : table.seat;
  const felt = make("div", { class: `felt n${n}` });
  for (let k = 0; k < n; k += 1) {
    const seat = table.seats[(bottom + k) % n];
    felt.append(drawSeat(seat, PLACES[n][k], seen, play, marks));
  }
  felt.append(drawCentre(seen, bottom, play));
  return make("section", { class: "table" }, felt, drawPanel(seen));
}

// Seats --------------------------------------------------------------------------------------------
function drawSeat(seat, place, seen, play, marks) {
  const table = seen.table;
  const mine = play !== null && seen.you === seat.seat;
  const plate = make(
    "div",
    { class: "plate" },
    seat.to_act ? make("span", { class: "turn", "aria-hidden": "true" }, "▶") : null,
    make("span", { class: "number" }, String(seat.seat + 1)),
    make("b", {}, mine ? `${seat.name} (${say("you")})` : seat.name),
    badge(seat.dealer, "D", say("dealer")),
    badge(seat.leader, "L", say("leader")),
    make("span", { class: "tricks", title: say("tricks") }, svg("back", "pile"), String(seat.tricks)),
  );
  const notes = [...seat.declarations, ...seat.notes];
  const classes = ["seat", place, seat.to_act ? "to-act" : "", seat.out ? "out" : "", seat.loser ? "loser" : ""];
  return make(
    "div",
    { class: classes.join(" "), "data-seat": seat.seat },
    plate,
    notes.length ? make("p", { class: "notes" }, notes.join(" · ")) : null,
    mine ? ownHand(seat, seen, play, marks) : otherHand(seat, table, marks),
  );
}

const badge = (holds, letter, title) =>
  holds ? make("span", { class: `badge ${letter}`, title, role: "img", "aria-label": title }, letter) : null;

function otherHand(seat, table, marks) {
  const hand = make("div", { class: seat.to_act && Object.keys(marks).length ? "hand marked" : "hand" });
  for (let k = 0; k < seat.n_hidden; k += 1) hand.append(make("span", { class: "face" }, cardPicture(null)));
  for (const card of seat.hand) {
    const legal = seat.to_act && table.legal.includes(card);
    const face = faceUp(card, legal ? "legal" : "");
    if (card in marks && seat.to_act) face.append(mark(marks[card]));
    hand.append(face);
  }
  hand.setAttribute("aria-label", say("{n} cards", { n: seat.n_hidden + seat.hand.length }));
  return hand;
}

const mark = (text) => make("span", { class: "mark" }, text);

function ownHand(seat, seen, play, marks) {
  const hand = make("div", { class: "hand own-hand", role: "group", "aria-label": say("your hand") });
  for (const card of seat.hand) {
    const why = seen.table.why_not[card];
    const button = make(
      "button",
      {
        class: why ? "face closed" : "face legal",
        type: "button",
        "data-card": card,
        "aria-label": why ? `${cardName(card)}. ${why}` : cardName(card),
        "aria-disabled": why ? "true" : "false",
        title: why || cardName(card),
        onclick: () => play(card, why),
      },
      cardPicture(card),
    );
    if (card in marks) button.append(mark(marks[card]));
    hand.append(button);
  }
  hand.addEventListener("keydown", walk);
  return hand;
}

// Arrow keys go from card to card.
function walk(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  const cards = [...event.currentTarget.querySelectorAll("button")];
  const next = cards[cards.indexOf(document.activeElement) + step];
  if (next) next.focus();
  event.preventDefault();
}

// The middle ---------------------------------------------------------------------------------------
function drawCentre(seen, bottom, play) {
  const table = seen.table;
  const centre = make("div", { class: "centre" });
  const n = table.seats.length;
  const trick = table.trick.length ? table.trick : table.phase_code === "play" ? table.last_trick : [];
  for (const played of trick) {
    const place = PLACES[n][(played.seat - bottom + n) % n];
    const face = faceUp(played.card, `from-${place} ${played.winning ? "winning" : ""} ${table.trick.length ? "" : "past"}`);
    if (played.winning) face.append(mark("★"));
    centre.append(face);
  }
  if (trick.length && !table.trick.length) centre.append(make("p", { class: "caption" }, say("last trick")));
  if (table.penalty && table.penalty.bottom) centre.append(penalty(table.penalty));
  const mine = play !== null && table.turn === seen.you && seen.you !== null;
  if (mine && table.legal.some((action) => action.length !== 2)) centre.append(choices(table, play));
  if (table.over) centre.append(ending(table));
  return centre;
}

function penalty(told) {
  const blows = told.blows ? say("blows: {n}", { n: told.blows }) : say("forgiven");
  return make("div", { class: "penalty" }, faceUp(told.bottom), make("p", {}, `${say("bottom card")} · ${blows}`));
}

// What can be chosen that is no card: trumps, declarations, the cut, strikes.
function choices(table, play) {
  const box = make("div", { class: "choices", role: "group", "aria-label": say("your choice") });
  if (table.phase_code === "cut") return cutting(table, play, box);
  for (const action of table.legal) {
    if (action.length === 2) continue;
    const suit = action.startsWith("trump:") ? svg(`suit-${action.slice(-1)}`, `suit ${action.slice(-1)}`) : null;
    box.append(
      make("button", { type: "button", class: "choice", "data-action": action, onclick: () => play(action) }, suit, table.actions[action]),
    );
  }
  return box;
}

function cutting(table, play, box) {
  const last = table.legal.length;
  const depth = make("input", { type: "range", min: 1, max: last, value: Math.ceil(last / 2), id: "depth", "aria-label": say("cards to lift") });
  const shown = make("output", { for: "depth" }, depth.value);
  depth.addEventListener("input", () => (shown.textContent = depth.value));
  box.append(depth, shown, make("button", { type: "button", class: "choice", "data-action": "cut", onclick: () => play(`cut:${depth.value}`) }, say("Cut")));
  return box;
}

function ending(table) {
  const rows = table.seats.map((seat) =>
    make("tr", {}, make("td", {}, seat.name), make("td", {}, (seat.reward > 0 ? "+" : "") + Number(seat.reward.toFixed(3)))),
  );
  return make("div", { class: "ending", role: "status" }, make("h2", {}, say("The match is over")), make("p", {}, table.result), make("table", {}, rows));
}

// The panel ----------------------------------------------------------------------------------------
function drawPanel(seen) {
  const table = seen.table;
  return make("aside", { class: "panel" }, trumps(table), score(table), standing(table), lastTrick(table));
}

function trumps(table) {
  if (!table.has_trumps || !table.deal) return null;
  const naming = table.phase_code === "name trumps";
  const shown = table.trump
    ? svg(`suit-${table.trump}`, `suit big ${table.trump}`)
    : make("span", {}, naming ? say("to be named") : say("no trumps"));
  const turned = table.trump_card ? faceUp(table.trump_card, "small") : null;
  const name = table.trump ? make("span", { class: "quiet" }, SIGNS[table.trump]) : null;
  return make("section", {}, make("h3", {}, say("trumps")), make("div", { class: "trumps" }, shown, name, turned));
}

function score(table) {
  const { columns } = table.score;
  const pairs = columns.length < table.seats.length;
  const label = (name, k) => (pairs ? `${k + 1} + ${k + 3}` : columns.length > 3 ? String(k + 1) : name);
  const head = make("tr", {}, make("th", {}), columns.map((name, k) => make("th", { scope: "col", title: name }, label(name, k))));
  const rows = table.score.rows.map(([name, numbers]) =>
    make("tr", {}, make("th", { scope: "row" }, name), numbers.map((number) => make("td", {}, String(number)))),
  );
  return make("section", {}, make("h3", {}, say("score")), make("table", { class: "score" }, make("thead", {}, head), make("tbody", {}, rows)));
}

function standing(table) {
  if (!table.standing.length) return null;
  return make("section", {}, make("h3", {}, say("match")), table.standing.map((line) => make("p", {}, line)));
}

function lastTrick(table) {
  if (!table.last_trick.length || !table.trick.length) return null;
  const cards = table.last_trick.map((played) => {
    const face = faceUp(played.card, played.winning ? "small winning" : "small");
    if (played.winning) face.append(mark("★"));
    return make("figure", {}, face, make("figcaption", {}, table.seats[played.seat].name));
  });
  return make("section", {}, make("h3", {}, say("last trick")), make("div", { class: "last" }, cards));
}

// What is going on, in a line.
export function headline(seen) {
  const table = seen.table;
  const where = table.phase_code === "play"
    ? say("deal {deal}, trick {trick} of {all}", { deal: table.deal, trick: table.trick_number, all: table.hand_size })
    : say("deal {deal}", { deal: table.deal });
  return `${table.title} · ${where}`;
}
