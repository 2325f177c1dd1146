"use strict";
/* The page of items: loads the pairs of the chosen set as scripts, a thousand at a time, filters
   them in slices so that the page answers meanwhile, and shows a page of them. */
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
  let index;
  let pairs = []; // of the chosen sets: {set, number, row}
  let hits = [];
  let page = 0;
  let incomplete = false; // a script was missing: the next choice tries again
  let run = 0; // a newer choice ends older loading and filtering
  const pause = () => new Promise((resolve) => setTimeout(resolve));
  const nameOf = (kind, key) => index.labels[kind][key] ?? key.replaceAll("_", " ");

  // Choices

  function fill(select, options, first) {
    const before = select.value;
    const all = first == null ? options : [["", first], ...options];
    select.replaceChildren(...all.map(([value, text]) => h("option", { value }, text)));
    if (all.some(([value]) => value === before)) select.value = before;
  }

  const unique = (values) => [...new Set(values)];

  function fillLanguages() {
    const own = index.sets.filter((set) => set.benchmark === field("benchmark").value);
    const languages = own.map((set) => [set.lang, `${nameOf("languages", set.lang)} (${set.pairs.toLocaleString("en")})`]);
    const sum = own.reduce((total, set) => total + set.pairs, 0);
    const all = own.length > 1 ? [[ALL, `all ${own.length} (${sum.toLocaleString("en")})`]] : [];
    fill(field("lang"), [...languages, ...all]);
  }

  const chosenSets = () =>
    index.sets.filter(
      (set) => set.benchmark === field("benchmark").value && [ALL, set.lang].includes(field("lang").value),
    );

  function fillRest() {
    const sets = chosenSets();
    const labels = unique(sets.flatMap((set) => set.paradigms.map((pair) => pair.join("\t"))));
    const groups = new Map();
    for (const label of labels) {
      const [phenomenon, paradigm] = label.split("\t");
      groups.set(phenomenon, [...(groups.get(phenomenon) ?? []), paradigm]);
    }
    const options = [...groups].flatMap(([phenomenon, paradigms]) => [
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

  async function loadPairs(mine) {
    const chunks = chosenSets().flatMap((set) =>
      Array.from({ length: set.chunks }, (_, number) => [set, number, `${set.benchmark}.${set.lang}.${number}`]),
    );
    const total = chosenSets().reduce((sum, set) => sum + set.pairs, 0);
    const next = [];
    for (let at = 0; at < chunks.length; at += AT_ONCE) {
      const group = chunks.slice(at, at + AT_ONCE);
      const loaded = await Promise.all(group.map(([, , name]) => load(name)));
      if (mine !== run) return false;
      loaded.forEach((rows, i) => rows.forEach((row, place) => next.push({ set: group[i][0], chunk: group[i][1], place, row })));
      if (chunks.length > AT_ONCE) {
        $("bw-items-count").textContent = `Loading: ${next.length.toLocaleString("en")} of ${total.toLocaleString("en")} items`;
      }
    }
    pairs = next;
    incomplete = false;
    return true;
  }

  function test() {
    const query = field("query").value.trim().toLocaleLowerCase().normalize("NFC");
    const [phenomenon, paradigm] = field("paradigm").value.split("\t");
    const outcome = field("outcome").value;
    const [wrong, right] = [field("wrong").value, field("right").value];
    const by = (pair, model) => pair.row[4][pair.set.models.indexOf(model)];
    return (pair) => {
      const [, label, good, bad, verdicts] = pair.row;
      const own = pair.set.paradigms[label];
      if (phenomenon && own[0] !== phenomenon) return false;
      if (paradigm != null && own[1] !== paradigm) return false;
      if (outcome) {
        const some = verdicts.includes("0");
        const others = /[1h]/.test(verdicts);
        if (outcome === "none" && (!some || others)) return false;
        if (outcome === "some" && !(some && others)) return false;
        if (outcome === "wrong" && !some) return false;
        if (outcome === "all" && (some || !others)) return false;
      }
      if (wrong && by(pair, wrong) !== "0") return false;
      if (right && by(pair, right) !== "1") return false;
      return !query || `${good ?? ""}\n${bad ?? ""}`.toLocaleLowerCase().normalize("NFC").includes(query);
    };
  }

  async function filter(mine) {
    const fits = test();
    const next = [];
    for (let at = 0; at < pairs.length; at += SLICE) {
      for (const pair of pairs.slice(at, at + SLICE)) if (fits(pair)) next.push(pair);
      if (at + SLICE < pairs.length) await pause();
      if (mine !== run) return;
    }
    hits = next;
    page = 0;
    render();
  }

  let typed = 0;

  async function update(reload) {
    clearTimeout(typed); // what was typed last is read now, and opened words stay open
    const mine = ++run;
    try {
      if ((reload || incomplete) && !(await loadPairs(mine))) return;
    } catch (error) {
      if (mine === run) lacks(error);
      return;
    }
    await filter(mine);
  }

  const sentenceOf = (error) => `${error.message}: copy the whole folder of the report, or build it again.`;

  /** Say that a script of the report is not there, in place of pairs. */
  function lacks(error) {
    [pairs, hits, incomplete] = [[], [], true];
    $("bw-items-rows").replaceChildren();
    for (const name of ["back", "next"]) $(`bw-items-${name}`).disabled = true;
    $("bw-items-page").textContent = "";
    $("bw-items-count").textContent = sentenceOf(error);
  }

  // Pairs on the page

  /** Words of two sentences in columns: those of the longest common sequence together. */
  function align(first, second) {
    const [n, m] = [first.length, second.length];
    const best = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        best[i][j] = first[i] === second[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
      }
    }
    const columns = [];
    let [i, j] = [0, 0];
    let [onlyFirst, onlySecond] = [[], []];
    const flush = () => {
      for (let k = 0; k < Math.max(onlyFirst.length, onlySecond.length); k++) columns.push([onlyFirst[k] ?? null, onlySecond[k] ?? null, true]);
      [onlyFirst, onlySecond] = [[], []];
    };
    while (i < n || j < m) {
      if (i < n && j < m && first[i] === second[j]) {
        flush();
        columns.push([i++, j++, false]);
      } else if (j >= m || (i < n && best[i + 1][j] >= best[i][j + 1])) onlyFirst.push(i++);
      else onlySecond.push(j++);
    }
    flush();
    return columns;
  }

  const split = (text) => text?.match(/\S+/g) ?? [];
  /** The sides of a pair, or the only one of a single sentence. */
  const sidesOf = (row) => [0, 1].filter((side) => row[2 + side] != null);

  function sentence(words, columns, side, lang, sign, css, said) {
    const differing = new Set(columns.filter((column) => column[2]).map((column) => column[side]));
    const parts = words.flatMap((word, at) => [at ? " " : "", differing.has(at) ? h("mark", {}, word) : word]);
    return h("div", { lang, dir: "auto" }, h("span", { class: `bw-sign ${css}`, role: "img", "aria-label": said }, sign), " ", parts);
  }

  const SIGNS = { 1: ["✓", "exact", "right"], 0: ["✕", "deviates", "wrong"], h: ["½", "rounding", "tie"], "-": ["·", "absent", "not judged"] };

  function verdictsOf({ set, row }) {
    const parts = set.models.map((model, at) => {
      const [sign, css, said] = SIGNS[row[4][at]];
      return h("span", { class: "bw-verdict", title: `${nameOf("models", model)}: ${said}` },
        h("span", { class: `bw-sign ${css}`, role: "img", "aria-label": said }, sign), ` ${nameOf("models", model)}`);
    });
    return h("div", { class: "bw-verdicts" }, parts);
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
    let details = null;
    let failed = false;
    button.addEventListener("click", async () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      if (failed) details.remove(); // opened again, it is tried again
      if (details && !failed) details.hidden = !open;
      if (!open || (details && !failed)) return;
      failed = false;
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

  function wordsTable(pair, model, sides) {
    const shown = sidesOf(pair.row);
    const texts = sides.map(([values, words], side) => {
      const own = words ?? split(pair.row[2 + side]);
      return values.length > own.length ? [...own, "⟨end⟩"] : own;
    });
    const columns = shown.length > 1 ? align(...texts) : texts[shown[0]].map((_, at) => [at, at, false]);
    const line = (side, name) => [
      h("tr", {}, h("th", { scope: "row", rowspan: "2" }, name),
        columns.map((c) => h("td", { lang: pair.set.tag, dir: "auto" }, c[side] == null ? "" : c[2] ? h("mark", {}, texts[side][c[side]]) : texts[side][c[side]])),
        h("td", { class: "n" }, "sum")),
      h("tr", {}, columns.map((c) => h("td", { class: "n" }, c[side] == null ? "" : number(sides[side][0][c[side]]))),
        h("td", { class: "n" }, h("strong", {}, number(sum(sides[side][0]))))),
    ];
    return h("div", { class: "bw-scroll", role: "region", tabindex: "0", "aria-label": `Words by ${nameOf("models", model)}` },
      h("table", {}, h("caption", {}, nameOf("models", model)), h("tbody", {}, shown.flatMap((side) => line(side, ["good", "bad"][side])))));
  }

  async function wordsOf(pair) {
    const id = h("p", { class: "bw-caption" }, "Item ", h("code", {}, pair.row[0]), ", log-probabilities in nats.");
    if (!pair.set.words) return [id, h("p", {}, "The report has no words of this set: it would be too large. They are in the scores of the results.")];
    const chunk = await load(`${pair.set.benchmark}.${pair.set.lang}.${pair.chunk}.words`);
    const tables = pair.set.models.map((model, at) => {
      const sides = chunk[pair.place][at];
      return sides ? wordsTable(pair, model, sides) : h("p", {}, `${nameOf("models", model)}: no scores`);
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

  /** Whether a field can have a value: a choice only one of its options. */
  const offers = (box, value) => value != null && (!box.options || [...box.options].some((option) => option.value === value));

  function start() {
    fill(field("benchmark"), unique(index.sets.map((set) => set.benchmark)).map((key) => [key, nameOf("benchmarks", key)]));
    const given = new URLSearchParams(window.location.hash.slice(1));
    for (const name of ["benchmark", "lang", "paradigm", "outcome", "wrong", "right", "query"]) {
      if (name === "lang") fillLanguages();
      if (name === "paradigm") fillRest();
      if (offers(field(name), given.get(name))) field(name).value = given.get(name);
    }
    field("benchmark").addEventListener("change", () => { fillLanguages(); fillRest(); update(true); });
    field("lang").addEventListener("change", () => { fillRest(); update(true); });
    for (const name of ["paradigm", "outcome", "wrong", "right"]) field(name).addEventListener("change", () => update(false));
    field("query").addEventListener("input", () => {
      clearTimeout(typed);
      typed = setTimeout(() => update(false), 150);
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
  }, lacks);
})();
