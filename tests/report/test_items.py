"""The page of items: scripts with pairs, what models made of them, and their words."""

import json
import re

import pytest

from blimpworks.report.items import item_scripts, sets_from
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, write_rows

PAIRS = [
    ("i1", "svP", "I see it .", "I sees it ."),
    ("i2", "svP", "You see .", "You sees ."),
    ("i3", "sv#", "We go .", "We goes ."),
]


def item(item_id, phenomenon, good, bad):
    columns = dict.fromkeys(ITEMS.names, "") | dict.fromkeys(
        ("good_start", "good_end", "bad_start", "bad_end"), 0
    )
    texts = {"item_id": item_id, "phenomenon": phenomenon, "paradigm": phenomenon}
    return columns | texts | {"good": good, "bad": bad, "lang": "eng"}


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
        write_rows(rows, JUDGEMENTS, tmp_path / f"judgements/eng/{model}.parquet")
        scores = [score(i, good, bad) for i, _, good, bad in PAIRS if i in own]
        write_rows(scores, SCORES, tmp_path / f"scores/eng/{model}.parquet")
    templates = {n: f"{tmp_path}/{n}/{{lang}}/{{model}}.parquet" for n in ("judgements", "scores")}
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


def test_each_pair_has_both_sentences_and_a_verdict_of_each_model(facts):
    first, second, third = scripts(facts)["x.eng.0"]
    assert first == ["i1", 0, "I see it .", "I sees it .", "10"]
    assert second[4] == "0-"
    assert third[1] == 1
    assert third[4] == "h-"


def test_the_index_says_which_pairs_models_and_phenomena_a_set_has(facts):
    index = scripts(facts)["index"]
    assert index["labels"] == {"models": {"a": "Model A"}}
    (own,) = index["sets"]
    assert (own["pairs"], own["chunks"], own["models"]) == (3, 1, ["a", "b"])
    assert own["paradigms"] == [["svP", "svP"], ["sv#", "sv#"]]


def test_words_have_log_probabilities_and_a_pair_that_a_model_has_not_scored_has_none(facts):
    words = scripts(facts)["x.eng.0.words"]
    assert words[0][0] == [[[-1.5] * 4], [[-1.5] * 4]]
    assert words[1][1] is None


def test_a_set_beyond_the_size_of_the_site_has_verdicts_and_no_words(facts):
    small = scripts(facts, most_words=5)
    assert "x.eng.0.words" not in small
    assert small["index"]["sets"][0]["words"] is False
    assert len(small["x.eng.0"]) == 3


def test_a_campaign_without_models_has_no_page(facts):
    facts["x"]["models"] = {}
    assert scripts(facts) == {}


def test_words_that_do_not_stand_between_spaces_are_written_out(facts, tmp_path):
    write_rows([item("i1", "svP", "見る", "見た")], ITEMS, tmp_path / "eng.parquet")
    row = score("i1", "見る", "見た") | {
        f"{side}_{name}": values
        for side in ("good", "bad")
        for name, values in (("ends", [1, 2]), ("logprobs", [-1.0, -2.0]))
    }
    for model in ("a", "b"):
        write_rows([row], SCORES, tmp_path / f"scores/eng/{model}.parquet")
    words = scripts(facts)["x.eng.0.words"]
    assert words[0][0] == [[[-1.0, -2.0], ["見", "る"]], [[-1.0, -2.0], ["見", "た"]]]
