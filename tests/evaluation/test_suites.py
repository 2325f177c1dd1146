import json
import os
import re
import shutil
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from statsmodels.formula.api import ols

from blimpworks.analysis.people import age_of_acquisition, training_of_acquisition
from blimpworks.benchmarks.build import named_files, read_items
from blimpworks.benchmarks.declaration import Declaration
from blimpworks.benchmarks.designs import Design
from blimpworks.campaign.load import read_anew
from blimpworks.campaign.registry import FOLDERS, benchmarks
from blimpworks.errors import UserError
from blimpworks.evaluation.build import build_card
from blimpworks.evaluation.card import model_table
from blimpworks.evaluation.checkpoints import checkpoints_of, draw_curves, training_of
from blimpworks.evaluation.request import copy_into
from blimpworks.evaluation.session import Evaluation
from blimpworks.evaluation.show import CardText
from blimpworks.evaluation.suite_numbers import _acquisition as acquired
from blimpworks.evaluation.suites import FOLDER, Acquisition, Suite, read_suite
from blimpworks.evaluation.terminal import print_card
from blimpworks.tables import ITEMS, JUDGEMENTS, write_table
from support.card_kit import MARGINS, SIZES, facts, write_evaluation
from support.paths import REPOSITORY

TASK = {"benchmark": "pairs", "label": "Agreement", "printed": {"Peer": 71.25}}


def table(root, first_token=None, **task):
    """Return a suite's table on the small evaluation, small model first."""
    start = {"first_token": first_token}
    suite = Suite(label="Try", address="https://example.org", tasks=[{**TASK, **task}], **start)
    given = facts(root) | {"suite": suite.model_dump(mode="json")}
    return build_card(given)["suite"], CardText(build_card(given))


def test_groups_of_each_level_count_alike(tmp_path):
    # The small model is right on 3 of 4 and 2 of 4 in English, 2 of 4 in German.
    root = write_evaluation(tmp_path)
    shown, _ = table(root, mean=["lang", "phenomenon"])
    (row,) = shown["rows"]
    assert row["models"]["small"]["value"] == pytest.approx((0.75 + 0.5) / 4 + 0.5 / 2)
    shown, _ = table(root)
    (row,) = shown["rows"]
    assert row["models"]["small"]["value"] == pytest.approx((0.75 + 0.5 + 0.5) / 3)
    assert row["models"]["small"]["low"] < row["models"]["small"]["value"]
    assert row["models"]["large"]["n"] == 12


def test_print_stands_beside_ours_and_skipped_items_are_named(tmp_path):
    margins = MARGINS | {"deu": {"small": [1, 1, -3, "too_long"], "large": [1, 1, 3, 4]}}
    shown, text = table(write_evaluation(tmp_path, margins_of=margins))
    headings, rows = text.suite_table(shown)
    assert headings == ["task", "n", "Small model", "95 %", "Large model", "95 %", "Peer"]
    assert rows[0][:2] == ["Agreement", "11–12"]
    assert rows[0][-1] == "71.2"
    assert "Agreement, Small model: 1 of 12 items skipped; 1 ties" in str(text.suite_notes(shown))


def printed_suite(card):
    console = Console(width=80, file=StringIO(), force_terminal=False)
    print_card(card, console)
    return console.file.getvalue().partition("\nTry ─")[2]


def test_long_names_of_models_leave_space_for_the_tasks(tmp_path):
    suite = Suite(label="Try", tasks=[{**TASK, "printed": {"A peer with a long name": 71.25}}])
    card = build_card(facts(write_evaluation(tmp_path)) | {"suite": suite.model_dump(mode="json")})
    for model in card["models"].values():
        model["label"] = "a-model-with-a-name-of-thirty"
    assert all(cell in printed_suite(card) for cell in ("\nAgreement ", "71.2"))
    # Columns of many models and tasks are shown six at a time.
    suite = card["suite"]
    card["models"]["third"] = card["models"]["small"]
    (row,) = suite["rows"]
    row["models"]["third"] = row["models"]["small"]
    suite["rows"] = [row | {"label": f"Task {number}"} for number in range(8)]
    assert all(f"Task {number}" in printed_suite(card) for number in range(8))
    assert printed_suite(card).count("71.2") == 8


def test_a_model_that_skipped_a_whole_paradigm_has_no_number(tmp_path):
    margins = MARGINS | {"deu": {"small": ["too_long"] * 4, "large": [1, 1, 3, 4]}}
    shown, text = table(write_evaluation(tmp_path, margins_of=margins))
    (row,) = shown["rows"]
    assert (row["models"]["small"]["value"], row["models"]["small"]["skipped"]) == (None, 4)
    assert row["models"]["large"]["value"] is not None
    assert text.suite_table(shown)[1][0][2:4] == ["–", ""]
    assert "4 of 12 items skipped; 1 ties, which count as the benchmark declares; no number" in str(
        text.suite_notes(shown)
    )


def test_models_with_another_start_than_the_suites_are_named(tmp_path):
    root = write_evaluation(tmp_path)
    shown, text = table(root, "encoded")
    assert text.suite_notes(shown)[2].startswith("Small model, Large model: with another first")
    shown, text = table(root, "bos")
    assert "another first" not in str(text.suite_notes(shown))


def test_margins_are_correlated_with_ratings_by_rank(tmp_path):
    ratings = {lang: [m**3 for m in models["large"]] for lang, models in MARGINS.items()}
    root = write_evaluation(tmp_path, ratings=ratings)
    shown, text = table(root, measure="correlation", printed={"Peer": 0.5})
    (row,) = shown["rows"]
    assert row["models"]["large"]["value"] == pytest.approx(1)
    assert row["models"]["small"]["value"] < 0.5
    assert text.suite_table(shown)[1][0][4:] == ["1.00", "1.00–1.00", "0.50"]


REGRESSION = {"outcomes": ["first", "second"], "predictor": "surprisal", "groups": "sentence"}
REGRESSION |= {"controls": ["length", "frequency"]}


def write_words(root):
    """Make the small evaluation's items words with times and surprisals; return all words."""
    draw, tables = np.random.default_rng(3), []
    for lang in MARGINS:
        path = root / f"items/pairs/{lang}.parquet"
        items = pq.read_table(path)
        n = len(items)
        words = pd.DataFrame({"sentence": [f"{lang}{number // 2}" for number in range(n)]})
        words["length"], words["frequency"] = draw.integers(1, 12, n), draw.normal(5, 2, n).round(3)
        words["surprisal"] = draw.gamma(2, 4, n)
        words["first"] = 9 * words["length"] + 3 * words["surprisal"] + draw.normal(0, 9, n)
        words["second"] = words["frequency"] * words["length"] + draw.normal(0, 20, n)
        tables.append(words)
        cells = words.astype(str)
        # One word has no frequency.
        cells.loc[0, "frequency"] = ""
        for name in cells.columns.drop("surprisal"):
            items = items.append_column(name, [cells[name].to_list()])
        write_table(items.append_column("item", items["item_id"]), ITEMS, path)
        for model in SIZES:
            judged = Path(model_table(root, "judgements", "pairs", lang, model))
            rows = pq.read_table(judged)
            rows = rows.append_column("effects", [[[value] for value in words["surprisal"]]])
            rows = rows.append_column("effect_names", [[["surprisal"]] * n])
            write_table(rows, JUDGEMENTS, judged)
    return pd.concat([words.drop(0) for words in tables])


def test_surprisal_explains_of_times_what_statsmodels_computes(tmp_path):
    root = write_evaluation(tmp_path)
    words = write_words(root)
    shown, text = table(root, measure="variance", regression=REGRESSION, printed={"Peer": 1.5})
    shares = []
    for outcome in REGRESSION["outcomes"]:
        formula = f"{outcome} ~ length + frequency + length:frequency"
        without, fit = (ols(f, words).fit().rsquared for f in (formula, f"{formula} + surprisal"))
        shares.append((fit - without) / (1 - without))
    (row,) = shown["rows"]
    result = row["models"]["small"]
    assert result["value"] == pytest.approx(np.mean(shares))
    assert result["n"] == len(words) == 10
    assert 0 <= result["low"] < result["value"] < result["high"] <= 1
    cells = text.suite_table(shown)[1][0]
    assert cells[1:3] == ["10", f"{100 * result['value']:.2f}"]
    assert cells[-1] == "1.50"


def explained(**changes):
    """Return a task whose number is the variance that surprisal explains."""
    return {"measure": "variance", "regression": REGRESSION | changes}


@pytest.mark.parametrize(
    ("of_words", "task", "says"),
    [
        (True, explained(groups="text"), "names 'text', which the items of pairs do not have as a"),
        (True, explained(controls=["sentence"]), "has a cell that is no number (could not convert"),
        (False, explained(), "parquet has no effects, which the suite measures"),
        (False, {"measure": "correlation", "printed": {}}, "eng.parquet has no people's ratings"),
    ],
)
def test_a_measure_of_what_a_benchmark_lacks_is_one_sentence(tmp_path, of_words, task, says):
    root = write_evaluation(tmp_path)
    if of_words:
        write_words(root)
    with pytest.raises(UserError, match=re.escape(says)):
        table(root, **task)


AGES = tuple(range(16, 31))
CHANCE = 12.0


def sigmoid(x, height, steepness, middle):
    return height / (1 + np.exp(-steepness * (np.asarray(x, float) - middle)))


def written_words(root, checkpoints, *, curves=True):
    """Write tables of eight words in two contexts by checkpoint; return when each is known."""
    draw, words, known = np.random.default_rng(5), [], {}
    for number in range(8):
        word, age = f"word{number}", draw.uniform(18, 28)
        learnt = 6.2 + (age - 18) / 8 + draw.uniform(-0.2, 0.2)
        known[word] = (age, learnt)
        shares = {str(month): str(sigmoid(month, 1, 0.6, age)) for month in AGES}
        words += [{"word": word, **shares}, {"word": word, **shares}]
    # A word that is too short, and one without children's ages.
    words += [{"word": "I", **shares}, {"word": "zebra", **dict.fromkeys(shares, "")}]
    items = pd.DataFrame(words).assign(item=[f"i{number}" for number in range(len(words))])
    items.to_parquet(root / "items.parquet")
    for name in checkpoints:
        step = np.log10((training_of(name) or 1) + 1)
        values = [[11 - sigmoid(step, 6, 12, known.get(word, (0, 7))[1])] for word in items["word"]]
        rows = pd.DataFrame({"item_id": items["item"], "method": "region", "effects": values})
        rows.assign(effect_names=[["surprisal"]] * len(rows)).to_parquet(root / f"{name}.parquet")
    return SimpleNamespace(
        name="words",
        facts={"models": {name: {"label": name} for name in checkpoints}, "curves": curves},
        benchmark={"languages": checkpoints, "items": {"eng": root / "items.parquet"}},
        methods=dict.fromkeys(checkpoints, "region"),
        path=lambda _folder, _lang, model: root / f"{model}.parquet",
    ), known


ACQUISITION = Acquisition(word="word", surprisal="surprisal", ages=AGES, chance=CHANCE, shortest=2)


def test_models_and_children_learn_words_where_curves_cross_their_thresholds(tmp_path):
    checkpoints = [f"chck_{number}M" for number in (1, 2, 4, 8, 16, 32, 64, 100)]
    tables, known = written_words(tmp_path, checkpoints[::-1])
    ((name, result),) = acquired(tables, ACQUISITION).items()
    assert name == "chck_100M"
    assert result["n"] == len(known) == 8
    expected = np.corrcoef(np.array([*known.values()]).T)[0, 1]
    assert result["value"] == pytest.approx(expected, abs=0.02)
    assert result["low"] < result["value"] < result["high"]


@pytest.mark.parametrize(
    "names",
    [("chck_1M", "chck_64M"), ("final",), [f"model-{size}m" for size in (70, 160, 410, 1000)]],
)
def test_an_age_of_acquisition_needs_three_checkpoints(tmp_path, names):
    tables, _ = written_words(tmp_path, names, curves=names[0].startswith("chck"))
    assert acquired(tables, ACQUISITION)[names[-1]]["value"] is None


def test_a_curve_of_three_points_has_no_age():
    assert training_of_acquisition(np.array([1e6, 2e6, 4e6]), np.array([9.0, 7, 5]), 12) is None


@pytest.mark.parametrize(
    "shares", [[0.4] * 15, [0.01] * 15, [np.nan] * 13 + [0.2, 0.8], [0.9] * 15]
)
def test_words_that_children_never_learn_between_the_ages_have_no_age(shares):
    assert age_of_acquisition(np.array(AGES, float), np.array(shares)) is None


def test_the_order_of_ages_is_irrelevant():
    ages, shares = np.arange(16.0, 28, 2), np.array([0.1, 0.2, 0.4, 0.6, 0.8, 0.9])
    age = age_of_acquisition(ages, shares)
    assert age == pytest.approx(21, abs=0.1)
    assert age_of_acquisition(ages[::-1], shares[::-1]) == pytest.approx(age, abs=1e-3)


def test_times_that_are_all_equal_have_no_number(tmp_path):
    root = with_columns(tmp_path, lambda items: items.assign(first="1.0", second="2.0"))
    shown, text = table(root, **explained())
    assert shown["rows"][0]["models"]["small"]["value"] is None
    assert "or all values are equal" in str(text.suite_notes(shown))


def with_columns(folder, change):
    """Write the small evaluation of words, with changed items."""
    root = write_evaluation(folder)
    write_words(root)
    for path in (root / "items/pairs").iterdir():
        items = change(pd.read_parquet(path))
        write_table(pa.Table.from_pandas(items, preserve_index=False), ITEMS, path)
    return root


@pytest.mark.parametrize(("groups", "n"), [("treebank", 0), ("sentence", 8)])
def test_words_without_a_group_are_left_out_and_not_counted(tmp_path, groups, n):
    """The interval draws groups, and these words would all be in the last group."""

    def ungrouped(items):
        items.loc[1, "sentence"] = ""
        return items.assign(treebank=None)

    shown, _ = table(with_columns(tmp_path, ungrouped), **explained(groups=groups))
    assert shown["rows"][0]["models"]["small"]["n"] == n


@pytest.mark.parametrize("path", sorted((REPOSITORY / FOLDER).glob("*.yaml")), ids=lambda p: p.stem)
def test_a_shipped_suite_names_benchmarks_that_exist(path):
    suite = read_suite(path.stem)
    assert {task.benchmark for task in suite.tasks if not task.local} <= {*benchmarks()}
    for task in suite.tasks:
        if task.local:
            Declaration.read(path.with_suffix("") / task.benchmark / "benchmark.yaml")


REGRESSED = "{outcomes: [t], predictor: s, controls: [s], groups: g}"


@pytest.mark.parametrize(
    ("tasks", "says"),
    [
        ("", "tasks"),
        ("{benchmark: b, label: B, mean: []}", "mean"),
        ("{benchmark: b, label: B}, {benchmark: c, label: B}", "two tasks have the label 'B'; exp"),
        ("{benchmark: b, label: B, measure: variance}", "and regression need each other"),
        (f"{{benchmark: b, label: B, measure: variance, regression: {REGRESSED}}}", "distinct col"),
        ("{benchmark: b, label: B, measure: correlation, mean: [lang]}", "leave 'mean' out"),
        ("{benchmark: b, label: B, mean: [paradigm, lang, phenomenon]}", "the wider group first"),
        (
            "{benchmark: b, label: B, printed: {A: 712}}",
            "printed 'A' is 712; expected a number from 0 to",
        ),
        (
            "{benchmark: b, label: B, measure: correlation, printed: {A: 50}}",
            "printed 'A' is 50; expected a number from -1 to 1",
        ),
    ],
)
def test_a_wrong_suite_is_one_sentence(tasks, says, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"label: A\ntasks: [{tasks}]\n", encoding="utf-8")
    with pytest.raises(UserError, match=says):
        read_suite(str(path))


def test_a_suite_has_further_names_and_one_that_is_none_is_told():
    assert read_suite("babylm-strict-small") == read_suite("babylm-strict")
    with pytest.raises(UserError, match=r"'babylm-strickt' is no file .* mean 'babylm-strict'"):
        read_suite("babylm-strickt")


# Files in the layout of the challenge's data, with invented items.
EWOK = {
    "Domain": "social-relations", "ContextType": "direct", "ContextDiff": "antonym",
    "TargetDiff": "swap", "Context1": "Kim is the boss of Lee.",
    "Context2": "Lee is the boss of Kim.", "Target1": "Kim pays Lee.", "Target2": "Lee pays Kim.",
}  # fmt: skip
LEE = "Kim is the boss of Lee. "
PAST = {"sentences": "I glinged\tI glang", "ratio": 0.4}
READ_EWOK = [(f"{LEE}Kim pays Lee.", "Kim pays Lee."), (f"{LEE}Lee pays Kim.", "Lee pays Kim.")]
READ_PAST = [("I glinged", "glinged"), ("I glang", "glang")]
BAD = [("the dog sees", "sees"), ("the dog see", "see")]
PAIR = {"sentence_good": "the dog sees", "sentence_bad": "the dog see"}
# By suite and benchmark: folder, file and line, then each text with its region.
LOCAL = {
    "babylm-strict": {
        "babylm_comps": (
            "comps/comps_base",
            {"prefix_acceptable": "a robin", "prefix_unacceptable": "a spoon",
             "property_phrase": "can fly."},
            [("a robin can fly.", "can fly."), ("a spoon can fly.", "can fly.")],
        ),
        "babylm_ewok": ("ewok_filtered/social-relations", EWOK, READ_EWOK),
        "babylm_wug_past": ("wug_past_tense/wug_past_tense", PAST, READ_PAST),
    },
    "babylm-strict-fast": {
        "babylm_blimp_fast": (
            "blimp_fast/agreement_1",
            PAIR | {"UID": "agreement_1", "linguistics_term": "agreement", "field": "morphology"},
            BAD,
        ),
        "babylm_supplement_fast": ("supplement_fast/hypernym", PAIR, BAD),
        "babylm_entity_tracking_fast": (
            "entity_tracking_fast/regular",
            {"numops": 1, "input_prefix": "Box 0 contains ", "options": ["the hat.", "the key."]},
            [("Box 0 contains the hat.", "the hat."), ("Box 0 contains the key.", "the key.")],
        ),
        "babylm_ewok_fast": ("ewok_fast/social-relations", EWOK, READ_EWOK),
        "babylm_wug_past": ("wug_past_tense/wug_past_tense", PAST, READ_PAST),
    },
}  # fmt: skip


def write_local(folder, suite):
    """Write the user's data of each task, and the shipped suite without its numbers of items."""
    shutil.copytree(REPOSITORY / FOLDER / suite, folder / suite)
    shutil.copy(REPOSITORY / FOLDER / f"{suite}.yaml", folder)
    for declaration in folder.rglob("benchmark.yaml"):
        text = declaration.read_text(encoding="utf-8")
        declaration.write_text(re.sub(r"items: \d+\n", "", text), encoding="utf-8")
    for file, row, _ in LOCAL[suite].values():
        path = folder / "data" / f"{file}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return str(folder / f"{suite}.yaml"), folder / "data"


@pytest.mark.parametrize("name", LOCAL)
def test_tasks_whose_files_the_user_has_are_read_from_there(name, tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDERS, "")
    suite, data = write_local(tmp_path, name)
    evaluation = Evaluation(suite=suite, suite_data=data, local_benchmarks=[*LOCAL[name]])
    try:
        evaluation.add_local_tasks(tmp_path / "out")
    finally:
        monkeypatch.undo()
        read_anew()
    assert {*evaluation.benchmarks} == {*LOCAL[name]}
    assert evaluation.notes == []
    for benchmark, (_, _, expected) in LOCAL[name].items():
        declared = Declaration.read(tmp_path / "out/declared" / benchmark / "benchmark.yaml")
        (item,) = read_items(declared, named_files(declared, [], tmp_path), [])
        if isinstance(item, Design):
            read = [(each.sentence, *each.spans[-1:]) for each in item.conditions]
            assert item.paradigm == "regular_1_ops"
        else:
            spans = item.regions
            read = [(item.good, spans[:2]), (item.bad, spans[2:])]
        assert [(text, text[slice(*span)]) for text, span in read] == expected


def test_changed_files_are_taken_over_whatever_their_time_and_equal_ones_stay(tmp_path):
    old, new, folder = (tmp_path / name for name in ("old", "new", "folder"))
    for source, text in ((old, "first"), (new, "second")):
        source.mkdir()
        (source / "a.jsonl").write_text(text)
    (old / "b.jsonl").write_text("gone")
    os.utime(new / "a.jsonl", (0, 0))
    copy_into([*old.iterdir()], folder)
    before = (folder / "a.jsonl").stat().st_mtime_ns
    copy_into([*old.iterdir()], folder)
    assert (folder / "a.jsonl").stat().st_mtime_ns == before
    copy_into([*new.iterdir()], folder)
    assert [path.name for path in folder.iterdir()] == ["a.jsonl"]
    assert (folder / "a.jsonl").read_text() == "second"
    assert (folder / "a.jsonl").stat().st_mtime_ns >= before


def test_a_suite_of_which_nothing_is_run_is_refused(tmp_path):
    evaluation = Evaluation(suite="babylm-strict", local_benchmarks=["babylm_comps"])
    with pytest.raises(UserError, match="no task of the suite babylm-strict is run; name its data"):
        evaluation.add_local_tasks(tmp_path / "out")


def test_tasks_whose_files_are_nowhere_are_named_before_the_run(tmp_path):
    names, local = ("babylm_blimp",), [*LOCAL["babylm-strict"]]
    evaluation = Evaluation("auto", names, suite="babylm-strict", local_benchmarks=local)
    evaluation.add_local_tasks(tmp_path / "out")
    assert evaluation.benchmarks == names
    assert [note.partition(". ")[0] for note in evaluation.notes] == [
        "Not run: COMPS", "Not run: EWoK", "Not run: Wug past tense",
    ]  # fmt: skip
    assert "the folder comps by --suite-data" in evaluation.notes[0]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("chck_20M", 2e7),
        ("step3000", 3000),
        ("v2-1.5b", 1.5e9),
        ("main", None),
        ("900k", 9e5),
        ("step100base", 100),
        ("step-2.5e4", 25_000),
        ("step0", 0),
    ],
)
def test_the_last_number_of_a_name_says_how_long_a_checkpoint_was_trained(name, number):
    assert training_of(name) == number


def test_checkpoints_are_folders_in_the_order_of_training(tmp_path):
    for name in ("chck_10M", "chck_9M", "chck_100M", "other", "chck_last"):
        (tmp_path / name).mkdir()
    expected = [f"{tmp_path}/chck_{number}M" for number in (9, 10, 100)]
    assert checkpoints_of(str(tmp_path), "chck_*M") == expected
    with pytest.raises(UserError, match=r"no checkpoint whose name fits 'model.*it has chck_100M"):
        checkpoints_of(str(tmp_path), "model*")
    with pytest.raises(UserError, match="checkpoint 'chck_last' has no number"):
        checkpoints_of(str(tmp_path), "chck_*")
    (tmp_path / "step_1_500").mkdir()
    with pytest.raises(UserError, match=r"'step_1_500' has 1_500, which may be one number"):
        checkpoints_of(str(tmp_path), "step*")
    (tmp_path / "again_9M").mkdir()
    with pytest.raises(UserError, match="'again_9M' and 'chck_9M' have the same last number"):
        checkpoints_of(str(tmp_path), "*_9M")
    with pytest.raises(UserError, match="it has none"):
        checkpoints_of(str(tmp_path / "missing"), "*")


def test_a_curve_has_a_point_for_each_checkpoint_and_a_panel_for_each_task(tmp_path):
    shown, _ = table(write_evaluation(tmp_path))
    drawn = draw_curves(shown, {"small": "chck_1M", "large": "chck_10M"})
    (panel,) = drawn.figure.axes
    (line, dashed) = panel.get_lines()
    assert line.get_xdata().tolist() == [1e6, 1e7]
    values = [shown["rows"][0]["models"][name]["value"] for name in ("small", "large")]
    assert line.get_ydata().tolist() == pytest.approx([100 * value for value in values])
    assert [*dashed.get_ydata()] == [71.25, 71.25]
    assert [cell.column for cell in drawn.cells] == ["chck_1M", "chck_10M"]
