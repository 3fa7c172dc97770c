// A table where people play: the stream of what happens, one's own decisions, hints.

import { address, complain, get, make, post, say, tokenOf } from "./api.js";
import { cardName, drawTable, headline } from "./draw.js";
import { howItIsPlayed, sit } from "./lobby.js";

export async function showTable(main, id, house) {
  const about = await get(`/api/tables/${id}`, { token: tokenOf(id) });
  const status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const place = make("div", {});
  const bar = make("div", { class: "bar" });
  main.append(status, place, bar, howItIsPlayed(house, about.game));
  let seen = null;
  let told = null; // the hint that belongs to this moment
  let sending = false;
  let isAsking = false; // an agent for a hint

  const stream = new EventSource(address(`/api/tables/${id}/events`, { token: tokenOf(id) }));
  stream.onmessage = (event) => {
    const next = JSON.parse(event.data);
    if (!seen || next.moment !== seen.moment) told = null;
    seen = next;
    draw();
  };
  stream.onerror = () => (status.textContent = say("The connection is gone; trying again …"));

  function draw() {
    const held = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.card : null;
    place.replaceChildren(drawTable(seen, seen.you === null ? null : play, told ? told.marks : {}));
    document.getElementById("title").textContent = headline(seen);
    status.textContent = statusOf(seen);
    bar.replaceChildren(...tools());
    if (held) (place.querySelector(`[data-card="${held}"]`) || place.querySelector(".own-hand button.legal") || status).focus?.();
  }

  async function play(action, why = null) {
    if (why) return complain(new Error(why));
    if (sending) return null;
    sending = true;
    try {
      await post(`/api/tables/${id}/act`, { token: tokenOf(id), action, moment: seen.moment });
    } catch (error) {
      complain(error);
    }
    sending = false;
    return null;
  }

  function tools() {
    const found = [];
    if (seen.you === null && !seen.over) found.push(...freeSeats());
    if (seen.you !== null && seen.table.turn === seen.you) found.push(...hintTools());
    if (!seen.over) found.push(make("button", { type: "button", onclick: invite }, say("Copy the link to this table")));
    if (seen.over) {
      found.push(make("a", { class: "button main", href: `#/w/${id}/0` }, say("Watch it again")));
      found.push(make("a", { class: "button", href: `/api/tables/${id}/record`, download: true }, say("Save the record")));
      found.push(make("a", { class: "button", href: "#/" }, say("Another table")));
    }
    if (seen.broken) found.push(make("p", { class: "broken" }, seen.broken));
    return found;
  }

  function freeSeats() {
    return seen.is_person.flatMap((is, seat) => (is && !seen.taken[seat] ? [make("button", { type: "button", class: "main", "data-sit": seat, onclick: () => take(seat) }, say("Sit down at seat {seat}", { seat: seat + 1 }))] : []));
  }

  async function take(seat) {
    try {
      await sit(id, seat);
      window.dispatchEvent(new Event("hashchange")); // the stream must know who listens
    } catch (error) {
      complain(error);
    }
  }

  function hintTools() {
    const agent = make("input", { list: "hint-agents", value: localStorage.getItem(`hint ${seen.game}`) || `policy:${seen.game}`, "aria-label": say("who is asked") });
    const list = make("datalist", { id: "hint-agents" }, [`policy:${seen.game}`, `search:policy=${seen.game}`, "pimc:worlds=100", "expert"].map((spec) => new Option(spec)));
    const button = make("button", { type: "button", "data-hint": true, disabled: isAsking, onclick: () => hint(agent.value) }, isAsking ? say("Thinking …") : say("Hint"));
    return [make("span", { class: "hint" }, agent, list, button), told ? make("span", { class: "told", role: "status" }, told.text) : null].filter(Boolean);
  }

  async function hint(agent) {
    localStorage.setItem(`hint ${seen.game}`, agent);
    isAsking = true;
    draw();
    try {
      const { moment } = seen;
      const hinted = hintTold(await post(`/api/tables/${id}/hint`, { token: tokenOf(id), agent }));
      if (moment === seen.moment) told = hinted;
    } catch (error) {
      complain(error);
    }
    isAsking = false;
    draw();
  }

  async function invite() {
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    complain(new Error(say("Whoever opens {link} can take a free seat.", { link: location.href })));
  }

  document.getElementById("title").textContent = about.title;
  return () => stream.close();
}

// What an agent said, for people: a line, and a number for each action.
export function hintTold(thought) {
  const marks = Object.fromEntries(thought.numbers.map(([action, , number]) => [action, numberTold(thought.kind, number)]));
  const shown = thought.numbers.slice(0, 4).map(([action, label, number]) => `${action.length === 2 ? cardName(action) : label} ${numberTold(thought.kind, number)}`);
  const label = thought.choice.length === 2 ? cardName(thought.choice) : thought.choice_label;
  const value = thought.value === null ? "" : ` · ${say("expects {value}", { value: signed(thought.value) })}`;
  return { marks, text: `${thought.agent}: ${label}${shown.length ? ` (${shown.join(", ")})` : ""}${value}` };
}

export function numberTold(kind, number) {
  return kind === "worth" ? signed(number) : `${Math.round(number * 100)} %`;
}

const signed = (number) => (number >= 0 ? "+" : "−") + Math.abs(number).toFixed(2);

function statusOf(seen) {
  const table = seen.table;
  const last = seen.last ? `${table.seats[seen.last.seat].name}: ${seen.last.action.length === 2 ? cardName(seen.last.action) : seen.last.label}. ` : "";
  if (table.over) return last + table.result;
  if (seen.you !== null && table.turn === seen.you) return last + asked(table);
  return last + say("{player} is to act.", { player: table.seats[table.turn].name });
}

function asked(table) {
  if (table.phase_code === "name trumps") return say("Your turn: name trumps.");
  if (table.phase_code === "cut") return say("You have lost: cut the deck.");
  if (table.phase_code === "strike") return say("Your turn: strike.");
  if (table.legal.some((action) => action.length > 2)) return say("Your turn: declare, or play a card.");
  return say("Your turn: play a card.");
}
