// What the page asks the house, and what it keeps of it: language, texts, tokens of seats.

const kept = window.localStorage;

export const state = { language: kept.getItem("language") || guessed(), texts: {} };

function guessed() {
  const wish = (navigator.language || "en").slice(0, 2);
  return ["uk", "ru"].includes(wish) ? wish : "en";
}

export function setLanguage(language) {
  state.language = language;
  kept.setItem("language", language);
  document.documentElement.lang = language;
}

// A text of the page in the chosen language, its {places} filled in.
export function say(text, values = {}) {
  const said = state.texts[text] || text;
  return said.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}

export const tokenOf = (id) => kept.getItem(`token ${id}`) || "";
export const keepToken = (id, token) => kept.setItem(`token ${id}`, token);

export function address(path, query = {}) {
  const all = new URLSearchParams({ ...query, language: state.language });
  return `${path}?${all}`;
}

async function answer(response) {
  const said = await response.json().catch(() => ({ error: response.statusText }));
  if (!response.ok) throw new Error(said.error || response.statusText);
  return said;
}

function reach(...request) {
  return fetch(...request).catch(() => {
    throw new Error(say("The house does not answer: does trysim serve still run?"));
  });
}

export const get = async (path, query) => answer(await reach(address(path, query)));

export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return answer(await reach(address(path), { method: "POST", headers, body: JSON.stringify(body) }));
}

export async function sendFile(path, file) {
  return answer(await reach(address(path), { method: "POST", body: file }));
}

let hiding = 0;

// Tell what went wrong, for a while; nothing stops because of it.
export function complain(error) {
  const place = document.getElementById("complaint");
  place.textContent = error.message || String(error);
  place.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => (place.hidden = true), 6000);
}

// An element: make("p", {class: "note"}, "text", child, …)
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
