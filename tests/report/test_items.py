"""The page of items: scripts with pairs, what models made of them, and their words."""

import json
import os
import re
import shutil

import pyarrow as pa
import pytest

from blimpworks.files import write_text
from blimpworks.report.items import item_scripts, sets_from
from blimpworks.report.pages import HERE
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, write_rows, write_table

PAIRS = [
    ("i1", "svP", "I see it .", "I sees it ."),
    ("i2", "svP", "You see .", "You sees ."),
    ("i3", "sv#", "We go .", "We goes ."),
]


def item(item_id, phenomenon, good, bad):
    texts = {"item_id": item_id, "phenomenon": phenomenon, "paradigm": phenomenon}
    return texts | {"good": good, "bad": bad, "lang": "eng"}


def write_items(path, rows, **more):
    """Write items with further columns, by the name of their Arrow type."""
    columns = [pa.field(name, pa.type_for_alias(kind)) for name, kind in more.items()]
    schema = pa.schema([*ITEMS.arrow(), *columns])
    write_table(pa.Table.from_pylist(rows, schema=schema), ITEMS, path)


def judgement(item_id, correct, method="full_sentence"):
    return {"item_id": item_id, "method": method, "correct": correct}


def score(item_id, good, bad):
    sides = {"good": good, "bad": bad}
    ends = {f"{s}_ends": [m.end() for m in re.finditer(r"\S+", t)] for s, t in sides.items()}
    values = {f"{s}_logprobs": [-1.5] * len(ends[f"{s}_ends"]) for s in sides}
    return {"item_id": item_id, **ends, **values}


@pytest.fixture
def facts(tmp_path):
    """What the workflow says of three pairs and two models, one of which has judged two."""
    write_rows([item(*pair) for pair in PAIRS], ITEMS, tmp_path / "eng.parquet")
    verdicts = {"a": {"i1": 1.0, "i2": 0.0, "i3": 0.5}, "b": {"i1": 0.0, "i3": None}}
    for model, own in verdicts.items():
        rows = [judgement(*each) for each in own.items()]
        rows.append(judgement("i1", 1.0 - (own["i1"] or 0.0), "another"))
        write_rows(rows, JUDGEMENTS, tmp_path / f"judgements/{model}/eng.parquet")
        scores = [score(i, good, bad) for i, _, good, bad in PAIRS if i in own]
        write_rows(scores, SCORES, tmp_path / f"scores/{model}/eng.parquet")
    templates = {n: f"{tmp_path}/{n}/{{model}}/{{lang}}.parquet" for n in ("judgements", "scores")}
    own = {"items": {"eng": str(tmp_path / "eng.parquet")}, "method": "full_sentence"}
    return {"x": own | templates | {"models": {"a": ["eng"], "b": ["eng"], "c": ["deu"]}}}


def scripts(facts, **options):
    """Contents of the scripts by their names."""
    texts = dict(item_scripts(sets_from(facts), {"models": {"a": "Model A"}}, **options))
    contents = {}
    for name, text in texts.items():
        match = re.fullmatch(r'blimpworksItems\.receive\("([^"]+)",(.*)\);\n', text)
        assert match[1] == name
        contents[name] = json.loads(match[2])
    return contents


def test_each_pair_has_both_sentences_a_verdict_of_each_model_and_their_words(facts):
    contents = scripts(facts)
    first, second, third = contents["x.eng.0"]
    assert first == ["i1", 0, "I see it .", "I sees it .", "10"]
    assert (second[4], third[1], third[4]) == ("0-", 1, "h-")
    words = contents["x.eng.0.words"]
    assert words[0][0] == [[[-1.5] * 4], [[-1.5] * 4]]
    assert words[1][1] is None, "a pair that the model has not scored"
    # Beyond the size of the site there are verdicts and no words.
    small = scripts(facts, most_words=5)
    assert (len(small["x.eng.0"]), "x.eng.0.words" in small) == (3, False)
    assert small["index"]["sets"][0]["words"] is False


@pytest.mark.parametrize("acceptable", [True, False])
def test_a_single_sentence_stands_on_its_own_side_with_its_words(facts, tmp_path, acceptable):
    rows = [item(i, p, good, good) | {"acceptable": acceptable} for i, p, good, _ in PAIRS]
    write_items(tmp_path / "eng.parquet", rows, acceptable="bool")
    texts = scripts(facts)
    step = 1 if acceptable else -1
    assert texts["x.eng.0"][0] == ["i1", 0, *["I see it .", None][::step], "10"]
    assert texts["x.eng.0.words"][0][0] == [[[-1.5] * 4], [[]]][::step]


def test_items_of_several_conditions_are_counted_where_they_are_left_out(facts, tmp_path):
    rows = [
        item(f"{i}{n}", p, good, good) | {"item": i, "condition": n}
        for n in "ab"
        for i, p, good, _ in PAIRS
    ]
    write_items(tmp_path / "deu.parquet", rows, item="string", condition="string")
    designs = facts["x"] | {"items": {"deu": str(tmp_path / "deu.parquet")}}
    assert scripts(facts | {"y": designs})["index"]["omitted"] == [["y", 3]]


def test_words_that_do_not_stand_between_spaces_are_written_out(facts, tmp_path):
    write_rows([item("i1", "svP", "見る", "見た")], ITEMS, tmp_path / "eng.parquet")
    numbers = {"ends": [1, 2], "logprobs": [-1.0, -2.0]}
    row = {"item_id": "i1"} | {f"{s}_{n}": v for s in ("good", "bad") for n, v in numbers.items()}
    for model in ("a", "b"):
        write_rows([row], SCORES, tmp_path / f"scores/{model}/eng.parquet")
    words = scripts(facts)["x.eng.0.words"]
    assert words[0][0] == [[[-1.0, -2.0], ["見", "る"]], [[-1.0, -2.0], ["見", "た"]]]


@pytest.fixture
def page(facts, tmp_path):
    """The page of items of three pairs, opened from its file."""
    sync_api = pytest.importorskip("playwright.sync_api", exc_type=ImportError)
    browser_path = os.environ.get("BLIMPWORKS_CHROMIUM") or shutil.which("chromium")
    if not browser_path:
        pytest.skip("no chromium on the PATH (or in BLIMPWORKS_CHROMIUM)")
    site = tmp_path / "site"
    kinds = ("benchmarks", "languages", "phenomena")
    labels = {"models": {"a": "Model A", "b": "Model B"}} | {kind: {} for kind in kinds}
    for name, text in item_scripts(sets_from(facts), labels):
        write_text(site / f"_static/items/{name}.js", text)
    for name in ("panel.js", "items.js"):
        shutil.copyfile(HERE / "assets" / name, site / "_static" / name)
    head = '<!DOCTYPE html><meta charset="utf-8"><script defer src="_static/panel.js"></script>'
    body = (HERE / "assets/items.html.jinja").read_text(encoding="utf-8")
    write_text(site / "items.html", f"{head}<body>{body}</body>")
    with sync_api.sync_playwright() as playwright:
        # Chromium's sandbox needs rights that containers don't give.
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((site / "items.html").as_uri())
        page.get_by_text("3 of 3 items").wait_for()
        yield page
        browser.close()


def shown(page, count):
    """The good sentences on the page, once it shows so many pairs."""
    page.get_by_text(f"{count} of 3 items").wait_for()
    texts = page.locator("#bw-items-rows > tr > td:first-child > div:first-child").all_inner_texts()
    return [text.removeprefix("✓").strip() for text in texts]


@pytest.mark.browser
def test_pairs_are_found_by_words_phenomenon_and_verdicts_and_open_with_their_words(page):
    page.get_by_label("Search in sentences").fill("YOU SEES")
    assert shown(page, 1) == ["You see ."]
    page.get_by_label("Search in sentences").fill("")
    page.get_by_label("Phenomenon").select_option("sv#")
    assert shown(page, 1) == ["We go ."]
    page.get_by_label("Phenomenon").select_option("")
    page.get_by_label("Wrong by").select_option("b")
    page.get_by_label("Right by").select_option("a")
    assert shown(page, 1) == ["I see it ."]
    assert "wrong=b" in page.url
    page.get_by_role("button", name="words").first.click()
    # The list of items names the models too, and is there before the words are.
    table = page.get_by_role("table").filter(has=page.get_by_role("cell", name="sum")).last
    table.wait_for()
    lines = [row.split("\t") for row in table.inner_text().splitlines() if "\t" in row]
    assert lines[0] == ["good", "I", "see", "it", ".", "sum"]
    assert lines[2] == ["bad", "I", "sees", "it", ".", "sum"]
    assert lines[1][-1] == "−6.00"
