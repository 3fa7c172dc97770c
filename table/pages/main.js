// Which page is shown: the lobby (#/), a table (#/t/ID), a moment of it (#/w/ID/NUMBER?seat=…).

import { complain, get, setLanguage, state, say } from "./api.js";
import { showLobby } from "./lobby.js";
import { showTable } from "./table.js";
import { showWatch } from "./watch.js";

let leave = () => {};

async function show() {
  leave();
  leave = () => {};
  const main = document.getElementById("main");
  const [path, query] = location.hash.slice(1).split("?");
  const [, kind, id, number] = path.split("/");
  document.getElementById("title").textContent = "";
  let house;
  try {
    house = await get("/api/house");
    state.texts = house.texts;
    sayAll(house);
    main.replaceChildren();
    if (kind === "t" && id) leave = await showTable(main, id, house);
    else if (kind === "w" && id) leave = await showWatch(main, id, Number(number) || 0, query, house);
    else leave = showLobby(main, house);
  } catch (error) {
    complain(error);
    main.replaceChildren();
    if (house) leave = showLobby(main, house);
  }
}

function sayAll(house) {
  document.documentElement.lang = state.language;
  for (const element of document.querySelectorAll("[data-say]")) {
    if (!element.classList.contains("home")) element.textContent = say(element.dataset.say);
  }
  const select = document.getElementById("language");
  select.replaceChildren(
    ...Object.entries(house.languages).map(([code, name]) => new Option(name, code)),
  );
  select.value = state.language;
}

document.getElementById("language").addEventListener("change", (event) => {
  setLanguage(event.target.value);
  show();
});
window.addEventListener("hashchange", show);
show();
