"use strict";

// Plots: each <div class="plot"> names the <script> that holds its figure as JSON.
(function () {
  const NARROW = 620;
  const plots = Array.from(document.querySelectorAll(".plot"));
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function assign(figure, path, value) {
    const keys = path.split(".");
    const last = keys.pop();
    keys.reduce((part, key) => (part[key] = part[key] || {}), figure)[last] = value;
  }

  function draw(div) {
    const figure = JSON.parse(document.getElementById(div.dataset.source).textContent);
    const layout = figure.layout;
    delete layout.title; // the caption says it, so its room goes too
    layout.margin = Object.assign({}, layout.margin, { t: (layout.meta && layout.meta.top) || 8 });
    layout.font.color = colour("--plot-ink");
    layout.dragmode = false;
    if (div.clientWidth < NARROW) {
      for (const [path, value] of Object.entries((layout.meta && layout.meta.narrow) || {})) {
        assign(figure, path, value);
      }
    }
    div.style.minHeight = layout.height + "px";
    const config = { responsive: true, displayModeBar: false, scrollZoom: false };
    Plotly.react(div, figure.data, layout, config);
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

// Contents: folded on small screens.
(function () {
  const contents = document.getElementById("contents");
  if (window.matchMedia("(max-width: 77.99rem)").matches) contents.open = false;
})();

// Items: a list that is filtered and paged here; data only ever becomes text.
(function () {
  const PAGE = 25;
  const items = JSON.parse(document.getElementById("item-data").textContent);
  const at = (id) => document.getElementById(id);
  const words = (name) => name.replaceAll("_", " ");
  let found = items;
  let page = 0;

  const texts = items.map((item) =>
    [
      item.item_id, item.subject, item.question, item.choices.join(" "), item.decision,
      item.removed_by.map(words).join(" "), item.tags.map(words).join(" "), item.reasons,
    ].join(" ").toLowerCase()
  );

  function element(name, text, attributes) {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    return node;
  }

  function row(item) {
    const tr = element("tr");
    const id = element("th", item.item_id, { scope: "row" });
    id.append(element("p", words(item.subject), { class: "under" }));

    const decision = element("td");
    decision.append(element("span", item.decision, { class: "badge " + item.decision }));
    for (const name of item.removed_by.concat(item.tags)) {
      decision.append(element("span", words(name), { class: "badge" }));
    }
    if (item.reasons) decision.append(element("p", item.reasons, { class: "under" }));
    const question = element("td");
    if (item.choices.length) {
      const details = element("details");
      details.append(element("summary", item.question, { dir: "auto" }));
      const list = element("ol", undefined, { class: "choices", type: "A" });
      item.choices.forEach(function (choice, i) {
        const option = element("li", choice, { dir: "auto" });
        if (i === item.answer) {
          option.className = "gold";
          option.append(element("span", "answer", { class: "mark" }));
        }
        list.append(option);
      });
      details.append(list);
      if (item.neighbour) {
        const far = item.distance === null ? "" : ", cosine distance " + item.distance;
        details.append(element("p", "Nearest item: " + item.neighbour + far, { class: "under" }));
      }
      question.append(details);
    } else {
      question.append(element("p", item.question, { dir: "auto" }));
    }
    tr.append(id, decision, question);
    return tr;
  }

  function show() {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    at("item-rows").replaceChildren(...found.slice(page * PAGE, (page + 1) * PAGE).map(row));
    at("found").textContent = found.length.toLocaleString("en") + " of " +
      items.length.toLocaleString("en") + " listed items";
    at("page").textContent = "Page " + (page + 1) + " of " + pages;
    at("previous").disabled = page === 0;
    at("next").disabled = page === pages - 1;
  }

  function filter() {
    const sought = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const decision = at("decision").value;
    const rule = at("rule").value;
    found = items.filter(function (item, i) {
      if (decision && item.decision !== decision) return false;
      if (rule && !item.removed_by.includes(rule) && !item.tags.includes(rule)) return false;
      return sought.every((word) => texts[i].includes(word));
    });
    page = 0;
    show();
  }

  at("search").form.addEventListener("submit", (event) => event.preventDefault());
  at("search").addEventListener("input", filter);
  at("decision").addEventListener("change", filter);
  at("rule").addEventListener("change", filter);
  at("previous").addEventListener("click", function () { page -= 1; show(); });
  at("next").addEventListener("click", function () { page += 1; show(); });

  // A rule's name in the table of rules shows its items.
  for (const link of document.querySelectorAll("[data-show]")) {
    link.addEventListener("click", function () {
      const options = Array.from(at("rule").options, (option) => option.value);
      at("rule").value = options.includes(link.dataset.show) ? link.dataset.show : "";
      at("search").value = "";
      at("decision").value = "";
      filter();
    });
  }

  show();
})();
