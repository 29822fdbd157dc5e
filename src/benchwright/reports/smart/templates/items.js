// The list of items: filter, sort and pages. Data is only inserted as text.
(function () {
  const PAGE = 25;
  const STATES = {
    r: ["removed", "removed"], f: ["flagged", "flagged"], c: ["clear", ""],
    n: ["not judged", ""], "-": ["no verdict", ""],
  };
  const RIGHT = { "+": "right", "-": "wrong", "~": "partly right", ".": "no answer" };
  const data = JSON.parse(document.getElementById("item-data").textContent);
  const at = (id) => document.getElementById(id);
  const words = (name) => name.replaceAll("_", " ");
  const NUMBERS = [
    ["distance", "Nearest", 3], ["share", "Right", 0], ["lowest", "p low", 2], ["highest", "p high", 2],
  ].filter(([key]) => document.querySelector("[data-sort=" + key + "]"));
  const names = (joined) => joined.split(",").filter(Boolean);
  const columns = Object.entries(data.items);
  const items = data.items.id.map(function (_, i) {
    const item = { place: i };
    for (const [name, values] of columns) item[name] = values[i];
    item.tags = names(item.tags);
    item.removed_by = names(item.removed_by);
    item.details = {};
    for (let k = 0; k < item.notes.length; k += 2) item.details[item.notes[k]] = data.details[item.notes[k + 1]];
    return item;
  });
  const byId = new Map(items.map((item) => [item.id, item]));
  let matches = items;
  let page = 0;
  let timer = 0;
  let sorting = { key: "", descending: false };

  // The reasons for a decision: details of the rules that flagged the item.
  function reasons(item) {
    return data.rules.map((rule, i) => [rule, item.states[i], item.details[i]])
      .filter(([, state, detail]) => (state === "r" || state === "f") && detail)
      .map(([rule, , detail]) => words(rule) + ": " + detail);
  }

  const texts = items.map((item) =>
    [
      item.id, item.subject, words(item.subject), item.question, item.choices.join(" "),
      item.decision, item.removed_by.map(words).join(" "), item.tags.map(words).join(" "),
      reasons(item).join(" "),
    ].join(" ").toLowerCase()
  );

  function element(name, text, attributes) {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    return node;
  }

  const number = (value, digits) => (value === null ? "—" : value.toFixed(digits));
  const percent = (value) => (value === null ? "—" : Math.round(100 * value) + "%");

  function choicesOf(item) {
    const list = element("ol", undefined, { class: "choices", type: "A" });
    item.choices.forEach(function (choice, i) {
      const option = element("li", choice, { dir: "auto" });
      if (i === item.answer) {
        option.className = "gold";
        option.append(" ", element("span", "answer", { class: "mark" }));
      }
      list.append(option);
    });
    return list;
  }

  function table(caption, headings, rows) {
    const out = element("table", undefined, { class: "inner" });
    out.append(element("caption", caption));
    const head = element("tr");
    headings.forEach((name) => head.append(element("th", name, { scope: "col" })));
    const thead = element("thead");
    thead.append(head);
    const body = element("tbody");
    body.append(...rows);
    out.append(thead, body);
    return out;
  }

  function verdictsOf(item) {
    const rows = data.rules.map(function (rule, i) {
      const [state, badge] = STATES[item.states[i]];
      const tr = element("tr");
      const cell = element("td");
      cell.append(element("span", state, { class: "badge " + badge }));
      const detail = item.details[i] || "";
      tr.append(element("th", words(rule), { scope: "row" }), cell, element("td", detail));
      return tr;
    });
    return table("Verdicts of the rules", ["Rule", "Verdict", "Detail"], rows);
  }

  function neighbourOf(item) {
    const box = element("div", undefined, { class: "neighbour" });
    const far = item.distance === null ? "" : ", cosine distance " + number(item.distance, 3);
    box.append(element("h4", "Nearest item: " + item.neighbour + far));
    const other = byId.get(item.neighbour);
    if (other) {
      box.append(element("span", other.decision, { class: "badge " + other.decision }));
      box.append(element("p", other.question, { class: "question", dir: "auto" }), choicesOf(other));
    }
    return box;
  }

  function answersOf(item) {
    const headings = ["Model", "Answer"];
    if (item.chosen) headings.push("Option");
    if (item.p) headings.push("p of the gold answer");
    const rows = data.models.map(function (model, i) {
      const tr = element("tr");
      const name = element("th", model, { scope: "row" });
      if (i < data.filters) name.append(" ", element("span", "filter", { class: "badge" }));
      const right = RIGHT[item.right[i]];
      const mark = { right: "kept", wrong: "removed" }[right] || "";
      const cell = element("td");
      cell.append(element("span", right, { class: "badge " + mark }));
      tr.append(name, cell);
      if (item.chosen) tr.append(element("td", item.chosen[i] === "." ? "—" : item.chosen[i]));
      if (item.p) {
        const digits = item.p.slice(2 * i, 2 * i + 2);
        const p = digits === ".." ? null : parseInt(digits, 36) / 1000;
        tr.append(element("td", number(p, 3), { class: "n" }));
      }
      return tr;
    });
    return table("Responses", headings, rows);
  }

  // The details of an item, built when it is first opened.
  function detailsOf(item) {
    const tr = element("tr", undefined, { class: "more" });
    const cell = element("td", undefined, { colspan: 4 + NUMBERS.length });
    const asked = element("div");
    if (item.choices.length) asked.append(choicesOf(item));
    if (data.rules.length) asked.append(verdictsOf(item));
    if (item.neighbour) asked.append(neighbourOf(item));
    const both = element("div", undefined, { class: "both" });
    both.append(asked);
    if (data.models.length) both.append(answersOf(item));
    cell.append(both);
    tr.append(cell);
    return tr;
  }

  function row(item) {
    const tr = element("tr");
    const id = element("th", undefined, { scope: "row" });
    for (const part of item.id.split(/(?<=[/_])/)) id.append(part, element("wbr"));
    const subject = element("td", words(item.subject), { class: "subject" });

    const decision = element("td", undefined, { class: "decision" });
    decision.append(element("span", item.decision, { class: "badge " + item.decision }));
    for (const name of item.removed_by.concat(item.tags)) {
      decision.append(" ", element("span", words(name), { class: "badge" }));
    }

    const question = element("td", undefined, { class: "asked" });
    const opener = element("button", undefined, {
      type: "button", class: "open", "aria-expanded": "false", dir: "auto",
    });
    opener.append(item.question);
    let more = null;
    opener.addEventListener("click", function () {
      const open = opener.getAttribute("aria-expanded") === "false";
      opener.setAttribute("aria-expanded", String(open));
      if (open) tr.after(more = more || detailsOf(item));
      else more.remove();
    });
    question.append(opener);
    for (const reason of reasons(item)) question.append(element("p", reason, { class: "under" }));

    tr.append(id, subject, decision, question);
    for (const [key, label, digits] of NUMBERS) {
      const text = key === "share" ? percent(item.share) : number(item[key], digits);
      tr.append(element("td", text, { class: "n", "data-label": label }));
    }
    return tr;
  }

  function show() {
    const pages = Math.max(1, Math.ceil(matches.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    at("item-rows").replaceChildren(...matches.slice(page * PAGE, (page + 1) * PAGE).map(row));
    const option = at("sort").selectedOptions[0];
    const order = sorting.key ? ", by " + option.textContent + ", " + at("order").value : "";
    at("found").textContent = matches.length.toLocaleString("en") + " of " +
      items.length.toLocaleString("en") + " items" + order;
    at("page").textContent = "Page " + (page + 1) + " of " + pages;
    at("previous").disabled = page === 0;
    at("next").disabled = page === pages - 1;
    clearTimeout(timer);
    timer = setTimeout(remember, 200); // browsers limit how often an address may change
  }

  // The view is in the fragment of the address, so that a link reproduces it.
  const MENUS = ["decision", "rule", "sort", "order"];

  function remember() {
    const view = new URLSearchParams();
    for (const id of ["search", ...MENUS]) {
      if (at(id).value && !at(id).disabled) view.set(id, at(id).value);
    }
    if (page) view.set("page", page + 1);
    if (String(view)) history.replaceState(null, "", "#items?" + view);
    else if (location.hash.startsWith("#items?")) history.replaceState(null, "", "#items");
  }

  function restore() {
    if (!location.hash.startsWith("#items?")) return;
    const view = new URLSearchParams(location.hash.slice("#items?".length));
    at("search").value = view.get("search") || "";
    for (const id of MENUS) {
      at(id).value = view.get(id) || "";
      if (at(id).selectedIndex < 0) at(id).selectedIndex = 0;
    }
    sort(at("sort").value, at("order").value === "descending");
    page = (parseInt(view.get("page"), 10) || 1) - 1;
    show();
    at("items").scrollIntoView();
  }

  // Numbers in names are compared as numbers; items without a value come last in both orders.
  const collator = new Intl.Collator("en", { numeric: true });
  function compare(a, b) {
    const [x, y] = [a[sorting.key], b[sorting.key]];
    if (x === null || y === null) {
      return (x === null) - (y === null) || a.place - b.place;
    }
    const order = typeof x === "string" ? collator.compare(x, y) : x - y;
    return (sorting.descending ? -order : order) || a.place - b.place;
  }

  function filter() {
    const sought = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const decision = at("decision").value;
    const rule = at("rule").value;
    matches = items.filter(function (item, i) {
      if (decision && item.decision !== decision) return false;
      if (rule && !item.removed_by.includes(rule) && !item.tags.includes(rule)) return false;
      return sought.every((word) => texts[i].includes(word));
    });
    if (sorting.key) matches.sort(compare);
    page = 0;
    show();
  }

  function sort(key, descending) {
    sorting = { key: key, descending: descending };
    at("sort").value = key;
    at("order").value = descending ? "descending" : "ascending";
    at("order").disabled = !key;
    for (const heading of document.querySelectorAll("[data-sort]")) {
      if (heading.dataset.sort === key) {
        heading.setAttribute("aria-sort", at("order").value);
      } else {
        heading.removeAttribute("aria-sort");
      }
    }
    filter();
  }

  at("search").form.addEventListener("submit", (event) => event.preventDefault());
  at("search").addEventListener("input", filter);
  at("decision").addEventListener("change", filter);
  at("rule").addEventListener("change", filter);
  at("sort").addEventListener("change", () => sort(at("sort").value, at("order").value === "descending"));
  at("order").addEventListener("change", () => sort(at("sort").value, at("order").value === "descending"));
  at("previous").addEventListener("click", function () { page -= 1; show(); });
  at("next").addEventListener("click", function () { page += 1; show(); });
  for (const heading of document.querySelectorAll("[data-sort]")) {
    heading.firstElementChild.addEventListener("click", function () {
      const key = heading.dataset.sort;
      sort(key, sorting.key === key && !sorting.descending);
    });
  }

  // A rule in the table of rules is a link to its items.
  for (const link of document.querySelectorAll("[data-show]")) {
    link.href = "#items?" + new URLSearchParams({ rule: link.dataset.show });
  }

  sort("", false);
  window.addEventListener("popstate", restore); // also of links to a view
  restore();
})();
