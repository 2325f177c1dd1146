"use strict";
/* What a page of the report does beyond its HTML: variants, filters, and moving between the
   numbers of a table. Comes after panel.js. */
(() => {
  const { h, open, paper } = window.blimpworks;
  const KINDS = ["model", "lang", "phenomenon"];

  function remembered(name) {
    try {
      return window.localStorage.getItem(`blimpworks-${name}`);
    } catch {
      return null; // a browser may refuse storage
    }
  }

  function remember(name, value) {
    try {
      window.localStorage.setItem(`blimpworks-${name}`, value);
    } catch {
      /* then the choice holds for this page alone */
    }
  }

  // Variants

  function chooseVariant(variant) {
    document.documentElement.dataset.bwVariant = variant;
    remember("variant", variant);
  }

  // Filters: rows and columns are hidden when all their numbers are about something else.

  const chosen = Object.fromEntries(KINDS.map((kind) => [kind, new Set()]));

  const known = Object.fromEntries(KINDS.map((kind) => [kind, new Set()])); // what can be chosen

  /** Keys of the models, languages or phenomena that a number is about: perhaps its printed ones. */
  function aboutOf({ dataset }, kind) {
    return dataset[kind]?.split(" ") ?? [dataset.row, dataset.column].filter((key) => known[kind].has(key));
  }

  function isAway(cell) {
    return KINDS.some((kind) => {
      if (!chosen[kind].size) return false;
      const about = aboutOf(cell, kind);
      return about.length > 0 && !about.some((key) => chosen[kind].has(key));
    });
  }

  /** Cells of a row with the column each begins in and how many it spans. */
  function placed(row) {
    let at = 0;
    return [...row.cells].map((cell) => {
      cell.dataset.span ??= cell.colSpan;
      const place = { cell, at, span: Number(cell.dataset.span) };
      at += place.span;
      return place;
    });
  }

  function filterTable(table) {
    const rows = [...table.rows].map((row) => [row, placed(row)]);
    const columns = new Map();
    let left = 0;
    for (const [row, cells] of rows) {
      const numbers = cells.filter(({ cell }) => cell.dataset.row || cell.dataset.cell);
      for (const { cell, at } of numbers) {
        const away = isAway(cell);
        cell.classList.toggle("bw-away", away);
        columns.set(at, (columns.get(at) ?? true) && away);
        left += away ? 0 : 1;
      }
      row.hidden = numbers.length > 0 && numbers.every(({ cell }) => isAway(cell));
    }
    for (const [, cells] of rows) {
      for (const { cell, at, span } of cells) {
        const open = Array.from({ length: span }, (_, i) => at + i).filter((i) => !columns.get(i));
        cell.hidden = open.length === 0;
        if (open.length) cell.colSpan = open.length;
      }
    }
    const wrapper = table.closest(".bw-scroll");
    wrapper.hidden = left === 0 && columns.size > 0;
    let note = wrapper.nextElementSibling;
    if (!note?.classList.contains("bw-nothing")) {
      note = h("p", { class: "bw-nothing" }, "This table has no rows for your choice.");
      wrapper.after(note);
    }
    note.hidden = !wrapper.hidden;
  }

  function filterAll() {
    document.querySelectorAll("table[data-form]").forEach(filterTable);
  }

  function chip(select, option) {
    const button = h("button", { type: "button", class: "bw-chip" }, option.text, " ✕");
    button.setAttribute("aria-label", `stop showing only ${option.text}`);
    button.addEventListener("click", () => {
      chosen[select.dataset.kind].delete(option.value);
      button.remove();
      filterAll();
      select.focus();
    });
    return button;
  }

  function startFilters(tools) {
    const chips = tools.querySelector(".bw-chosen");
    for (const select of tools.querySelectorAll("select[data-kind]")) {
      for (const { value } of select.options) if (value) known[select.dataset.kind].add(value);
      select.addEventListener("change", () => {
        const option = select.selectedOptions[0];
        const keys = chosen[select.dataset.kind];
        if (option.value && !keys.has(option.value)) {
          keys.add(option.value);
          chips.append(chip(select, option));
          filterAll();
        }
        select.selectedIndex = 0;
      });
    }
  }

  // Numbers: one of each table takes the focus, arrow keys move on.

  function focusOn(table, button) {
    table.querySelector('button[tabindex="0"]')?.setAttribute("tabindex", "-1");
    button.setAttribute("tabindex", "0");
  }

  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

  function move(event) {
    const step = STEPS[event.key];
    const cell = event.target.closest?.("table[data-form] td");
    if (!step || !cell) return;
    const table = cell.closest("table");
    const rows = [...table.rows];
    let [row, column] = [rows.indexOf(cell.parentElement), cell.cellIndex];
    for (;;) {
      row += step[0];
      column += step[1];
      const next = rows[row]?.cells[column];
      if (!next) return;
      const button = next.querySelector("button");
      if (button && button.offsetParent) {
        event.preventDefault();
        focusOn(table, button);
        button.focus();
        return;
      }
    }
  }

  /** Open the number that the address names, as the lists of all numbers link to it. */
  async function openAddressed() {
    const address = /^#number\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(window.location.hash);
    if (!address || !paper()) return;
    const [exhibit, row, column] = address.slice(1).map(decodeURIComponent);
    const cells = [...document.querySelectorAll("table[data-form] td[data-row]")].filter(
      (cell) => cell.dataset.row === row && cell.dataset.column === column &&
        cell.closest("table").dataset.form.endsWith(`/${exhibit}`),
    );
    const cell = cells.find((each) => each.offsetParent) ?? cells[0];
    if (!cell) return;
    const section = cell.closest("section");
    shownBy[[section.id, ...[...section.children].map((part) => part.id)].find((id) => shownBy[id])]?.();
    for (let part = cell; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    const tab = cell.closest(".sd-tab-content")?.previousElementSibling;
    if (tab) document.getElementById(tab.htmlFor)?.click();
    cell.scrollIntoView({ block: "center" });
    await open(cell);
  }

  // Series: of exhibits that are one thing over and over, one member is shown at a time.

  const shownBy = {}; // by the address of an exhibit in a series, what shows it

  function startSeries({ title, members }) {
    const sections = members.map(([, ids]) => ids.map((id) => document.getElementById(id)?.closest("section")));
    const label = h("span", { class: "bw-series-title" }, `${title} …`);
    const buttons = members.map(([name]) => h("button", { type: "button" }, name));
    const choose = (at) => {
      sections.forEach((own, i) => own.forEach((s) => s?.classList.toggle("bw-unchosen", i !== at)));
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
    };
    buttons.forEach((button, at) => button.addEventListener("click", () => choose(at)));
    members.forEach(([, ids], at) => ids.forEach((id) => { shownBy[id] = () => choose(at); }));
    sections[0][0]?.before(h("div", { class: "bw-series", role: "group", "aria-label": title }, label, buttons));
    choose(0);
  }

  /** Show the member of a series that an address leads to. */
  function showAddressed() {
    const id = window.location.hash.slice(1);
    if (!shownBy[id]) return;
    shownBy[id]();
    document.getElementById(id).scrollIntoView();
  }

  // Wide tables: a word on how much is out of sight, as long as something is.

  function cue(wrapper) {
    const hidden = wrapper.scrollWidth - wrapper.clientWidth;
    const more = hidden > 2 && wrapper.scrollLeft < hidden - 2;
    wrapper.classList.toggle("bw-more", more);
    let note = wrapper.previousElementSibling;
    if (!note?.classList.contains("bw-cue")) {
      if (hidden <= 2) return;
      note = h("span", { class: "bw-cue", "aria-hidden": "true" }, "");
      wrapper.before(note);
    }
    note.hidden = hidden <= 2;
    note.textContent = more ? "more columns: scroll sideways →" : "← last column";
  }

  function startCues() {
    const wrappers = [...document.querySelectorAll(".bw-scroll")];
    const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => cue(target)));
    for (const wrapper of wrappers) {
      wrapper.addEventListener("scroll", () => cue(wrapper), { passive: true });
      sizes.observe(wrapper);
    }
  }

  // Lists of all numbers: the front page links to those with one status.

  async function startListing(table) {
    const key = Object.keys(window).find((name) => name.startsWith("_itables_"));
    const { jQuery } = await window[key];
    const address = /^#(status|verdict)\/(.+)$/.exec(window.location.hash);
    if (!address) return;
    const apply = (api) => {
      const column = api.column(api.columns().titles().toArray().indexOf(address[1]));
      const value = decodeURIComponent(address[2]);
      column.search(`^${value}$`, { regex: true, smart: false }).draw();
      const all = h("a", { href: window.location.pathname.split("/").at(-1) }, "Show all.");
      table.closest(".bw-scroll").before(h("p", {}, `Only rows with ${address[1]} “${value}” are shown. `, all));
    };
    // itables makes the table in its own time, and DataTables fills it in its own.
    const wait = () => {
      if (!jQuery.fn.dataTable.isDataTable(table)) requestAnimationFrame(wait);
      else jQuery(table).DataTable().ready(function ready() { apply(this); });
    };
    wait();
  }

  function start() {
    const listing = document.querySelector("#bw-published, #bw-measured");
    if (listing) startListing(listing);
    startCues();
    const tools = document.querySelector(".bw-tools");
    chooseVariant(remembered("variant") ?? "published");
    if (!tools) return;
    const variant = document.documentElement.dataset.bwVariant;
    for (const radio of tools.querySelectorAll('input[name="variant"]')) {
      radio.checked = radio.value === variant;
      radio.addEventListener("change", () => chooseVariant(radio.value));
    }
    tools.addEventListener("submit", (event) => event.preventDefault());
    startFilters(tools);
    for (const series of JSON.parse(document.getElementById("bw-series")?.textContent ?? "[]")) startSeries(series);
    window.addEventListener("hashchange", showAddressed);
    window.addEventListener("load", showAddressed);
    // Arrow keys move between the numbers of a table, so that Tab goes past it in one step.
    for (const table of document.querySelectorAll("table[data-form]")) {
      table.querySelectorAll("td button").forEach((button, i) => { button.tabIndex = i ? -1 : 0; });
    }
    document.addEventListener("click", (event) => {
      const cell = event.target.closest?.("table[data-form] td");
      if (cell && event.target.closest("button")) {
        focusOn(cell.closest("table"), event.target.closest("button"));
        open(cell);
      }
    });
    document.addEventListener("keydown", move);
    window.addEventListener("hashchange", openAddressed);
    // Tabs take up their last state when the page is ready, before this.
    window.addEventListener("load", openAddressed);
  }

  start(); // the script is deferred: the page is parsed
})();
