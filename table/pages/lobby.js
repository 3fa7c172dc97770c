// The lobby: begin a table, sit down at one, watch one, or open a file of records.

import { complain, keepToken, make, post, say, sendFile, tokenOf } from "./api.js";

export function showLobby(main, house) {
  main.append(
    make("div", { class: "lobby" }, newTable(house), make("div", {}, tables(house), files())),
  );
  return () => {};
}

function newTable(house) {
  const choice = select(house.games.map((game) => [game.name, game.title]), "semerik");
  choice.id = "game";
  const details = make("div", {});
  const form = make(
    "form",
    { class: "card-form", id: "new-table" },
    make("h2", {}, say("A new table")),
    field(say("which game"), choice),
    details,
    make("button", { class: "main", type: "submit" }, say("Begin")),
  );
  const fill = () => details.replaceChildren(...fields(house, gameOf(house, choice.value)));
  choice.addEventListener("change", fill);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(form, gameOf(house, choice.value)).catch(complain);
  });
  fill();
  return form;
}

const gameOf = (house, name) => house.games.find((game) => game.name === name);

function fields(house, game) {
  const seats = make("fieldset", { class: "seats" }, make("legend", {}, say("seats")));
  const people = game.options.find((option) => option.name === "num_players");
  const count = people ? select(range(people.low, people.high, people.choices), people.default) : null;
  const setSeats = () => {
    const n = count ? Number(count.value) : game.seats;
    const before = [...seats.querySelectorAll("input")].map((input) => input.value);
    seats.replaceChildren(make("legend", {}, say("seats")));
    for (let seat = 0; seat < n; seat += 1) {
      seats.append(seatField(seat, before[seat] || (seat ? `policy:${game.name}` : "human")));
    }
  };
  if (count) {
    count.name = "option num_players";
    count.addEventListener("change", setSeats);
  }
  setSeats();
  const more = make("details", { id: "rules" }, make("summary", {}, say("rules and pace")));
  more.addEventListener("invalid", () => (more.open = true), true); // or nobody sees what is wrong
  for (const option of game.options) if (option.name !== "num_players") more.append(optionField(option));
  more.append(
    field(say("seconds between agents' moves"), input("pace", "0.8", "number", { min: 0, max: 10, step: "any" })),
    field(say("seed"), input("seed", "", "text", { placeholder: say("by lot"), inputmode: "numeric" })),
  );
  const list = make("datalist", { id: "agents" });
  const known = ["human", ...house.agents.map((a) => (a === "policy" ? `policy:${game.name}` : a === "search" ? `search:policy=${game.name}` : a))];
  list.append(...known.map((agent) => new Option(agent)));
  return [howItIsPlayed(house, game.name), count ? field(say("players"), count) : null, seats, list, more].filter(Boolean);
}

export function howItIsPlayed(house, name) {
  const texts = gameOf(house, name).how_to_play.map((text) => make("p", { class: "how" }, say(text)));
  return make("details", {}, make("summary", {}, say("How it is played")), texts);
}

function seatField(seat, value) {
  const box = input(`seat ${seat}`, value, "text", { list: "agents", autocomplete: "off", spellcheck: "false" });
  return field(`${say("seat")} ${seat + 1}`, box);
}

const range = (low, high, choices) =>
  (choices.length ? choices : Array.from({ length: high - low + 1 }, (_, k) => low + k)).map((v) => [v, v]);

function optionField(option) {
  const name = `option ${option.name}`;
  let control;
  if (option.choices.length) {
    control = select(option.choices.map((choice) => [JSON.stringify(choice), String(choice)]), JSON.stringify(option.default));
    control.name = name;
  } else {
    const shown = option.default === null ? "" : option.default;
    control = input(name, shown, "number", { min: option.low, max: option.high, placeholder: say("by lot") });
  }
  const meaning = say(option.meaning);
  control.title = meaning;
  return make("div", {}, field(option.name, control), make("p", { class: "meaning" }, meaning));
}

function field(label, control) {
  return make("label", { class: "field" }, make("span", {}, label), control);
}

function input(name, value, type, more = {}) {
  return make("input", { name, value, type, ...more });
}

function select(choices, chosen) {
  const element = make("select", {}, choices.map(([value, label]) => new Option(label, value)));
  element.value = chosen;
  return element;
}

async function begin(form, game) {
  const options = {};
  for (const option of game.options) {
    const control = form.elements[`option ${option.name}`];
    if (!control || control.value === "") continue;
    options[option.name] = option.choices.length && option.name !== "num_players" ? JSON.parse(control.value) : Number(control.value);
  }
  const seats = [...form.querySelectorAll(".seats input")].map((box) => box.value.trim());
  const body = { game: game.name, options, seats, pace: Number(form.elements.pace.value) };
  const seed = form.elements.seed.value.trim();
  if (seed) body.seed = /^\d+$/.test(seed) ? Number(seed) : seed;
  const button = form.querySelector("button.main");
  button.disabled = true;
  button.textContent = say("Preparing the agents …");
  const table = await post("/api/tables", body).finally(() => {
    button.disabled = false;
    button.textContent = say("Begin");
  });
  const first = table.is_person.indexOf(true);
  if (first >= 0) await sit(table.id, first);
  location.hash = first >= 0 ? `#/t/${table.id}` : `#/w/${table.id}/0`;
}

export async function sit(id, seat) {
  const taken = await post(`/api/tables/${id}/seats/${seat}`, {});
  keepToken(id, taken.token);
}

function tables(house) {
  const lines = (over) => make("ul", { class: "tables" }, house.tables.filter((table) => table.over === over).map(tableLine));
  const n = house.tables.filter((table) => table.over).length;
  const nothing = house.tables.length ? null : make("p", { class: "quiet" }, say("There is no table yet."));
  const finished = n ? make("details", { open: n < 6 }, make("summary", {}, say("Finished: {n}", { n })), lines(true)) : null;
  return make("section", { class: "card-form" }, make("h2", {}, say("Tables")), nothing, lines(false), finished);
}

function tableLine(table) {
  const who = table.seats.join(" · ");
  const mine = Boolean(tokenOf(table.id));
  const free = table.is_person.some((is, seat) => is && !table.taken[seat]);
  const what = table.over ? say("over") : `${table.decisions} ${say("moves")}`;
  const play = !table.over && (mine || free)
    ? make("a", { class: "button", href: `#/t/${table.id}` }, mine ? say("Go on") : say("Sit down"))
    : null;
  const watch = make("a", { class: "button", href: table.over || !table.is_person.includes(true) ? `#/w/${table.id}/0` : `#/t/${table.id}` }, say("Watch"));
  return make("li", {}, make("b", {}, table.title), make("span", {}, who), make("span", { class: "quiet" }, what), play, watch);
}

function files() {
  const file = make("input", { type: "file", id: "records", accept: ".jsonl,.json" });
  file.addEventListener("change", async () => {
    try {
      const [first] = await sendFile("/api/records", file.files[0]);
      location.hash = `#/w/${first.id}/0`;
    } catch (error) {
      complain(error);
    }
  });
  return make(
    "section",
    { class: "card-form" },
    make("h2", {}, say("Watch a record")),
    make("p", { class: "quiet" }, say("A file that trysim record or a finished match has written.")),
    make("label", { class: "field" }, make("span", {}, say("file")), file),
  );
}
