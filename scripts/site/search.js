// Finds the sections that have all words of the query: those with the words in their headings first, decisions last.
"use strict";
const input = document.getElementById("search"), results = document.getElementById("found");
const limit = 30, around = 80;

function score(entry, words) {
  const title = (entry.p + " " + entry.t).toLowerCase(), body = entry.x.toLowerCase();
  let points = entry.u.startsWith("docs/decisions/") ? -words.length : 0;
  for (const word of words) {
    if (entry.t.toLowerCase().includes(word)) points += 4;
    else if (title.includes(word)) points += 2;
    else if (body.includes(word)) points += 1;
    else return null;
  }
  return points;
}

function excerpt(entry, words) {
  const at = entry.x.toLowerCase().indexOf(words.find(w => entry.x.toLowerCase().includes(w)) ?? "");
  const from = Math.max(0, at - around);
  return (from > 0 ? "…" : "") + entry.x.slice(from, at + 2 * around) + (entry.x.length > at + 2 * around ? "…" : "");
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(w => w);
  results.replaceChildren();
  results.hidden = words.length === 0;
  if (results.hidden) return;
  const found = searchIndex.map(e => [score(e, words), e]).filter(([points]) => points !== null);
  found.sort((a, b) => b[0] - a[0]);
  const add = (parent, name, text) => {
    const e = parent.appendChild(document.createElement(name));
    e.textContent = text;
    return e;
  };
  for (const [, entry] of found.slice(0, limit)) {
    const p = add(results, "p", "");
    const a = add(p, "a", entry.t === entry.p ? entry.p : entry.p + ": " + entry.t);
    a.href = top_ + entry.u;
    a.onclick = () => { results.hidden = true; };
    add(p, "br", "");
    add(p, "small", excerpt(entry, words));
  }
  if (found.length !== 0 && found.length <= limit) return;
  add(results, "p", found.length === 0 ? "Nothing was found." : "Only the first " + limit + " are listed.");
}

input.addEventListener("input", show);
