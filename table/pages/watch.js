// Watching: any moment of a table, back and forth, with what agents think of each decision.

import { complain, get, make, say, tokenOf, address } from "./api.js";
import { cardName, drawTable, headline } from "./draw.js";
import { hintTold, numberTold } from "./table.js";

export async function showWatch(main, id, first, query, house) {
  const token = tokenOf(id);
  const about = await get(`/api/tables/${id}`, { token });
  const place = make("div", {});
  const status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const thoughts = make("section", { class: "thoughts" });
  let number = first;
  let length = about.decisions;
  let eyes = new URLSearchParams(query || "").get("seat") || "";
  let agent = "";
  let playing = 0;
  let asked = 0;

  const slider = make("input", { type: "range", min: 0, max: length, value: number, "aria-label": say("moment"), oninput: () => go(Number(slider.value)) });
  const shown = make("output", {}, "");
  const auto = make("button", { type: "button", class: "main", onclick: toggle }, say("Play"));
  const seats = make("select", { "aria-label": say("seen by"), onchange: () => ((eyes = seats.value), go(number)) }, new Option(say("all hands"), ""), about.seats.map((name, seat) => new Option(say("{player} only", { player: name }), seat)));
  const who = make("input", { list: "watch-agents", placeholder: say("who decided"), "aria-label": say("who is asked"), onchange: () => ((agent = who.value.trim()), go(number)) });
  const list = make("datalist", { id: "watch-agents" }, house.agents.map((name) => new Option(name === "policy" ? `policy:${about.game}` : name === "search" ? `search:policy=${about.game}` : name)));
  const step = (by, label, sign) => make("button", { type: "button", "aria-label": label, title: label, onclick: () => go(number + by) }, sign);
  const deal = (by, label, sign) => make("button", { type: "button", "aria-label": label, title: label, onclick: () => otherDeal(by) }, sign);
  const save = make("a", { class: "button", href: `/api/tables/${id}/record`, download: true, hidden: !about.over }, say("Save the record"));
  seats.value = eyes;
  const bar = make(
    "div",
    { class: "bar watch" },
    deal(-1, say("deal before"), "«"), step(-1, say("back"), "‹"), auto, step(1, say("forth"), "›"), deal(1, say("next deal"), "»"),
    slider, shown, seats, make("span", { class: "hint" }, who, list),
    make("button", { type: "button", onclick: link }, say("Copy the link to this moment")),
    save,
  );
  main.append(status, place, bar);

  const lookAgain = async () => Object.assign(about, await get(`/api/tables/${id}`, { token }));

  async function otherDeal(by) {
    if (!about.over) await lookAgain(); // deals have begun since
    const that = about.deals.filter((start) => (by < 0 ? start < number : start > number));
    return go(that.length ? that[by < 0 ? that.length - 1 : 0] : by < 0 ? 0 : length);
  }

  function showPlace() {
    slider.max = length;
    slider.value = number;
    shown.textContent = `${number} / ${length}`;
  }

  async function go(to) {
    number = Math.max(0, Math.min(length, to));
    showPlace();
    const mine = (asked += 1);
    try {
      const query = eyes === "" ? { token } : { token, seat: eyes };
      const seen = await get(`/api/tables/${id}/moments/${number}`, query);
      if (mine !== asked) return; // somebody has gone on since
      seen.you = null;
      show(seen);
      document.getElementById("title").textContent = headline(seen);
      status.textContent = toldOf(seen);
      history.replaceState(null, "", here());
      await think(seen, mine);
    } catch (error) {
      complain(error);
      stop();
    }
  }

  function show(seen, marks = {}) {
    const table = drawTable(seen, null, marks);
    table.querySelector(".panel").append(thoughts);
    place.replaceChildren(table);
  }

  const here = () => `#/w/${id}/${number}${eyes === "" ? "" : `?seat=${eyes}`}`;

  function toldOf(seen) {
    if (!seen.decision) return seen.table.over ? seen.table.result : say("{player} is to act.", { player: seen.table.seats[seen.table.turn].name });
    const { seat, action } = seen.decision;
    return say("{player} decides: {action}", { player: seen.table.seats[seat].name, action: labelOf(seen, action) });
  }

  const labelOf = (seen, action) => (action.length === 2 ? cardName(action) : seen.table.actions[action] || action);

  async function think(seen, mine) {
    if (!seen.decision || (eyes !== "" && Number(eyes) !== seen.decision.seat)) return thoughts.replaceChildren();
    if (!agent && seen.is_person[seen.decision.seat]) return thoughts.replaceChildren();
    let thought;
    try {
      thought = await get(`/api/tables/${id}/moments/${number}/thought`, agent ? { agent } : {});
    } catch (error) {
      return mine === asked && thoughts.replaceChildren(make("p", { class: "quiet" }, error.message));
    }
    if (mine !== asked) return null;
    const told = hintTold(thought);
    show(seen, told.marks);
    return thoughts.replaceChildren(...bars(thought, seen, told));
  }

  function bars(thought, seen, told) {
    const numbers = thought.numbers.map(([, , value]) => value);
    const [low, high] = [Math.min(0, ...numbers), Math.max(...numbers)];
    const rows = thought.numbers.slice(0, 14).map(([action, label, value]) => {
      const width = `${Math.max(2, (100 * (value - low)) / (high - low || 1))}%`;
      const taken = action === seen.decision.action;
      return make("tr", { class: taken ? "taken" : "" }, make("th", { scope: "row" }, (taken ? "▶ " : "") + (action.length === 2 ? cardName(action) : label)), make("td", {}, make("span", { class: "amount", style: `width:${width}` })), make("td", { class: "number" }, numberTold(thought.kind, value)));
    });
    return [make("h3", {}, told.text.split(" (")[0] + (thought.value === null ? "" : ` · ${told.text.split(" · ").pop()}`)), rows.length ? make("table", {}, rows) : null].filter(Boolean);
  }

  function toggle() {
    if (playing) return stop();
    playing = setInterval(() => (number < length ? go(number + 1) : about.over && stop()), 900);
    auto.textContent = say("Pause");
    return null;
  }

  function stop() {
    clearInterval(playing);
    playing = 0;
    auto.textContent = say("Play");
  }

  async function link() {
    const whole = location.href.split("#")[0] + here();
    await navigator.clipboard?.writeText(whole).catch(() => {});
    complain(new Error(whole));
  }

  function keys(event) {
    if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName) && event.key === " ") return;
    if (event.target.tagName === "INPUT") return;
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (way) go(number + way);
    else if (event.key === " ") toggle();
    else return;
    event.preventDefault();
  }

  window.addEventListener("keydown", keys);
  const stream = about.over ? null : new EventSource(address(`/api/tables/${id}/events`, { token }));
  if (stream) stream.onmessage = (event) => goOn(JSON.parse(event.data)).catch(complain);

  // A live match has moved on: whoever sees its last moment sees the new one.
  async function goOn(now) {
    const isLast = number === length;
    length = now.moment;
    if (now.broken) complain(new Error(now.broken));
    if (now.over) stream.close();
    if (now.over) await lookAgain();
    save.hidden = !about.over;
    if (isLast) await go(length);
    else showPlace();
  }

  await go(number);
  return () => {
    stop();
    window.removeEventListener("keydown", keys);
    if (stream) stream.close();
  };
}
