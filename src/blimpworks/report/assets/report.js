"use strict";
/* The choices of a reader on a page: variants, filters, members of series, and moving between the
   numbers of a table. It uses panel.js. */
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

  // Filters: a row or column is hidden if none of its numbers is about the chosen keys.

  const chosen = Object.fromEntries(KINDS.map((kind) => [kind, new Set()])); // {kind: chosen keys}
  const choices = Object.fromEntries(KINDS.map((kind) => [kind, new Set()])); // {kind: all keys}

  /** Keys of a kind that a number is about; without such an attribute, its row or column may be one. */
  function keysOf({ dataset }, kind) {
    return dataset[kind]?.split(" ") ?? [dataset.row, dataset.column].filter((key) => choices[kind].has(key));
  }

  function isFilteredOut(cell) {
    return KINDS.some((kind) => {
      if (!chosen[kind].size) return false;
      const keys = keysOf(cell, kind);
      return keys.length > 0 && !keys.some((key) => chosen[kind].has(key));
    });
  }

  /** Cells of a row, each with its first column and the number of columns that it spans. */
  function cellsWithColumns(row) {
    let column = 0;
    return [...row.cells].map((cell) => {
      cell.dataset.span ??= cell.colSpan; // before any column was hidden
      const entry = { cell, column, span: Number(cell.dataset.span) };
      column += entry.span;
      return entry;
    });
  }

  function filterTable(table) {
    const rows = [...table.rows].map((row) => [row, cellsWithColumns(row)]);
    const hiddenColumns = new Map(); // {column of numbers: whether all of them are filtered out}
    let visibleNumbers = 0;
    for (const [row, cells] of rows) {
      const numbers = cells.filter(({ cell }) => cell.dataset.row || cell.dataset.cell);
      for (const { cell, column } of numbers) {
        const out = isFilteredOut(cell);
        cell.classList.toggle("bw-away", out);
        hiddenColumns.set(column, (hiddenColumns.get(column) ?? true) && out);
        visibleNumbers += out ? 0 : 1;
      }
      row.hidden = numbers.length > 0 && numbers.every(({ cell }) => isFilteredOut(cell));
    }
    for (const [, cells] of rows) {
      for (const { cell, column, span } of cells) {
        const columns = Array.from({ length: span }, (_, i) => column + i);
        const visible = columns.filter((i) => !hiddenColumns.get(i));
        cell.hidden = visible.length === 0;
        if (visible.length) cell.colSpan = visible.length;
      }
    }
    const wrapper = table.closest(".bw-scroll");
    wrapper.hidden = visibleNumbers === 0 && hiddenColumns.size > 0;
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
      for (const { value } of select.options) if (value) choices[select.dataset.kind].add(value);
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

  // Moving between numbers: Tab reaches one number of a table, and arrow keys the others.

  function makeReachable(table, button) {
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
        makeReachable(table, button);
        button.focus();
        return;
      }
    }
  }

  /** Open the number of an address such as "#number/table1/GPT-2/Overall", as lists link to it. */
  async function openAddressed() {
    const address = /^#number\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(window.location.hash);
    if (!address || !paper()) return;
    const [exhibit, row, column] = address.slice(1).map(decodeURIComponent);
    const cells = [...document.querySelectorAll("table[data-form] td[data-row]")].filter(
      (cell) => cell.dataset.row === row && cell.dataset.column === column &&
        cell.closest("table").dataset.form.endsWith(`/${exhibit}`),
    );
    const cell = cells.find((candidate) => candidate.offsetParent) ?? cells[0]; // a visible one first
    if (!cell) return;
    // Show what the cell is in: the member of a series, folded details, and the tab.
    const section = cell.closest("section");
    const ids = [section.id, ...[...section.children].map((child) => child.id)];
    showMemberOf[ids.find((id) => showMemberOf[id])]?.();
    for (let node = cell; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    const tab = cell.closest(".sd-tab-content")?.previousElementSibling;
    if (tab) document.getElementById(tab.htmlFor)?.click();
    cell.scrollIntoView({ block: "center" });
    await open(cell);
  }

  // Series of exhibits, such as a table for each language: one member is shown at a time.

  const showMemberOf = {}; // {id of an exhibit in a series: function that shows its member}

  function startSeries({ title, members }) {
    const sections = members.map(([, ids]) => ids.map((id) => document.getElementById(id)?.closest("section")));
    const label = h("span", { class: "bw-series-title" }, `${title} …`);
    const buttons = members.map(([name]) => h("button", { type: "button" }, name));
    const choose = (chosenIndex) => {
      sections.forEach((sectionsOfMember, i) => sectionsOfMember.forEach((section) => section?.classList.toggle("bw-unchosen", i !== chosenIndex)));
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === chosenIndex)));
    };
    buttons.forEach((button, i) => button.addEventListener("click", () => choose(i)));
    members.forEach(([, ids], i) => ids.forEach((id) => { showMemberOf[id] = () => choose(i); }));
    sections[0][0]?.before(h("div", { class: "bw-series", role: "group", "aria-label": title }, label, buttons));
    choose(0);
  }

  /** Show the member of a series that an address leads to. */
  function showAddressed() {
    const id = window.location.hash.slice(1);
    if (!showMemberOf[id]) return;
    showMemberOf[id]();
    document.getElementById(id).scrollIntoView();
  }

  // Wide tables: a note above them while some columns are out of sight.

  function updateNote(wrapper) {
    const hiddenPixels = wrapper.scrollWidth - wrapper.clientWidth; // 1 or 2 may be due to rounding
    const more = hiddenPixels > 2 && wrapper.scrollLeft < hiddenPixels - 2;
    wrapper.classList.toggle("bw-more", more);
    let note = wrapper.previousElementSibling;
    if (!note?.classList.contains("bw-cue")) {
      if (hiddenPixels <= 2) return;
      note = h("span", { class: "bw-cue", "aria-hidden": "true" }, "");
      wrapper.before(note);
    }
    note.hidden = hiddenPixels <= 2;
    note.textContent = more ? "more columns: scroll sideways →" : "← last column";
  }

  function startNotes() {
    const wrappers = [...document.querySelectorAll(".bw-scroll")];
    const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => updateNote(target)));
    for (const wrapper of wrappers) {
      wrapper.addEventListener("scroll", () => updateNote(wrapper), { passive: true });
      sizes.observe(wrapper);
    }
  }

  // Lists of all numbers: the front page links to the numbers with one status ("#status/exact").

  async function startListing(table) {
    const key = Object.keys(window).find((name) => name.startsWith("_itables_"));
    const { jQuery } = await window[key];
    const address = /^#(status|verdict)\/(.+)$/.exec(window.location.hash);
    if (!address) return;
    const filter = (api) => {
      const column = api.column(api.columns().titles().toArray().indexOf(address[1]));
      const value = decodeURIComponent(address[2]);
      column.search(`^${value}$`, { regex: true, smart: false }).draw();
      const all = h("a", { href: window.location.pathname.split("/").at(-1) }, "Show all.");
      table.closest(".bw-scroll").before(h("p", {}, `Only rows with ${address[1]} “${value}” are shown. `, all));
    };
    // Wait until itables has made the table, and then until DataTables has filled it.
    const wait = () => {
      if (!jQuery.fn.dataTable.isDataTable(table)) requestAnimationFrame(wait);
      else jQuery(table).DataTable().ready(function ready() { filter(this); });
    };
    wait();
  }

  function start() {
    const listing = document.querySelector("#bw-published, #bw-measured");
    if (listing) startListing(listing);
    startNotes();
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
        makeReachable(cell.closest("table"), event.target.closest("button"));
        open(cell);
      }
    });
    document.addEventListener("keydown", move);
    window.addEventListener("hashchange", openAddressed);
    // Tabs get their last state when the page is ready, before "load".
    window.addEventListener("load", openAddressed);
  }

  start(); // the script is deferred: the page is parsed
})();
