"""Test a report card in a terminal, as a page, in lm-evaluation-harness's layout, and explained."""

import io
import json
import re
from copy import deepcopy
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest
from rich.cells import cell_len
from rich.console import Console

from blimpworks.analysis.accuracy import compute_accuracies
from blimpworks.cli import evaluate
from blimpworks.cli.audit import explain
from blimpworks.commands.declare import find_command
from blimpworks.errors import UserError
from blimpworks.evaluation import judged
from blimpworks.evaluation.build import build_card, build_report_card, page_of
from blimpworks.evaluation.card import read_card
from blimpworks.evaluation.terminal import print_card
from blimpworks.files import sha256_of, write_text
from blimpworks.generation.conversation import Unfit
from blimpworks.records.job import Job
from blimpworks.scoring import store
from blimpworks.scoring.shards import Manifest, write_manifest
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, write_rows, write_table
from support import card_kit, tiny
from support.card_kit import MARGINS, facts, write_evaluation, write_printed, write_sensitivity
from support.judging_kit import Condition, write_designs, write_scores

TABLES, RESULTS = ("tables.md", "tables.tex"), ("results_small.json", "results_large.json")
FILES = ("card.json", "index.html", *TABLES, *RESULTS)
HOSTILE = "<script>alert(1)</script> & co"
PADDING = "only rows of one length share a pass, because it matters"
START, BETTER = "after '[CLS]' (tokenizer)", "Sentences are likelier after '<b>'."
URDU = ("وہ لڑکا کتاب پڑھتا ہے", "وہ لڑکا کتاب پڑھتی ہے")


def texts(lang):
    if lang == "deu":
        return [(f"{HOSTILE} {i} gehen", f"{HOSTILE} {i} geht") for i in range(4)]
    return [URDU, *((f"{'very ' * 30}good {i}", f"{'very ' * 30}bad {i}") for i in range(7))]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Return facts on an evaluation with everything that a card can show."""
    root = write_evaluation(tmp_path_factory.mktemp("evaluation"), texts)
    models = product(("tiny", "peer", "huge"), ("eng", "deu"))
    rows = [(model, lang, "all", "all", 0.6) for model, lang in models]
    write_sensitivity(root, "small", "eng", [("bos", 0, 0.625), ("skip", 2, 0.5)])
    printed = write_printed(root, rows)
    whole = facts(root, printed=printed, sensitivity={"small": ["eng"]})
    checks = {"first token": START, "other starts": BETTER, "padding": PADDING}
    counts = {"sentences": 0, "statuses": {}, "shards": {}, "checks": checks}
    write_manifest(Manifest(engine="e", checkpoint="0" * 64, **counts), root / "manifest.json")
    whole["models"]["small"]["manifests"] = [str(root / "manifest.json")] * 2
    whole["models"]["small"]["tuning"] = "chat"
    return whole


@pytest.fixture(scope="module")
def card(given):
    return build_card(given)


def printed(card, width=80, **more):
    console = Console(file=io.StringIO(), width=width, **more)
    print_card(card, console)
    return console.file.getvalue()


def test_a_terminal_shows_accuracies_ranks_tests_gaps_and_worst_items(card):
    text = printed(card)
    assert re.search(r"^All languages +12 +58\.3 +32\.0–80\.7 +1 / 1 +91\.7", text, re.MULTILINE)
    assert "Among the 3 models in print: Mean of languages" in text
    assert re.search(r"^ *1 +▶ Large model +7 B", text, re.MULTILINE)
    assert "Paired tests (McNemar)" in text
    assert all(finding in " ".join(text.split()) for finding in (START, BETTER, PADDING))
    assert "Small model beside Tiny, Peer" in text
    assert "Worst items of Small model: 3 of the 4 on the page" in text
    assert "Accuracy by start of texts" in text
    sensitivity = card["benchmarks"][0]["sensitivity"]["small"]
    names = ("first_token", "own", "flips", "accuracy")
    values = [[row[name] for name in names] for row in sensitivity]
    assert values == [["bos", True, 0, 0.625], ["skip", False, 2, 0.5]]
    assert re.search(r"^ +✓ .*\[gehen\]$", text, re.MULTILINE), "words that differ"
    assert "\x1b" not in text
    assert max(cell_len(line.rstrip()) for line in printed(card, width=200).splitlines()) <= 80
    assert "\x1b[1m" in printed(card, force_terminal=True, color_system="standard")
    assert "[red]c" in printed({**card, "campaign": "[red]c"})


def test_of_a_chat_model_the_card_says_that_sentences_were_read_without_its_template(card, given):
    sentence = "Sentences were read as plain texts, without its chat template."
    assert " ".join(printed(card).split()).count(sentence) == 1, "the other is no chat model"
    assert Page(page_of(card)).text.count(sentence) == 1
    # A model that only answered prompts has scored no sentences.
    asked = given["models"]["small"] | {"manifests": []}
    models = given["models"] | {"small": asked}
    assert sentence not in printed(build_card({**given, "models": models}))


class Page(HTMLParser):
    """Addresses that a page loads or links, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        names = ("src", "href", "srcset", "data")
        self.addresses += [(tag, value) for name, value in attributes if name in names]

    def handle_data(self, data):
        self.text += data


def test_the_page_has_all_of_the_card_and_needs_no_other_file(card):
    page = Page(page_of(card))
    assert {tag for tag, _ in page.addresses} <= {"a"}
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "img", "iframe"})
    assert "url(" not in page_of(card)
    assert "@import" not in page_of(card)
    assert "<script>alert(1)</script> & co" in page.text
    assert "<script" not in page_of(card)
    text = " ".join(page.text.split())
    headings = ("Accuracy", "Among the models in print", "Paired tests between models")
    assert all(heading in text for heading in headings)
    assert "Large model (this evaluation)" in text
    worst = card["benchmarks"][0]["worst"].values()
    assert text.count("margin −") == sum(map(len, worst))
    classes = [tag for _, tag in page.tags if tag.get("class") == "words"]
    assert {tag["dir"] for tag in classes} == {"auto"}


LONG, LOST, BARRED = "too_long", "not_finite", "refused"
SKIPPING = {
    "eng": {"small": [2, 3, LONG, -1, 2, LOST, -5, 0], "large": [2, 3, 1, 1, *[LONG] * 4]},
    "deu": {"small": [LONG] * 4, "large": [1, 1, 3, BARRED]},
}
SKIPPED = (
    "Small model: n = 6, 6 skipped: 5 longer than the model's context, 1 with a score that is no "
    "number (English 2 of 8, German 4 of 4).",
    "Large model: n = 7, 5 skipped: 4 longer than the model's context, 1 refused by the engine, "
    "such as for tokens that the model has no embedding of (English 4 of 8, German 1 of 4).",
    "Not in n, as one of the two skipped them: English 5.",
    "Not in our n, because they were skipped: Small model 2, Large model 4.",
    "Not in n, because they were skipped: Small model, English, skip: 3 of 8.",
)


@pytest.fixture(scope="module")
def skipping(tmp_path_factory):
    """Write a card of models that skip some pairs, all of a language, all of a phenomenon."""
    root = write_evaluation(tmp_path_factory.mktemp("skipping"), margins_of=SKIPPING)
    rows = [("huge", "eng", "all", "all", 0.6)]
    write_sensitivity(root, "small", "eng", [("bos", 0, 0.625), ("skip", 2, None)], skipped=3)
    told = facts(root, printed=write_printed(root, rows), sensitivity={"small": ["eng"]})
    paths = [root / name for name in FILES]
    build_report_card(told, paths)
    return paths


def test_what_was_skipped_stands_beside_each_n_with_the_reason(skipping):
    card = read_card(skipping[0])
    shown = " ".join(printed(card).split())
    page = " ".join(Page(page_of(card)).text.split())
    assert [line for line in SKIPPED if line not in shown or line not in page] == []
    assert re.search(r"English +4–6 +2–4 +50.0", printed(card))
    assert re.search(r"person +0–3 +1–4 +33.3", printed(card))
    assert max(cell_len(line.rstrip()) for line in printed(card).splitlines()) <= 80
    (mean,) = (row for row in card["benchmarks"][0]["rows"] if row["lang"] == "mean")
    assert [accuracy["skipped"] for accuracy in mean["models"].values()] == [6, 5]
    results = json.loads(skipping[4].read_text(encoding="utf-8"))
    names = {"name": "pairs_deu", "alias": "pairs_deu"}
    assert results["results"]["pairs_deu"] == {**names, "sample_len": 0}
    assert results["n-samples"]["pairs_deu"] == {
        **{"original": 4, "effective": 0, "skipped": 4},
        "skipped_because": {"longer than the model's context": 4},
    }


@pytest.mark.parametrize(("status", "words"), [*judged.REASONS.items(), ("ok", "on which full")])
def test_all_skipped_is_a_sentence(tmp_path, status, words):
    failures = {*store.FAILED, store.TOO_LONG, store.EMPTY, *get_args(Unfit)}
    assert {*judged.REASONS, judged.TOO_LONG} == failures
    root = write_evaluation(tmp_path, margins_of={"eng": {"small": [status] * 8}})
    told = facts(root, methods={"small": ["full_sentence"]}, languages={"small": ["eng"]})
    told["models"].pop("large")
    told["benchmarks"]["pairs"]["items"].pop("deu")
    card = build_card(told)
    line = f"8 pairs, all skipped: {words}"
    assert line in " ".join(printed(card).split())
    assert line in Page(page_of(card)).text
    assert card["benchmarks"][0]["worst"] == {"small": []}


def test_models_with_large_counts_have_a_table_each(card):
    card = deepcopy(card)
    for row in card["benchmarks"][0]["rows"]:
        row["skipped"] = {"small": {"n": 1234, "of": 68123, "reasons": {"lost": 1234}}}
        for accuracy in row["models"].values():
            accuracy.update(n=68123, ties=1234, near_ties=12345)
    text = printed(card)
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"^All languages +68,123 .* 1,234 / 12,345$", text, re.MULTILINE)
    # A narrow terminal wraps lines, but no label or number is cut.
    text = printed(card, width=40)
    assert max(map(len, text.splitlines())) <= 60
    assert re.search(r"^English +68,123 .* 1,234 / 12,345$", text, re.MULTILINE)


def test_the_origin_of_a_converted_model_stands_behind_its_note(given, tmp_path):
    small = given["models"]["small"]
    description = json.loads(Path(small["checkpoint"]).read_text(encoding="utf-8"))
    origin = {"address": "a.gguf", "file": "a.gguf", "sha256": "0" * 64, "note": "GGUF, Q4"}
    description["source"] = {"kind": "converted"} | origin
    checkpoint = tmp_path / "checkpoint.json"
    write_text(checkpoint, json.dumps(description))
    converted = small | {"checkpoint": str(checkpoint), "note": "Run on German, as asked."}
    converted["tuning"] = "base"
    models = build_card(given | {"models": given["models"] | {"small": converted}})["models"]
    sentences = f"Run on German, as asked. Converted from a.gguf (GGUF, Q4), SHA-256 {'0' * 64}."
    assert models["small"]["note"] == sentences


def test_the_limit_of_a_model_is_that_in_the_manifest_of_its_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    items = tiny.write_items(Path("items.parquet"), [("a b", "b a")])
    manifest = Path("results/store/small/multi/manifest.json")
    write_text(manifest, json.dumps({"checks": {"limit": "1024"}}))
    scores = Path("results/scores/pairs/small/eng.parquet")
    with Job(find_command("collect_scores"), inputs=[manifest], outputs=[scores], params={}):
        write_scores(scores, [([(-1.0, 3)], [(-1.0, 3)])], {0: LONG})
    (why,) = judged.why_skipped(["i0"], items, scores, "m")
    assert why == "longer than the model's 1,024 tokens"


def test_an_item_of_several_sentences_is_skipped_for_the_one_that_failed(tmp_path):
    designs = [{name: Condition((name, [1.0])) for name in ("match", "mismatch")}] * 2
    items = write_designs(tmp_path / "i.parquet", designs, ["(*;%match%) < (*;%mismatch%)"])
    rows = [([(-1.0, 3)], [(-1.0, 3)])] * 4
    scores = write_scores(tmp_path / "results/scores/pairs/m/eng.parquet", rows, {3: LOST})
    none, lost = judged.why_skipped(["item 0", "item 1"], items, scores, "critical_region")
    assert none.startswith("on which critical_region gives no verdict")
    assert lost == judged.REASONS[LOST]


def asked(root, said):
    """Return facts on an evaluation by three prompts: one right, one wrong, one refused."""
    items = root / "items/asked/eng.parquet"
    path = root / "judgements/asked/small/eng.parquet"
    labels = {"lang": "eng", "phenomenon": "task", "paradigm": "template=1", "nominal": 3}
    cells = {**labels, "template": 1, "arguments": "{}", "answer": "yes"}
    results = [("ok", "no\n0", 1.0), ("ok", "no\n1", 0.0), ("refused", None, None)]
    prompts, answers, verdicts = [], [], []
    for i, (status, text, correct) in enumerate(results):
        item = {"item_id": f"i{i}"}
        prompts.append({**item, **cells, "number": i, "prompt": f"What is <b>{i}</b>?"})
        answers.append({**item, "status": status, "text": text, "finish": "stop", "tokens": 1})
        verdict = {"method": "published", "correct": correct, "tie": False, "near_tie": False}
        further = {name: values[i] for name, values in said.items()}
        verdicts.append({**item, **labels, **verdict, **further})
    write_rows(prompts, PROMPTS, items)
    write_rows(answers, ANSWERS, root / "answers/asked/small/eng.parquet")
    columns = {name: pa.nulls(3, pa.float64()) for name in ("value_good", "value_bad", "margin")}
    table = pa.Table.from_pylist(verdicts).drop_columns("lang")
    named = dict(zip(table.column_names, table, strict=True))
    write_table(pa.table(named | columns), JUDGEMENTS, path)
    accuracies = root / "accuracies/asked.parquet"
    compute_accuracies([("small", "eng", path)], "asked", accuracies)
    card_kit.write_checkpoint(root / "models/small/multi/checkpoint.json", "small")
    changes = {"unit": "prompt", "noun": "prompt", "chance": None, "accuracies": str(accuracies)}
    changes |= {"methods": {"small": ["published"]}, "languages": {"small": ["eng"]}}
    every = facts(root, **changes, items={"eng": str(items)})
    every["models"].pop("large")
    return every | {"benchmarks": {"asked": every["benchmarks"]["pairs"]}}


CUT = {"cut": [True, False, None], "echo": [True, True, None]}


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({}, "Whether answers were cut off is not known; judge them again."),
        (CUT, "1 of 2 answers reached the limit; 2 repeat the prompt and say nothing else."),
    ],
)
def test_of_prompts_answers_that_were_cut_off_or_repeat_them_are_counted(tmp_path, said, line):
    card = build_card(asked(tmp_path, said))
    assert line in " ".join(printed(card).split())
    assert line in Page(page_of(card)).text
    assert "n = 2, 1 skipped: refused by the engine" in " ".join(printed(card).split())
    assert "3 prompts: all there are." in printed(card)
    (wrong,) = card["benchmarks"][0]["wrong"]["small"]
    facts = [wrong[name] for name in ("prompt", "expected", "answer")]
    assert facts == ["What is <b>1</b>?", "yes", "no\n1"]
    assert "What is <b>1</b>?" in Page(page_of(card)).text
    assert "asked:    What is <b>1</b>?" in printed(card)


def test_a_text_that_is_cut_keeps_the_mark_on_its_last_letter(tmp_path):
    card = build_card(asked(tmp_path, {}))
    (wrong,) = card["benchmarks"][0]["wrong"]["small"]
    wrong["expected"] = f"{'x' * 97}e\u0301 and more"
    assert "xe\u0301…" in printed(card, width=200)


@pytest.fixture(scope="module")
def files(given, tmp_path_factory):
    folder = tmp_path_factory.mktemp("card")
    paths = [folder / name for name in FILES]
    counts = build_report_card(given, paths)
    assert counts == {"benchmarks": 1, "models": 2, "tests": 3}
    assert read_card(paths[0])["files"] == [*map(str, paths)]
    return dict(zip(FILES, paths, strict=True))


def test_tables_to_paste_have_accuracies_by_phenomenon_and_paradigm(files):
    markdown, latex = (files[name].read_text("utf-8") for name in ("tables.md", "tables.tex"))
    lines = [re.split(r" *\| *", line)[1:-1] for line in markdown.splitlines()]
    assert markdown.count("# Pairs by phenomenon") == markdown.count("# Pairs by paradigm") == 1
    assert ["All languages", "all", "12", "58.3 (32.0–80.7)", "91.7 (64.6–98.5)"] in lines
    assert ["English", "person", "SG", "4", "50.0 (15.0–85.0)", "75.0 (30.1–95.4)"] in lines
    assert "Accuracy in % and its 95 % interval. 12 pairs in 2 languages: all there" in markdown
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    assert r"German & number & SG & 4 & 50.0 (15.0--85.0) & 100.0 (51.0--100.0) \\" in latex
    assert r"Judged by full\_sentence." in latex
    page = files["index.html"].read_text("utf-8")
    assert "<summary>By paradigm: German</summary>" in page
    assert "number: SG</th>" in page


def test_tables_to_paste_warn_of_models_in_other_languages(tmp_path):
    margins = {**MARGINS, "deu": {"small": MARGINS["deu"]["small"]}}
    root = write_evaluation(tmp_path / "results", margins_of=margins)
    paths = [tmp_path / name for name in FILES]
    build_report_card(facts(root, languages={"small": ["eng", "deu"], "large": ["eng"]}), paths)
    for path in paths[2:4]:
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert text.count("The models are not judged in the same languages") == 2


def test_results_have_a_task_for_each_language_and_phenomenon(files, given, tmp_path):
    results = json.loads(files["results_small.json"].read_text("utf-8"))
    assert results["results"]["pairs_eng"] == {
        **{"name": "pairs_eng", "alias": "pairs_eng", "sample_len": 8, "acc,none": 0.625},
        # The standard deviation of five 1 and three 0, by n - 1, over the root of 8.
        "acc_stderr,none": pytest.approx(0.18298126367784995),
    }
    parts = ["pairs_eng_number", "pairs_eng_person"]
    assert results["group_subtasks"] == {"pairs_eng": parts, "pairs_deu": []}
    assert results["n-samples"]["pairs_eng_person"] == {"original": 4, "effective": 4}
    assert results["config"]["model_args"]["pretrained"] == "org/small"
    assert results["config"]["model_num_parameters"] == 1_000_000_000
    (benchmark,) = given["benchmarks"].values()
    whole = dict.fromkeys(benchmark["items"], benchmark["items"]["eng"])
    sampled = {**given, "benchmarks": {"pairs": {**benchmark, "all_items": whole}}, "limit": 4}
    paths = [tmp_path / name for name in FILES]
    build_report_card(sampled, paths)
    results = json.loads(paths[4].read_text(encoding="utf-8"))
    assert results["n-samples"]["pairs_deu"] == {"original": 8, "effective": 4}
    assert results["config"]["limit"] == 4
    assert "A balanced sample of 12 of 16 pairs" in paths[1].read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_harness_reads_our_results_as_its_own(files):
    pytest.importorskip("lm_eval")
    from lm_eval.result_schema import EvalResults
    from lm_eval.utils import make_table

    results = json.loads(files["results_small.json"].read_text("utf-8"))
    assert results.keys() - {"blimpworks_version"} <= EvalResults.__annotations__.keys()
    lines = (line.replace(" ", "") for line in make_table(results).splitlines())
    (line,) = (line for line in lines if line.startswith("|pairs_eng|"))
    assert line.endswith("|none|0|acc|↑|0.625|±|0.1830|")


SOME_LONG = MARGINS | {
    "eng": {"small": [2, 3, LONG, -1, 2, 4, -5, 0], "large": [1, 1, 1, 1, *[LONG] * 4]}
}


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    """Write an evaluation in which some pairs were skipped; return its directory."""
    folder = tmp_path_factory.mktemp("evaluation")
    results = folder / "results"
    write_evaluation(results, margins_of=SOME_LONG)
    outputs = [results / "report_card" / name for name in FILES]
    evaluate.build_report_card.callback(outputs=outputs, facts=facts(results))
    return folder


@pytest.fixture
def told(evaluation, monkeypatch, capsys, tmp_path):
    """Return a function that gives explain's output on a row and column of the card."""
    monkeypatch.chdir(tmp_path)

    def tell(row=None, column=None, path="", **more):
        arguments = {"items": 1, "item": None, "paper": None, "printed_in": None} | more
        arguments |= {"ancestry": False, "html": None, "json": arguments.get("json", False)}
        explain.callback(exhibit=evaluation / path, row=row, column=column, **arguments)
        return capsys.readouterr().out

    return tell


CARD = "results/report_card"


@pytest.mark.parametrize("path", ["", "results", f"{CARD}/card.json", f"{CARD}/index.html"])
def test_a_number_of_the_card_leads_to_its_items_scores_and_files(told, evaluation, path):
    text = told("English", "small", path)
    items = evaluation / "results/items/pairs/eng.parquet"
    for line in (
        "English / Small model = 57.1, 95 % interval 25.0-84.2",
        "i6  SG  full_sentence: margin -5.000, wrong",
        "   + the dog 6 sees  [-20.000 nats]",
        "computed again from those rows: 57.1429 (the same)",
        "n = 7, 1 skipped: longer than the model's context.",
        "Rows of scores, by status: 7 ok, 1 too_long.",
        f"Items from {items}, sha256 {sha256_of(items)}.",
    ):
        assert line in text


@pytest.mark.parametrize(
    ("row", "value", "rows"),
    [
        ("all", "54.5", 12),
        ("all languages", "54.5", 12),
        ("mean", "53.6", 2),
        ("German", "50.0", 4),
        ("deu", "50.0", 4),
        ("pairs", "54.5", 12),
        ("eng, number", "66.7", 4),
        ("number/eng", "66.7", 4),
        ("Pairs, English, person", "50.0", 4),
    ],
)
def test_what_a_row_does_not_name_is_the_whole(told, row, value, rows):
    document = json.loads(told(row, "Small model", json=True))
    assert (document["cell"]["text"], document["rows"]) == (value, rows)
    assert document["recomputed"] == pytest.approx(document["cell"]["value"])


def test_without_row_and_column_the_numbers_are_listed(told):
    lines = told().splitlines()
    line = "English / Small model = 57.1 (n = 7, 1 skipped: longer than the model's context)"
    assert line in lines
    assert "German / Large model = 100.0 (n = 4, none skipped)" in lines
    skipped = "English, person / Large model: 4 pairs, all skipped: longer than the model's context"
    assert skipped in lines
    assert told("eng, person", "large") == f"{skipped}\n"
    assert len(told("German").splitlines()) == 2


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("Klingon", "small", "no row 'Klingon'; there are: All languages; All languages, number"),
        ("German", "medium", "no column 'medium'; there are: Small model, Large model."),
    ],
)
def test_what_the_card_does_not_have_is_refused_with_what_it_has(told, row, column, message):
    with pytest.raises(UserError, match=message):
        told(row, column)


def test_a_card_that_was_edited_or_moved_is_refused(told, evaluation, tmp_path):
    page = evaluation / CARD / "index.html"
    before = page.read_text(encoding="utf-8")
    page.write_text(before.replace("57.1", "97.1"), encoding="utf-8")
    with pytest.raises(UserError, match=r"index.html is not what its job wrote"):
        told("English", "small", f"{CARD}/index.html")
    page.write_text(before, encoding="utf-8")
    moved = evaluation.rename(tmp_path / "elsewhere")
    message = r"elsewhere/.* was made as .*; explain the numbers of that file"
    with pytest.raises(UserError, match=message):
        told("English", "small", moved)
    moved.rename(evaluation)
