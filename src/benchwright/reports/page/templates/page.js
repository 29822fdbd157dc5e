"use strict";

// Plots: each <div class="plot"> names the <script> that holds its plot as JSON.
(function () {
  const NARROW = 620;
  const plots = Array.from(document.querySelectorAll(".plot"));
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function assign(plot, path, value) {
    const keys = path.split(".");
    const last = keys.pop();
    keys.reduce((part, key) => (part[key] = part[key] || {}), plot)[last] = value;
  }

  function draw(div) {
    const plot = JSON.parse(document.getElementById(div.dataset.source).textContent);
    const layout = plot.layout;
    delete layout.title; // the caption shows it
    layout.margin = Object.assign({}, layout.margin, { t: (layout.meta && layout.meta.top) || 8 });
    layout.font.color = colour("--plot-ink");
    layout.dragmode = false;
    if (div.clientWidth < NARROW) {
      for (const [path, value] of Object.entries((layout.meta && layout.meta.narrow) || {})) {
        assign(plot, path, value);
      }
    }
    div.style.minHeight = layout.height + "px";
    const config = { responsive: true, displayModeBar: false, scrollZoom: false };
    Plotly.react(div, plot.data, layout, config);
  }

  plots.forEach(draw);
  let width = window.innerWidth;
  window.addEventListener("resize", function () {
    if ((width < NARROW) !== (window.innerWidth < NARROW)) plots.forEach(draw);
    width = window.innerWidth;
  });
  const redraw = () => plots.forEach(draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.matchMedia("print").addEventListener("change", redraw);
})();

// Contents are closed on small screens.
(function () {
  const contents = document.getElementById("contents");
  if (window.matchMedia("(max-width: 77.99rem)").matches) contents.open = false;
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

