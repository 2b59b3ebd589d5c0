// What the theme leaves out for keyboards and screen readers: levels of captions, names of sidebars, focus of what scrolls.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[role=heading]:not([aria-level])").forEach((caption) => { caption.ariaLevel = 2; });
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "sections of this page");
  const focus = (part) => { if (part.scrollWidth > part.clientWidth) part.tabIndex = 0; };
  const all = () => document.querySelectorAll("pre, .table-wrapper").forEach(focus);
  all();
  window.addEventListener("resize", all);
});
