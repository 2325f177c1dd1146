"use strict";
/* The panel that shows where a number comes from. This is no module, and data are scripts: a page
   that is opened from a disk may load neither modules nor other files. */
(() => {
  const MOST = 40; // products in the panel; the command line shows all
  const received = {};
  const waiting = {};

  /** Load a script of data once; it passes the topic ("paper" or "products") to ``receive``. */
  function load(topic, name) {
    waiting[topic] ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `_static/data/${name}.js`;
      script.onload = () => resolve(received[topic]);
      script.onerror = () => reject(new Error(`${script.src} is missing`));
      document.head.append(script);
    });
    return waiting[topic];
  }

  /** An element with attributes and children; null children are left out. */
  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value != null) element.setAttribute(name, value);
    }
    element.append(...children.flat().filter((child) => child != null));
    return element;
  }

  // The panel

  const panel = h("dialog", { class: "bw-panel", "aria-labelledby": "bw-panel-title" });
  let opener = null;

  function close() {
    panel.close();
  }

  function fact(name, ...content) {
    return [h("dt", {}, name), h("dd", {}, ...content)];
  }

  function value(number) {
    return Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(6)));
  }

  /** Signs and CSS classes of statuses and verdicts. */
  const SIGNS = {
    exact: ["✓", "exact"],
    rounding: ["≈", "rounding"],
    complement: ["¬", "complement"],
    erratum: ["!", "erratum"],
    garbled: ["~", "garbled"],
    "not recomputable": ["·", "absent"],
    deviates: ["≠", "deviates"],
    agrees: ["✓", "exact"],
    "not comparable": ["∥", "other"],
    "not run": ["·", "absent"],
  };

  function badge(state) {
    const [sign, css] = SIGNS[state] ?? ["", ""];
    return h("span", { class: `bw-badge ${css}` }, `${sign} ${state}`);
  }

  function printedPart(number) {
    if (!number) return null;
    const unit = number.unit && !number.text.includes(number.unit.split(" ")[0]) ? ` ${number.unit}` : "";
    return h(
      "section",
      {},
      h("h3", {}, "Printed"),
      h(
        "dl",
        {},
        fact("In print", h("strong", {}, number.text || "illegible"), unit),
        number.status ? fact("Status", badge(number.status)) : null,
        number.corrected ? fact("Correct value", h("strong", {}, number.corrected)) : null,
        number.again
          ? number.recomputed == null
            ? fact("As released", h("strong", {}, number.again))
            : fact("From other numbers", h("strong", {}, number.again), `, exactly ${value(number.recomputed)}`)
          : null,
        number.rule ? fact("Rule", number.rule) : null,
        number.note ? fact("Note", number.note) : null,
        number.verdict && number.verdict !== "not run"
          ? fact("Measured", number.measured == null ? "" : `${value(number.measured)} `, badge(number.verdict))
          : null,
        number.differs ? fact("Differs in", number.differs) : null,
        fact("Recorded in", h("code", {}, number.where)),
      ),
    );
  }

  function conditions(where) {
    const lines = Object.entries(where).map(([name, keys]) => {
      const all = Array.isArray(keys) ? keys : [keys];
      const shown = all.slice(0, 12).join(", ");
      return h("li", {}, h("code", {}, name), ` is ${shown}${all.length > 12 ? ` and ${all.length - 12} more` : ""}`);
    });
    return h("ul", {}, lines);
  }

  function cellPart(cell, tree, form) {
    const name = { published: "Computed from print", measured: "Measured", corrected: "Measured, corrected" };
    const interval =
      cell.low == null ? null : fact("95 % interval", `${value(cell.low)} to ${value(cell.high)}`);
    return h(
      "section",
      {},
      h("h3", {}, name[tree]),
      h(
        "dl",
        {},
        fact("Value", h("strong", {}, cell.text), `, exactly ${value(cell.value)}`),
        interval,
        cell.n == null ? null : fact("n", value(cell.n)),
        fact("Formula", cell.formula),
        fact("Over rows of", h("code", {}, cell.source), " where", conditions(cell.where)),
        originsPart(cell),
      ),
      commandPart(form, cell),
    );
  }

  /** Keys of languages and models that a cell is not about, so that their files are not shown. */
  function irrelevantKeys(where, names) {
    const keys = new Set();
    for (const [kind, columns] of [
      ["languages", ["lang"]],
      ["models", ["model", "model_a", "model_b"]],
    ]) {
      const keysOfCell = columns.flatMap((column) => where[column] ?? []);
      if (keysOfCell.length) {
        for (const key of Object.keys(names[kind])) if (!keysOfCell.includes(key)) keys.add(key);
      }
    }
    return keys;
  }

  /** Whether no folder or file of a path is named after an irrelevant key. */
  function isRelevant(path, irrelevant) {
    const components = path.split("/");
    return ![...components, components.at(-1).split(".")[0]].some((name) => irrelevant.has(name));
  }

  function describeJob(job) {
    if (!job) return "from outside, or without a record";
    const [verb, code, date, commit, clean, notes] = job;
    const remarks = Object.entries(notes).map(([name, note]) => `${name} ${note}`);
    const state = clean === false ? " with local changes" : "";
    return [`${verb}, code ${code}`, date, `commit ${commit || "none"}${state}`, ...remarks].join(" · ");
  }

  /** A product and its inputs, as nested lists; the inputs of a product are listed once. */
  function lineage(graph, number, irrelevant, seen) {
    const [path, sha256, job, inputs] = graph.products[number];
    const isRepeated = seen.has(number);
    seen.add(number);
    const relevant = isRepeated ? [] : (inputs ?? []).filter((i) => isRelevant(graph.products[i][0], irrelevant));
    const shown = relevant.filter((i) => seen.size < MOST || seen.has(i));
    return h(
      "li",
      {},
      h("code", { class: "bw-path" }, path),
      h("span", { class: "bw-made", title: `SHA-256 ${sha256}` }, `SHA-256 ${sha256.slice(0, 16)}…`),
      h("span", { class: "bw-made" }, isRepeated ? "see above" : describeJob(graph.jobs[job])),
      shown.length ? h("ul", {}, shown.map((i) => lineage(graph, i, irrelevant, seen))) : null,
      relevant.length > shown.length ? h("p", {}, `and ${relevant.length - shown.length} more`) : null,
    );
  }

  function quotedForShell(text) {
    return `'${text.replaceAll("'", "'\\''")}'`;
  }

  /** Numbers that a cell is computed from, each a link to its own panel. */
  function originsPart(cell) {
    if (!cell.of) return null;
    const links = cell.from.map(([exhibit, row, column]) =>
      h("a", { href: addressOf(exhibit, row, column) }, `${nameOf(row)} / ${nameOf(column)}`),
    );
    const more = cell.of > links.length ? h("li", {}, `and ${cell.of - links.length} more`) : null;
    return fact(
      cell.of === 1 ? "From this number" : `From ${cell.of} numbers`,
      h("ul", { class: "bw-origins" }, links.map((link) => h("li", {}, link)), more),
    );
  }

  function commandPart(form, cell) {
    const command =
      `blimpworks explain ${form.file} --row ${quotedForShell(cell.row)} ` +
      `--column ${quotedForShell(cell.column)} --items 5`;
    const copy = h("button", { type: "button", class: "bw-copy" }, "Copy");
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command);
      copy.textContent = "Copied";
    });
    return h(
      "details",
      {},
      h("summary", {}, "Trace to tokens and lines of source files"),
      h("pre", {}, h("code", {}, command)),
      copy,
    );
  }

  const nameOf = (key) =>
    received.paper.names.languages[key] ?? received.paper.names.models[key] ?? key;

  function addressOf(exhibit, row, column) {
    return `#number/${[exhibit, row, column].map(encodeURIComponent).join("/")}`;
  }

  function title(exhibit, cell, row, column) {
    const parts = cell ? [cell.row, cell.column] : [nameOf(row), nameOf(column)];
    return h("h2", { id: "bw-panel-title" }, `${received.paper.labels[exhibit]}: ${parts.join(" / ")}`);
  }

  /** [cell, key of its form] of the opened cell, and of cells of the same printed number in any form. */
  function cellsOf(exhibit, formKey, index, row, column) {
    const { forms } = received.paper;
    const formByCell = new Map(); // has each cell once
    if (index != null) formByCell.set(forms[formKey].cells[index], formKey);
    for (const tree of ["published", "measured", "corrected"]) {
      const key = `${tree}/${exhibit}`;
      for (const cell of row == null ? [] : forms[key]?.cells ?? []) {
        if (cell.place && cell.place[0] === row && cell.place[1] === column) formByCell.set(cell, key);
      }
    }
    return [...formByCell].filter(([cell]) => !cell.itself); // not copies of the printed number
  }

  /** Files from which a product was made in the end: retrieved files, and files without a record. */
  function sourceFiles(graph, number, irrelevant) {
    const files = new Map();
    const seen = new Set([number]);
    for (const next of seen) { // the set grows meanwhile
      const [path, sha256, jobIndex, inputs] = graph.products[next];
      const job = graph.jobs[jobIndex];
      if (!job || job[0].startsWith("retrieve")) files.set(path, [sha256, job]);
      else for (const i of inputs ?? []) if (isRelevant(graph.products[i][0], irrelevant)) seen.add(i);
    }
    return [...files];
  }

  function sourcesPart(graph, number, irrelevant) {
    const files = sourceFiles(graph, number, irrelevant);
    const lines = files.slice(0, MOST).map(([path, [sha256, job]]) =>
      h(
        "li",
        {},
        h("code", { class: "bw-path" }, path),
        h("span", { class: "bw-made", title: `SHA-256 ${sha256}` }, `SHA-256 ${sha256.slice(0, 16)}…`,
          job ? ` · ${Object.values(job[5]).join(" · ")}` : ""),
      ),
    );
    const more = files.length > MOST ? h("p", {}, `and ${files.length - MOST} more`) : null;
    return h("section", {}, h("h3", {}, "Original sources"), h("ul", { class: "bw-lineage" }, lines), more);
  }

  async function lineagePart(form, cell) {
    if (form.product == null) return [];
    const graph = await load("products", "products");
    const irrelevant = irrelevantKeys(cell.where, received.paper.names);
    const list = h("ul", { class: "bw-lineage" }, lineage(graph, form.product, irrelevant, new Set()));
    const chain = h("details", {}, h("summary", {}, "All files between, with the jobs that made them"), list);
    return [sourcesPart(graph, form.product, irrelevant), chain];
  }

  async function show(paper, formKey, index, row, column) {
    const content = await load("paper", paper);
    const exhibit = formKey.split("/")[1]; // "measured/table1"
    const opened = index == null ? null : content.forms[formKey].cells[index];
    const number = content.printed[exhibit]?.[row]?.[column];
    const closeButton = h("button", { type: "button", class: "bw-close", "aria-label": "Close" }, "✕");
    closeButton.addEventListener("click", close);
    panel.replaceChildren(closeButton, title(exhibit, opened, row, column));
    const cells = cellsOf(exhibit, formKey, index, row, column);
    const parts = cells.map(([cell, form]) => cellPart(cell, form.split("/")[0], content.forms[form]));
    panel.append(...[printedPart(number), ...parts].filter((part) => part));
    panel.scrollTop = 0;
    if (!panel.open) panel.showModal();
    if (!cells.length) return;
    const [cell, form] = cells[0];
    panel.append(...(await lineagePart(content.forms[form], cell)));
  }

  const paper = () => document.querySelector(".bw-tools")?.dataset.paper;

  function open(cell) {
    const table = cell.closest("table[data-form]");
    opener = cell.querySelector("button");
    const index = cell.dataset.cell == null ? null : Number(cell.dataset.cell);
    return show(paper(), table.dataset.form, index, cell.dataset.row, cell.dataset.column);
  }

  document.body.append(panel); // the script is deferred: there is a body
  panel.addEventListener("click", (event) => {
    if (event.target === panel) close();
  });
  panel.addEventListener("close", () => opener?.focus());

  window.blimpworks = {
    h,
    open,
    paper,
    receive(topic, content) {
      received[topic] = content;
    },
  };
})();
