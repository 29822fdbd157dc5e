"use strict";

// Contents are closed on small screens.
(function () {
  const contents = document.getElementById("contents");
  if (contents && window.matchMedia("(max-width: 77.99rem)").matches) contents.open = false;
})();

// The key / moves to the search box.
document.addEventListener("keydown", function (event) {
  const box = document.querySelector("input[type=search]");
  const typing = event.target.closest("input, select, textarea");
  if (!box || typing || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  box.focus();
  box.select();
});

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

// Printing opens all details.
(function () {
  let opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.from(document.querySelectorAll("main details:not([open])"));
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", function () {
    for (const details of opened) details.open = false;
    opened = [];
  });
})();

