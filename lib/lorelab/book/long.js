// A table or code that is long shows its first part, and a button below it shows all: a box that
// scrolls within the page hides what it cuts. Without scripts, and in print, all of it stands there.
(() => {
  "use strict";
  const LONG = 26; // rem; a little more than the part (lorelab.css) is shown whole
  // Several titled tables stand whole, as the later ones would hide; and a cell tagged `whole`.
  const BOXES = [
    ".bd-article div.highlight pre",
    ".bd-article .cell_output .text_html:has(> div > table.dataframe):not(:has(> p))",
    ".bd-article .ledger",
  ];
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);

  const open = box => {
    box.nextElementSibling.remove();
    box.classList.remove("lorelab-long");
  };

  function shorten(box) {
    // What is folded away has no height: it is looked at when it opens.
    if (box.dataset.looked || !box.offsetHeight || box.closest(".tag_whole .cell_output")) return;
    box.dataset.looked = "";
    if (box.offsetHeight <= LONG * rem) return;
    const rows = box.querySelectorAll("tbody tr").length;
    const button = document.createElement("button");
    button.className = "lorelab-all";
    button.textContent = rows
      ? `Show all ${rows} rows`
      : `Show all ${box.textContent.trimEnd().split("\n").length} lines`;
    button.onclick = () => open(box);
    box.classList.add("lorelab-long");
    box.after(button);
    // A search in the page, or the tabulator, that leads to what is not shown moves the box.
    box.addEventListener("scroll", () => box.scrollTop && box.matches(".lorelab-long") && open(box));
  }

  const look = () => document.querySelectorAll(BOXES.join()).forEach(shorten);
  function follow() {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const box = place && place.closest(".lorelab-long");
    if (box) open(box);
    if (box) place.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  document.addEventListener("toggle", look, true);
  addEventListener("DOMContentLoaded", () => {
    look();
    follow();
  });
})();
