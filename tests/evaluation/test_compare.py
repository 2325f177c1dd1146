"""Test the comparison of two evaluations: changed results and their reasons."""

import json
import math
import re
import shutil
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import blimpworks
from blimpworks.errors import UserError
from blimpworks.evaluation.compare import compare_evaluations, print_comparison, texts_of
from blimpworks.evaluation.request import repository_catalogue, write_models
from blimpworks.tables import ANSWERS, ITEMS, PROMPTS, read_table, write_rows
from support import answers_kit
from support.evaluation_kit import BENCHMARK, LANG, PAIRS, Evaluation
from support.judging_kit import Condition, write_designs

CATALOGUE = repository_catalogue().models


@pytest.fixture
def new(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    return lambda name: Evaluation(Path(name)).write_items()


def of(row, *names):
    return tuple(row[name] for name in names)


def printed(comparison, width=80):
    console = Console(width=width, file=StringIO(), force_terminal=False)
    print_comparison(comparison, console)
    return console.file.getvalue()


BEFORE = [2, 2, -1, -1, 3, 3, 3, -5]
AFTER = [2, -4, -1, -1, 3, 1, -3, -5]
"""Margins after a change: the second good sentence of each phenomenon loses 6 nats and the pair."""


@pytest.fixture
def two(new):
    """Return evaluations of a model before and after it loses two pairs of eight."""
    return new("a").judge(BEFORE).finish(), new("b").judge(AFTER).finish()


def test_accuracies_differences_and_tests_are_of_each_language_and_phenomenon(two):
    rows = compare_evaluations(*two).rows
    names = ("phenomenon", "accuracy_a", "accuracy_b", "difference", "only_a", "only_b", "both")
    assert [of(row, *names) for row in rows] == [
        ("all", 0.625, 0.375, -0.25, 2, 0, 8),
        ("far", 0.75, 0.5, -0.25, 1, 0, 4),
        ("near", 0.5, 0.25, -0.25, 1, 0, 4),
    ]
    # By the exact test of two changes in one direction: 2 × 0.5 ** 2.
    assert {row["phenomenon"]: row["p"] for row in rows} == {"all": 0.5, "far": 1.0, "near": 1.0}
    same = compare_evaluations(two[0], two[0])
    assert {row["difference"] for row in same.rows} == {0.0}
    assert (same.flips, same.reasons, same.flipped) == ([], [], 0)


def test_models_that_are_chosen_or_of_one_name_are_compared(new):
    a = new("a").judge(BEFORE, "small").judge(AFTER, "large").finish()
    b = new("b").judge(BEFORE, "other").judge(AFTER, "small").finish()
    comparison = compare_evaluations(a, b)
    assert comparison.models == (("small", "small"),)
    assert comparison.notes[:2] == [
        "Models only in a, not compared: large.",
        "Models only in b, not compared: other.",
    ]
    chosen = compare_evaluations(a, a, ("large", "small"))
    assert (chosen.rows[0]["only_a"], chosen.rows[0]["only_b"]) == (0, 2)
    assert compare_evaluations(a, a).models == (("small", "small"), ("large", "large"))
    c = new("c").judge(BEFORE, "third").finish()
    with pytest.raises(UserError, match=r"say which two to compare, such as --models small third"):
        compare_evaluations(a, c)
    with pytest.raises(UserError, match=r"c has no accuracies of model 'small'; it has third"):
        compare_evaluations(a, c, ("small", "small"))


def test_the_form_of_the_test_is_the_benchmarks_in_the_campaign(new):
    """Chi-squared with continuity correction: (|2 − 0| − 1)² ÷ 2 = 0.5."""
    folders = [
        new(name).campaign(benchmarks=[BENCHMARK]).judge(margins).finish()
        for name, margins in (("a", BEFORE), ("b", AFTER))
    ]
    assert compare_evaluations(*folders).rows[0]["p"] == pytest.approx(0.4795, abs=5e-5)


def test_flips_are_named_with_their_sentences_the_largest_change_first(two):
    comparison = compare_evaluations(*two, flips=1)
    assert comparison.flipped == 2
    [flip] = comparison.flips
    assert of(flip, "item_id", "right_in", "margin_a", "margin_b") == ("i1", "a", 2.0, -4.0)
    assert flip["texts"] == ["✓ the good 1", "✗ the bad 1"]
    assert [each["item_id"] for each in compare_evaluations(*two).flips] == ["i1", "i6"]


@pytest.mark.parametrize("other", ["small", "large", LANG, BENCHMARK])
def test_what_decides_and_differs_is_named_by_the_jobs_records(new, other):
    a = new("a").judge(BEFORE).finish()
    b = new("b").judge(AFTER, other, near_tie=0.5).finish()
    comparison = compare_evaluations(a, b)
    assert (comparison.models, comparison.rows[0]["only_a"]) == ((("small", other),), 2)
    # The jobs of a renamed model are the same; only other settings are a reason.
    scores = f"results/scores/{BENCHMARK}/small/{LANG}.parquet has other content"
    assert {(each.category, each.text, each.tables) for each in comparison.reasons} == {
        ("parameter", "judge near_tie: 0.01 → 0.5", 1),
        ("input", scores, 1),
    }


def test_trees_without_records_or_benchmarks_of_the_other_are_compared_with_notes(two):
    Evaluation(two[1], "multiblimp").write_items().judge(BEFORE).finish()
    for path in two[1].rglob("*.prov.json"):
        path.unlink()
    comparison = compare_evaluations(two[0] / "results", two[1] / "results")
    assert comparison.flipped == 2
    notes = " ".join(comparison.notes)
    assert "Only in b/results: multiblimp in eng." in notes
    assert "What jobs did differently is not known" in notes
    assert "\nNo difference in how A and B were made is known.\n" in printed(comparison)
    with pytest.raises(UserError, match="is no directory; name that of an evaluation"):
        compare_evaluations(two[0], two[0] / "nowhere")
    shutil.rmtree(two[1] / "results/accuracies")
    with pytest.raises(UserError, match="has no accuracies; expected the directory of a finished"):
        compare_evaluations(*two)


def test_items_that_only_one_has_are_counted_and_tests_are_on_those_of_both(new):
    a = new("a").judge(BEFORE).finish()
    sample = new("b")
    sampled = sample.limit(4)
    kept = read_table(ITEMS, sampled)["item_id"].to_pylist()
    b = sample.judge(AFTER, items=sampled).finish()
    comparison = compare_evaluations(a, b)
    [whole] = [row for row in comparison.rows if row["phenomenon"] == "all"]
    assert (whole["n_a"], whole["n_b"], whole["both"]) == (8, 4, 4)
    assert (whole["items_only_a"], whole["items_only_b"]) == (4, 0)
    assert whole["only_a"] == len({"i1", "i6"} & {*kept})
    texts = {(each.category, each.text) for each in comparison.reasons}
    assert ("input", "items: all in A, a sample of them in B") in texts
    assert not [text for _, text in texts if "only in" in text]


def test_what_was_skipped_is_counted_with_the_reason_also_where_it_is_all(new):
    a = new("a").judge([*BEFORE[:6], math.nan, math.nan]).finish()
    b = new("b").judge([math.nan] * 8).finish()
    comparison = compare_evaluations(a, b)
    whole = comparison.rows[0]
    assert (whole["n_a"], whole["n_b"], whole["both"], whole["accuracy_b"]) == (6, 0, 0, None)
    why = "longer than the model's context"
    assert (whole["skipped_a"], whole["skipped_b"]) == ({why: 2}, {why: 8})
    text = printed(comparison)
    assert f"  A: n = 6, 2 skipped: {why}.\n  B: 8 items, all skipped: {why}.\n" in text
    assert re.search(r"^eng +66\.7 +– +– +0 +0 +0 +–$", text, re.MULTILINE)
    assert compare_evaluations(b, b).rows[0]["both"] == 0
    # Results can be copied without scores.
    shutil.rmtree(b / "results/scores")
    unknown = "for unknown reasons, since there is no table of scores or answers"
    assert compare_evaluations(a, b).rows[0]["skipped_b"] == {unknown: 8}


def test_settings_and_rows_of_models_that_differ_are_reasons(new):
    folders = []
    for name, token, limit in (("a", "bos", None), ("b", "eos", 100)):
        evaluation = new(name).campaign(benchmarks=[BENCHMARK], limit=limit)
        row = CATALOGUE["gpt2"].model_copy(update={"name": "small", "first_token": token})
        write_models([row], evaluation.folder / "models.tsv")
        folders.append(evaluation.judge(BEFORE if name == "a" else AFTER).finish())
    reasons = [(each.category, each.text) for each in compare_evaluations(*folders).reasons]
    token = ("model", 'small, first_token: "bos" → "eos"')
    assert reasons[:2] == [("setting", "limit: null → 100"), token]


def test_items_are_shown_with_all_conditions_and_prompts_with_both_answers(tmp_path):
    conditions = {name: Condition((name, [1.0])) for name in ("match", "mismatch")}
    path = tmp_path / "designs.parquet"
    write_designs(path, [conditions] * 2, ["(*;%match%) < (*;%mismatch%)"])
    assert texts_of("item 1", [path], []) == ["match: match", "mismatch: mismatch"]
    path = tmp_path / "items.parquet"
    answers_kit.write_prompts(path, answers_kit.QUESTIONS[:2])
    row = read_table(PROMPTS, path).to_pylist()[0]
    for name, text in (("a", "Yes."), ("b", None)):
        write_rows([{"item_id": row["item_id"], "text": text}], ANSWERS, tmp_path / name)
    answers = [tmp_path / name for name in "ab"]
    shown = texts_of(row["item_id"], [path], answers)
    assert shown == [row["prompt"], "A: Yes.", "B: (no answer)"]


def test_the_terminal_has_all_of_it_in_eighty_columns(two):
    text = printed(compare_evaluations(*two))
    assert max(map(len, text.splitlines())) <= 80
    assert all(line == line.rstrip() for line in text.splitlines() if "✓" in line)
    # A terminal of 30 columns wraps lines; no digits are cut.
    for lines in (text, printed(compare_evaluations(*two), width=30)):
        assert re.search(r"^eng +62\.5 +37\.5 +−25\.0 +8 +2 +0 +0\.500$", lines, re.MULTILINE)
    assert re.search(r"^  far +75\.0 +50\.0 +−25\.0 +4 +1 +0 +1\.000$", text, re.MULTILINE)
    assert "right in A alone: margin 2.00 → −4.00 (clams eng, near_one, i1)\n" in text
    assert "    ✓ the good 1\n" in text
    assert "input: results/scores/clams/small/eng.parquet has other content (1 table)" in text
    document = json.loads(json.dumps(asdict(compare_evaluations(*two))))
    assert document["rows"][0]["difference"] == -0.25


def write_samples(folder, margins, before, **changes):
    """Write lm-eval's log of the first pairs, with a text before each sentence."""
    folder.mkdir(exist_ok=True)
    lines = []
    for number, (pair, margin) in enumerate(zip(PAIRS, margins, strict=False)):
        doc = dict(zip(("sentence_good", "sentence_bad"), pair, strict=True))
        asked = [{"arg_0": "", "arg_1": f"{before}{text}"} for text in pair]
        sample = {"doc_id": number, "doc": doc, "target": "0", "acc": float(margin > 0)}
        sample |= {"arguments": {f"gen_args_{i}": each for i, each in enumerate(asked)}}
        sample |= {"filtered_resps": [[str(margin - 9.0), "False"], ["-9.0", "False"]]}
        logged = {key: value for key, value in (sample | changes).items() if value is not None}
        lines.append(json.dumps(logged) + "\n")
    (folder / "samples_clams_2026-11-27T00-00-00.5.jsonl").write_text("".join(lines))
    return folder


SPACE = (
    "lm-eval put ' ' before a sentence (its task's context and target_delimiter), blimpworks "
    "nothing, so that the model reads other tokens; 1 of 6 decisions differ, for this and "
    "all other reasons"
)


@pytest.mark.parametrize(("before", "reasons"), [(" ", [SPACE]), ("", [])])
def test_the_harness_is_compared_with_and_its_space_explained(two, tmp_path, before, reasons):
    comparison = compare_evaluations(two[0], write_samples(tmp_path / "theirs", AFTER[:6], before))
    assert comparison.models == (("small", "theirs"),)
    assert [each.text for each in comparison.reasons] == reasons
    assert comparison.notes == []
    whole = comparison.rows[0]
    assert of(whole, "n_a", "n_b", "both", "only_a", "only_b") == (8, 6, 6, 1, 0)
    assert (whole["accuracy_a"], whole["accuracy_b"]) == (0.625, 0.5)
    [flip] = comparison.flips
    assert of(flip, "item_id", "margin_a", "margin_b") == ("i1", 2.0, -4.0)
    assert flip["texts"] == ["✓ the good 1", "✗ the bad 1"]


def test_a_space_of_the_harness_that_the_items_have_is_no_difference(new, tmp_path):
    spaced = [(f" {good}", f" {bad}") for good, bad in PAIRS]
    ours = new("a").write_items(spaced).judge(BEFORE).finish()
    comparison = compare_evaluations(ours, write_samples(tmp_path / "theirs", AFTER, " "))
    assert comparison.reasons == []
    assert of(comparison.rows[0], "both", "only_a", "only_b") == (8, 2, 0)


@pytest.mark.parametrize("before", ["", " "])
def test_samples_of_pairs_that_the_evaluation_lacks_are_counted(new, tmp_path, before):
    ours = new("a").write_items(PAIRS[:6], ["near"] * 6).judge(BEFORE[:6]).finish()
    theirs = write_samples(tmp_path / "theirs", AFTER, before)
    comparison = compare_evaluations(ours, theirs)
    assert comparison.notes == [f"Only in {theirs}, not compared: 2 of 8 pairs."]


def test_a_file_of_samples_can_be_named(two, tmp_path):
    [file] = write_samples(tmp_path / "theirs", AFTER, "").iterdir()
    comparison = compare_evaluations(two[0], file)
    assert (comparison.models, comparison.flipped) == ((("small", "theirs"),), 2)
    file.write_bytes(file.read_bytes()[:-9] + b"\xff")
    with pytest.raises(UserError, match=r"jsonl is not in UTF-8 .*; expected samples of lm-eval"):
        compare_evaluations(two[0], file)


def test_an_evaluation_with_exported_samples_below_it_is_compared_as_an_evaluation(two):
    write_samples(two[1] / "exported", BEFORE, "")
    assert compare_evaluations(*two).flipped == 2


OTHER = {"doc": {"sen": "A.", "wrong_sen": "B."}, "arguments": [["", "A."], ["", "B."]]}
ALIKE = {"filtered_resps": [["-8.0", "False"], ["-9.0", "False"]], "acc": 1.0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "1"}, r"jsonl:1: is no sample of lm-eval .*target is '1', expected 0"),
        ({"arguments": {}}, r":1: is no sample .* expected texts that end in the two sentences"),
        ({"doc": {"question": "?"}}, r"jsonl:1: is no sample .*has no pair of sentences"),
        ({"acc": None}, r"jsonl:1: is no sample .*has no accuracy, expected one of acc, acc_norm"),
        (OTHER, r"has two samples of 'A\.' with different numbers"),
        (OTHER | ALIKE, "theirs has no sample of a pair that a has judged"),
    ],
)
def test_samples_that_cannot_be_compared_are_refused(two, tmp_path, changes, message):
    with pytest.raises(UserError, match=message):
        compare_evaluations(two[0], write_samples(tmp_path / "theirs", AFTER, "", **changes))


def test_a_copy_keeps_its_results_when_the_original_is_run_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    original = Evaluation(Path("original"))
    original.write_items()
    write_models([CATALOGUE["gpt2"]], original.folder / "models.tsv")
    settings = {"benchmarks": [BENCHMARK], "languages": [LANG], "models": ["gpt2"]}
    settings["pathvars"] = {"results": str(original.results.absolute())}
    settings["catalogue"] = {"models": str(original.folder.absolute() / "models.tsv")}
    original.campaign(**settings)
    original.judge([1.0] * 8, "gpt2").finish()
    shutil.copytree("original", "copy")
    original.judge([-1.0] * 8, "gpt2")
    with pytest.raises(UserError, match="was made again after the accuracies"):
        blimpworks.load_results("original")
    original.finish()
    for folder, share, margin in (("original", 0.0, -1.0), ("copy", 1.0, 1.0)):
        results = blimpworks.load_results(folder)
        assert {*results.accuracies["accuracy"]} == {share}
        assert {*results.judgements["margin"]} == {margin}
        assert results.items["good"].str.startswith("the good").all()
        assert {*results.items["model"]} == {"gpt2"}
