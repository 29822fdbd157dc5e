// The table of items: search, filters, order, pages. Data is only inserted as text.
(function () {
  const store = document.getElementById("item-data");
  if (!store) return;
  const PAGE = 25;
  const data = JSON.parse(store.textContent);
  const at = (id) => document.getElementById(id);
  const words = (name) => name.replaceAll("_", " ");
  const form = at("view");
  const headings = Array.from(document.querySelectorAll("[data-sort]"));
  const items = data.items.id.map(function (_, i) {
    const item = { place: i };
    for (const [name, values] of Object.entries(data.items)) item[name] = values[i];
    item.text = [item.id, words(item.subject), item.question, ...item.choices, item.decision,
      ...item.marks.map(words), words(item.reasons)].join(" ").toLowerCase();
    return item;
  });
  const byId = new Map(items.map((item) => [item.id, item]));
  let matches = items;
  let page = 0;
  let sorting = { key: "place", falling: false };

  function element(name, children, attributes) {
    const node = document.createElement(name);
    node.append(...[].concat(children === undefined ? [] : children));
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    return node;
  }

  const written = (value, key) => value === null || value === undefined ? "—"
    : key === "share" ? Math.round(100 * value) + "%" : value.toFixed(3);
  const choicesOf = (item) => element("ol", item.choices.map((choice, i) =>
    element("li", i === item.answer ? [choice, " ", element("span", "answer", { class: "mark" })] : choice,
      { dir: "auto", class: i === item.answer ? "gold" : "" })), { class: "choices", type: "A" });

  function detailsOf(item) {
    const shown = [choicesOf(item)];
    const other = byId.get(item.neighbour);
    if (item.neighbour) {
      const far = item.distance === null ? "" : ", cosine distance " + written(item.distance, "distance");
      shown.push(element("h4", "Nearest item: " + item.neighbour + far + (other ? ", " + other.decision : "")));
    }
    if (other) shown.push(element("p", other.question, { class: "question", dir: "auto" }), choicesOf(other));
    return element("tr", element("td", shown, { colspan: headings.length }), { class: "more" });
  }

  function row(item) {
    const opener = element("button", item.question, { type: "button", class: "open", "aria-expanded": "false", dir: "auto" });
    const marks = [item.decision, ...item.marks].map((name) => element("span", words(name), { class: "badge " + name }));
    const cells = {
      id: element("th", item.id, { scope: "row" }),
      subject: element("td", words(item.subject)),
      decision: element("td", marks),
      "": element("td", [opener, element("p", words(item.reasons), { class: "under" })], { class: "asked" }),
    };
    const shown = element("tr", headings.map(({ dataset: { sort: key }, innerText }) =>
      cells[key] || element("td", written(item[key], key), { class: "n", "data-label": innerText })));
    let more = null;
    opener.addEventListener("click", function () {
      const open = opener.getAttribute("aria-expanded") === "false";
      opener.setAttribute("aria-expanded", String(open));
      if (open) shown.after(more = more || detailsOf(item));
      else more.remove();
    });
    return shown;
  }

  // Numbers in names are compared as numbers; items without a value come last in both orders.
  const collator = new Intl.Collator("en", { numeric: true });
  function compare(a, b) {
    const [x, y] = [a[sorting.key], b[sorting.key]];
    if (x === null || y === null) return (x === null) - (y === null) || a.place - b.place;
    const order = typeof x === "string" ? collator.compare(x, y) : x - y;
    return (sorting.falling ? -order : order) || a.place - b.place;
  }

  function show() {
    const sought = form.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [decision, rule] = [form.decision.value, form.rule.value];
    matches = items.filter((item) => (!decision || item.decision === decision) &&
      (!rule || item.marks.includes(rule)) && sought.every((word) => item.text.includes(word))).sort(compare);
    const pages = Math.max(1, Math.ceil(matches.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    at("item-rows").replaceChildren(...matches.slice(page * PAGE, (page + 1) * PAGE).map(row));
    at("count").textContent = matches.length.toLocaleString("en") + " of " + items.length.toLocaleString("en") + " items";
    at("page").textContent = "Page " + (page + 1) + " of " + pages;
    at("previous").disabled = page === 0;
    at("next").disabled = page === pages - 1;
  }

  // The view is in the fragment of the address, so that a link reproduces it.
  function change() {
    page = 0;
    show();
    const view = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", "#items" + (String(view) ? "?" + view : ""));
  }

  function restore() {
    if (!location.hash.startsWith("#items?")) return;
    const view = new URLSearchParams(location.hash.slice("#items?".length));
    for (const box of form.elements) box.value = view.get(box.name) || "";
    for (const menu of form.querySelectorAll("select")) if (menu.selectedIndex < 0) menu.selectedIndex = 0;
    page = 0;
    show();
    at("items").scrollIntoView();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", change);
  for (const [id, step] of [["previous", -1], ["next", 1]]) {
    at(id).addEventListener("click", function () { page += step; show(); });
  }
  for (const heading of headings) {
    heading.querySelector("button")?.addEventListener("click", function () {
      const key = heading.dataset.sort;
      sorting = { key: key, falling: sorting.key === key && !sorting.falling };
      for (const each of headings) each.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", sorting.falling ? "descending" : "ascending");
      show();
    });
  }
  show();
  window.addEventListener("popstate", restore); // also of links to a view
  restore();
})();
