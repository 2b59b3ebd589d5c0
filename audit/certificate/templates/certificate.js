"use strict";
// Filters: a row and its article are shown together. The articles of many checks are compressed: each is made when it
// is opened, and those of all rows that are shown when the page is printed.
(() => {
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const packed = document.getElementById("packed");
  const rows = Array.from(document.querySelectorAll("#overview tr[data-outcome]"), (row, index) => {
    const link = row.querySelector("a"), { mechanism, kind } = row.dataset;
    const paper = row.lastElementChild.textContent, name = link.textContent.toLowerCase();
    return { row, index, id: link.hash.slice(1), article: document.getElementById(link.hash.slice(1)), name, paper, mechanism, kind };
  });
  let sections = packed ? null : [];
  const unpacked = packed ? unpack(packed.textContent).then((texts) => { sections = texts; }) : Promise.resolve();

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function fill(entry) {
    if (entry.article || !sections) { return; }
    const next = rows.find((other) => other.index > entry.index && other.article);
    entry.article = document.createElement("article");
    entry.article.id = entry.id;
    entry.article.innerHTML = sections[entry.index];
    (next ? next.article : packed).before(entry.article);
  }

  function wanted(chosen) {
    const outcomes = new Set(chosen.getAll("outcome"));
    const name = chosen.get("name").trim().toLowerCase();
    const picks = ["paper", "mechanism", "kind"].filter((key) => chosen.get(key));
    return (entry) =>
      outcomes.has(entry.row.dataset.outcome) &&
      (!chosen.has("unmet") || "unmet" in entry.row.dataset) &&
      picks.every((key) => entry[key] === chosen.get(key)) &&
      entry.name.includes(name);
  }

  function apply() {
    const fits = wanted(new FormData(form));
    let count = 0;
    for (const entry of rows) {
      const visible = fits(entry);
      entry.row.hidden = !visible;
      if (entry.article) { entry.article.hidden = !visible; }
      count += visible;
    }
    shown.textContent = `${count} of ${rows.length} checks shown; what is hidden is not printed.`;
  }

  async function open() {
    const entry = rows.find(({ id }) => id === location.hash.slice(1));
    if (!entry) { return; }
    await unpacked;
    fill(entry);
    if (entry.row.hidden) { form.reset(); }
    setTimeout(() => { apply(); entry.article.scrollIntoView(); });
  }

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  addEventListener("hashchange", open);
  addEventListener("beforeprint", () => { rows.filter(({ row }) => !row.hidden).forEach(fill); apply(); });
  apply();
  open();
})();
