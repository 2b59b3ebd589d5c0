"use strict";
// Filters: a row and its article are shown together. The articles of many checks are compressed: each is unpacked when
// it is opened, and those of all rows that are shown when the page is printed.
(() => {
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const packed = document.getElementById("packed");
  const rows = Array.from(document.querySelectorAll("#overview tbody tr"), (row, index) => {
    const link = row.querySelector("a");
    return { row, index, article: document.getElementById(link.hash.slice(1)), name: link.textContent.toLowerCase() };
  });
  let sections = packed ? null : [];
  const unpacked = packed ? unpack(packed.textContent).then((texts) => { sections = texts; }) : Promise.resolve();

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function fill(entry) {
    if (packed && !entry.article.firstChild && sections) {
      entry.article.innerHTML = sections[Number(entry.article.id.slice(1)) - 1];
    }
  }

  function wanted(chosen) {
    const verdicts = new Set(chosen.getAll("verdict"));
    const name = chosen.get("name").trim().toLowerCase();
    const picks = ["paper", "mechanism", "kind"].filter((key) => chosen.get(key));
    return (entry) =>
      verdicts.has(entry.row.dataset.verdict) &&
      (!chosen.has("unmet") || entry.row.dataset.unmet === "yes") &&
      picks.every((key) => entry.row.dataset[key] === chosen.get(key)) &&
      entry.name.includes(name);
  }

  function apply() {
    const fits = wanted(new FormData(form));
    let count = 0;
    for (const entry of rows) {
      const visible = fits(entry);
      entry.row.hidden = !visible;
      entry.article.hidden = !visible || !entry.article.firstChild;
      count += visible;
    }
    shown.textContent = `${count} of ${rows.length} checks shown; what is hidden is not printed.`;
  }

  async function open() {
    const entry = rows.find(({ article }) => article.id === location.hash.slice(1));
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
