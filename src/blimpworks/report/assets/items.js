"use strict";
/* The page of items: loads the pairs (or single sentences) of the chosen sets (benchmark, language)
   in chunks, filters and shows them. A row is [id, index of the paradigm, good, bad, verdicts]. */
(() => {
  const SHOWN = 25; // pairs on a page
  const SLICE = 4000; // pairs filtered before the browser may do something else
  const AT_ONCE = 4; // scripts loaded at the same time
  const ALL = "*";
  const { h } = window.blimpworks;
  const $ = (id) => document.getElementById(id);
  const waiting = {};
  const received = {};

  window.blimpworksItems = {
    receive(name, content) {
      received[name] = content;
    },
  };

  /** Load a script of data once. */
  function load(name) {
    waiting[name] ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `_static/items/${name}.js`;
      script.onload = () => {
        script.remove();
        resolve(received[name]);
      };
      script.onerror = () => {
        script.remove();
        delete waiting[name]; // so that another choice tries again
        reject(new Error(`${script.src} is missing`));
      };
      document.head.append(script);
    });
    return waiting[name];
  }

  const tools = $("bw-items-tools");
  const field = (name) => tools.elements[name];
  let index; // {sets, labels, omitted}
  let pairs = []; // of the chosen sets: {set, chunk, position in the chunk, row}
  let hits = []; // pairs that pass the filter
  let page = 0;
  let incomplete = false; // a script was missing: the next choice tries again
  let latestRun = 0; // number of the last choice, which ends older loading and filtering
  const pause = () => new Promise((resolve) => setTimeout(resolve));
  const nameOf = (kind, key) => index.labels[kind][key] ?? key.replaceAll("_", " ");

  // Choices

  /** Set the options of a choice, [value, text], and keep its value if that is possible. */
  function fill(select, options, textForAny) {
    const before = select.value;
    const all = textForAny == null ? options : [["", textForAny], ...options];
    select.replaceChildren(...all.map(([value, text]) => h("option", { value }, text)));
    if (all.some(([value]) => value === before)) select.value = before;
  }

  const unique = (values) => [...new Set(values)];

  function fillLanguages() {
    const sets = index.sets.filter((set) => set.benchmark === field("benchmark").value);
    const languages = sets.map((set) => [set.lang, `${nameOf("languages", set.lang)} (${set.pairs.toLocaleString("en")})`]);
    const total = sets.reduce((sum, set) => sum + set.pairs, 0);
    const all = sets.length > 1 ? [[ALL, `all ${sets.length} (${total.toLocaleString("en")})`]] : [];
    fill(field("lang"), [...languages, ...all]);
  }

  const chosenSets = () =>
    index.sets.filter(
      (set) => set.benchmark === field("benchmark").value && [ALL, set.lang].includes(field("lang").value),
    );

  function fillParadigmsAndModels() {
    const sets = chosenSets();
    // Values of options are PHENOMENON, or PHENOMENON, a tab and PARADIGM.
    const labels = unique(sets.flatMap((set) => set.paradigms.map((names) => names.join("\t"))));
    const paradigmsOf = new Map();
    for (const label of labels) {
      const [phenomenon, paradigm] = label.split("\t");
      paradigmsOf.set(phenomenon, [...(paradigmsOf.get(phenomenon) ?? []), paradigm]);
    }
    const options = [...paradigmsOf].flatMap(([phenomenon, paradigms]) => [
      [phenomenon, nameOf("phenomena", phenomenon)],
      ...(paradigms.length > 1 || paradigms[0] !== phenomenon
        ? paradigms.map((paradigm) => [`${phenomenon}\t${paradigm}`, `  ${nameOf("phenomena", paradigm)}`])
        : []),
    ]);
    fill(field("paradigm"), options, "all");
    const models = unique(sets.flatMap((set) => set.models)).map((model) => [model, nameOf("models", model)]);
    fill(field("wrong"), models, "any model");
    fill(field("right"), models, "any model");
  }

  // Loading and filtering

  /** Load the pairs of the chosen sets; return false if a newer run has begun meanwhile. */
  async function loadPairs(run) {
    const chunks = chosenSets().flatMap((set) =>
      Array.from({ length: set.chunks }, (_, chunk) => ({ set, chunk, name: `${set.benchmark}.${set.lang}.${chunk}` })),
    );
    const total = chosenSets().reduce((sum, set) => sum + set.pairs, 0);
    const loaded = [];
    for (let start = 0; start < chunks.length; start += AT_ONCE) {
      const group = chunks.slice(start, start + AT_ONCE);
      const rowsOfChunks = await Promise.all(group.map(({ name }) => load(name)));
      if (run !== latestRun) return false;
      group.forEach(({ set, chunk }, i) => rowsOfChunks[i].forEach((row, position) => loaded.push({ set, chunk, position, row })));
      if (chunks.length > AT_ONCE) {
        $("bw-items-count").textContent = `Loading: ${loaded.length.toLocaleString("en")} of ${total.toLocaleString("en")} items`;
      }
    }
    pairs = loaded;
    incomplete = false;
    return true;
  }

  /** Return a function that says whether a pair passes the filter. */
  function makeFilter() {
    const query = field("query").value.trim().toLocaleLowerCase().normalize("NFC");
    const [phenomenon, paradigm] = field("paradigm").value.split("\t");
    const outcome = field("outcome").value;
    const [wrongModel, rightModel] = [field("wrong").value, field("right").value];
    const verdictOf = (pair, model) => pair.row[4][pair.set.models.indexOf(model)];
    return (pair) => {
      const [, paradigmIndex, good, bad, verdicts] = pair.row;
      const [phenomenonOfPair, paradigmOfPair] = pair.set.paradigms[paradigmIndex];
      if (phenomenon && phenomenonOfPair !== phenomenon) return false;
      if (paradigm != null && paradigmOfPair !== paradigm) return false;
      if (outcome) {
        const someWrong = verdicts.includes("0");
        const someRight = /[1h]/.test(verdicts);
        if (outcome === "none" && (!someWrong || someRight)) return false;
        if (outcome === "some" && !(someWrong && someRight)) return false;
        if (outcome === "wrong" && !someWrong) return false;
        if (outcome === "all" && (someWrong || !someRight)) return false;
      }
      if (wrongModel && verdictOf(pair, wrongModel) !== "0") return false;
      if (rightModel && verdictOf(pair, rightModel) !== "1") return false;
      return !query || `${good ?? ""}\n${bad ?? ""}`.toLocaleLowerCase().normalize("NFC").includes(query);
    };
  }

  async function filter(run) {
    const passes = makeFilter();
    const passing = [];
    for (let start = 0; start < pairs.length; start += SLICE) {
      for (const pair of pairs.slice(start, start + SLICE)) if (passes(pair)) passing.push(pair);
      if (start + SLICE < pairs.length) await pause();
      if (run !== latestRun) return;
    }
    hits = passing;
    page = 0;
    render();
  }

  let typingTimer = 0;

  async function update(reload) {
    clearTimeout(typingTimer); // this update reads the query, so that no second one follows
    const run = ++latestRun;
    try {
      if ((reload || incomplete) && !(await loadPairs(run))) return;
    } catch (error) {
      if (run === latestRun) showError(error);
      return;
    }
    await filter(run);
  }

  const sentenceOf = (error) => `${error.message}: copy the whole folder of the report, or build it again.`;

  /** Say in place of pairs that a script of the report is missing. */
  function showError(error) {
    [pairs, hits, incomplete] = [[], [], true];
    $("bw-items-rows").replaceChildren();
    for (const name of ["back", "next"]) $(`bw-items-${name}`).disabled = true;
    $("bw-items-page").textContent = "";
    $("bw-items-count").textContent = sentenceOf(error);
  }

  // Pairs on the page

  /** Columns of two lists of words, [index in first or null, index in second or null, differs]: of
      "a b c" and "a x c", [0, 0, false], [1, 1, true], [2, 2, false]. */
  function align(first, second) {
    const [n, m] = [first.length, second.length];
    // common[i][j]: length of the longest common subsequence of first from i and second from j on
    const common = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        common[i][j] = first[i] === second[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    const columns = [];
    let [i, j] = [0, 0];
    let [onlyFirst, onlySecond] = [[], []]; // differing words since the last equal ones
    const addDifferences = () => {
      for (let k = 0; k < Math.max(onlyFirst.length, onlySecond.length); k++) columns.push([onlyFirst[k] ?? null, onlySecond[k] ?? null, true]);
      [onlyFirst, onlySecond] = [[], []];
    };
    while (i < n || j < m) {
      if (i < n && j < m && first[i] === second[j]) {
        addDifferences();
        columns.push([i++, j++, false]);
      } else if (j >= m || (i < n && common[i + 1][j] >= common[i][j + 1])) onlyFirst.push(i++);
      else onlySecond.push(j++);
    }
    addDifferences();
    return columns;
  }

  const split = (text) => text?.match(/\S+/g) ?? [];
  /** The sides of a pair (0: good, 1: bad), or the only side of a single sentence. */
  const sidesOf = (row) => [0, 1].filter((side) => row[2 + side] != null);

  function sentence(words, columns, side, lang, sign, css, label) {
    const differing = new Set(columns.filter(([, , differs]) => differs).map((column) => column[side]));
    const content = words.flatMap((word, i) => [i ? " " : "", differing.has(i) ? h("mark", {}, word) : word]);
    return h("div", { lang, dir: "auto" }, h("span", { class: `bw-sign ${css}`, role: "img", "aria-label": label }, sign), " ", content);
  }

  const SIGNS = { 1: ["✓", "exact", "right"], 0: ["✕", "deviates", "wrong"], h: ["½", "rounding", "tie"], "-": ["·", "absent", "not judged"] };

  function verdictsOf({ set, row }) {
    const verdicts = set.models.map((model, i) => {
      const [sign, css, label] = SIGNS[row[4][i]];
      return h("span", { class: "bw-verdict", title: `${nameOf("models", model)}: ${label}` },
        h("span", { class: `bw-sign ${css}`, role: "img", "aria-label": label }, sign), ` ${nameOf("models", model)}`);
    });
    return h("div", { class: "bw-verdicts" }, verdicts);
  }

  function rowOf(pair) {
    const { set, row } = pair;
    const sides = sidesOf(row);
    const texts = [split(row[2]), split(row[3])];
    const columns = sides.length > 1 ? align(...texts) : []; // a single sentence differs from none
    const signs = [["✓", "exact", "grammatical"], ["✕", "deviates", "ungrammatical"]];
    const button = h("button", { type: "button", "aria-expanded": "false" }, "words");
    const line = h("tr", {},
      h("td", {}, sides.map((side) => sentence(texts[side], columns, side, set.tag, ...signs[side])), button),
      h("td", {}, nameOf("languages", set.lang)),
      h("td", {}, unique(set.paradigms[row[1]].map((key) => nameOf("phenomena", key))).join(": ")),
      h("td", {}, verdictsOf(pair)));
    let details = null; // a row with the words, which are loaded when it is first opened
    let failed = false;
    button.addEventListener("click", async () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      if (failed) {
        details.remove(); // the next opening tries again
        [details, failed] = [null, false];
      }
      if (details) details.hidden = !open;
      if (details || !open) return;
      const words = h("td", { colspan: "4" }, "Loading …");
      details = h("tr", { class: "bw-words" }, words);
      line.after(details);
      try {
        words.replaceChildren(...(await wordsOf(pair)));
      } catch (error) {
        failed = true;
        words.replaceChildren(sentenceOf(error));
      }
    });
    return line;
  }

  const number = (value) => (value == null ? "–" : value.toFixed(2).replace("-", "−"));
  const sum = (values) => values.reduce((total, value) => total + (value ?? 0), 0);

  /** A table of the words of a pair with a model's log-probabilities, [values, words or none] by side. */
  function wordsTable(pair, model, scores) {
    const sides = sidesOf(pair.row);
    const wordsOfSides = scores.map(([values, words], side) => {
      const texts = words ?? split(pair.row[2 + side]);
      return values.length > texts.length ? [...texts, "⟨end⟩"] : texts;
    });
    const columns = sides.length > 1 ? align(...wordsOfSides) : wordsOfSides[sides[0]].map((_, i) => [i, i, false]);
    const lines = (side, name) => {
      const [words, [values]] = [wordsOfSides[side], scores[side]];
      const marked = (word, differs) => (word && differs ? h("mark", {}, word) : word);
      const wordCells = columns.map((column) => h("td", { lang: pair.set.tag, dir: "auto" }, marked(words[column[side]] ?? "", column[2])));
      const numberCells = columns.map((column) => h("td", { class: "n" }, column[side] == null ? "" : number(values[column[side]])));
      const head = h("th", { scope: "row", rowspan: "2" }, name);
      const total = h("td", { class: "n" }, h("strong", {}, number(sum(values))));
      return [h("tr", {}, head, wordCells, h("td", { class: "n" }, "sum")), h("tr", {}, numberCells, total)];
    };
    return h("div", { class: "bw-scroll", role: "region", tabindex: "0", "aria-label": `Words by ${nameOf("models", model)}` },
      h("table", {}, h("caption", {}, nameOf("models", model)), h("tbody", {}, sides.flatMap((side) => lines(side, ["good", "bad"][side])))));
  }

  async function wordsOf(pair) {
    const id = h("p", { class: "bw-caption" }, "Item ", h("code", {}, pair.row[0]), ", log-probabilities in nats.");
    if (!pair.set.words) return [id, h("p", {}, "The report has no words of this set: it would be too large. They are in the scores of the results.")];
    const chunk = await load(`${pair.set.benchmark}.${pair.set.lang}.${pair.chunk}.words`);
    const tables = pair.set.models.map((model, i) => {
      const scores = chunk[pair.position][i];
      return scores ? wordsTable(pair, model, scores) : h("p", {}, `${nameOf("models", model)}: no scores`);
    });
    return [id, ...tables];
  }

  function render() {
    const pages = Math.max(1, Math.ceil(hits.length / SHOWN));
    const shown = hits.slice(page * SHOWN, (page + 1) * SHOWN);
    $("bw-items-rows").replaceChildren(...shown.map(rowOf));
    $("bw-items-count").textContent = `${hits.length.toLocaleString("en")} of ${pairs.length.toLocaleString("en")} items`;
    $("bw-items-page").textContent = `Page ${(page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
    $("bw-items-back").disabled = page === 0;
    $("bw-items-next").disabled = page >= pages - 1;
    const chosen = new URLSearchParams([...new FormData(tools)].filter(([, value]) => value));
    history.replaceState(null, "", `#${chosen}`);
  }

  function turn(step) {
    page += step;
    render();
    document.querySelector(".bw-items").scrollTop = 0;
    $("bw-items-count").scrollIntoView({ block: "nearest" });
  }

  /** Whether a field can have a value; a choice can have the values of its options. */
  const canHave = (box, value) => value != null && (!box.options || [...box.options].some((option) => option.value === value));

  function start() {
    fill(field("benchmark"), unique(index.sets.map((set) => set.benchmark)).map((key) => [key, nameOf("benchmarks", key)]));
    // Take the choices from the address; a benchmark and language determine the other options.
    const choices = new URLSearchParams(window.location.hash.slice(1));
    for (const name of ["benchmark", "lang", "paradigm", "outcome", "wrong", "right", "query"]) {
      if (name === "lang") fillLanguages();
      if (name === "paradigm") fillParadigmsAndModels();
      if (canHave(field(name), choices.get(name))) field(name).value = choices.get(name);
    }
    field("benchmark").addEventListener("change", () => { fillLanguages(); fillParadigmsAndModels(); update(true); });
    field("lang").addEventListener("change", () => { fillParadigmsAndModels(); update(true); });
    for (const name of ["paradigm", "outcome", "wrong", "right"]) field(name).addEventListener("change", () => update(false));
    field("query").addEventListener("input", () => {
      clearTimeout(typingTimer);
      typingTimer = setTimeout(() => update(false), 150); // after the last of several letters
    });
    tools.addEventListener("submit", (event) => event.preventDefault());
    $("bw-items-back").addEventListener("click", () => turn(-1));
    $("bw-items-next").addEventListener("click", () => turn(1));
    update(true);
  }

  load("index").then((content) => {
    index = content;
    const names = index.omitted.map(([key, n]) => `${nameOf("benchmarks", key)} (${n.toLocaleString("en")})`);
    if (names.length) $("bw-items-omitted").textContent = `Left out, because their items have several conditions: ${names.join(", ")}.`;
    start();
  }, showError);
})();
