"use strict";
// Filters: a row and its article are shown together. Without this script everything is shown, and nothing is missing.
(() => {
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const rows = Array.from(document.querySelectorAll("#overview tbody tr"), (row) => {
    const link = row.querySelector("a");
    return { row, article: document.getElementById(link.hash.slice(1)), name: link.textContent.toLowerCase() };
  });

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
      entry.row.hidden = entry.article.hidden = !visible;
      count += visible;
    }
    shown.textContent = `${count} of ${rows.length} checks shown; what is hidden is not printed.`;
  }

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  addEventListener("hashchange", () => {
    const article = document.getElementById(location.hash.slice(1));
    if (article?.hidden) { form.reset(); setTimeout(() => article.scrollIntoView()); }
  });
  apply();
})();
