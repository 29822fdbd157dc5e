"use strict";

// Contents are closed on small screens.
(function () {
  const contents = document.getElementById("contents");
  if (contents && window.matchMedia("(max-width: 77.99rem)").matches) contents.open = false;
})();

// A link to a folded section opens it.
(function () {
  function open() {
    const id = location.hash.slice(1).split("?")[0];
    const fold = id && document.querySelector("#" + CSS.escape(id) + ".fold > details");
    if (fold) fold.open = true;
  }
  window.addEventListener("hashchange", open);
  open();
})();

// The search box of a page of folded items shows those that have all of its words.
(function () {
  const box = document.getElementById("find");
  if (!box) return;
  const items = Array.from(document.querySelectorAll(".row"), (row) => [row, row.textContent.toLowerCase()]);
  box.addEventListener("input", function () {
    const sought = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [row, text] of items) {
      row.hidden = !sought.every((word) => text.includes(word));
      found += !row.hidden;
    }
    for (const rest of document.querySelectorAll(".rest")) rest.open = sought.length > 0;
    document.getElementById("found").textContent = sought.length
      ? found.toLocaleString("en") + " of " + items.length.toLocaleString("en") + " items" : "";
  });
})();
