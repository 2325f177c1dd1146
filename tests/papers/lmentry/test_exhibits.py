"""Test Multi-LMentry's exhibits on simulated judgements of two languages."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from blimpworks.analysis.accuracy import summarise
from blimpworks.campaign.registry import exhibits
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import formula_of
from blimpworks.items import ALL
from blimpworks.papers.lmentry.exhibits.formulas import aspects, lmentry_score, robustness
from blimpworks.papers.lmentry.items.packs import read_texts
from blimpworks.papers.lmentry.tasks import TASKS
from blimpworks.papers.lmentry.verdicts import compare_verdicts, measure_agreement
from blimpworks.reproduction.comparisons import Paper, measured_rows
from blimpworks.tables import ACCURACIES, JUDGEMENTS, read_table
from support.cells_kit import by_place, check_cells, sources_of
from support.lmentry_campaign import Campaign, build, draw, fill, write
from support.print_kit import PACKS, labels_of, printed

pytestmark = pytest.mark.xdist_group("lmentry-exhibits")  # they share fixtures

SKILL = {"phi-4": 0.9, "eurollm-9b-it": 0.6, "latxa-llama-3.1-8b-instruct": 0.75, "mine": 0.5}
LANGUAGES = {"eng": "English", "ita": "Italian"}
PER_TEMPLATE = 4
N = 3 * PER_TEMPLATE
PRINT = labels_of("lmentry")
SIZES = PRINT.facts["lmentry_sizes"] | {"mine": 0.5}
FACTS = {"lmentry_sizes": SIZES, "lmentry_variant": "published"}
NAMES = {name: PRINT.models.get(name, "Model M") for name in SKILL}
LABELS = Labels(LANGUAGES, NAMES, "corrected", FACTS)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("measured")


@pytest.fixture(scope="module")
def simulated(root):
    return Campaign(root / "campaign", SKILL, tuple(LANGUAGES)).build(PER_TEMPLATE)


@pytest.fixture(scope="module")
def campaign(simulated, root):
    verdicts, agreement = root / "verdicts.parquet", root / "annotation_agreement.parquet"
    compare_verdicts(simulated.evaluations, verdicts)
    sheets, keys = [], []
    for lang in LANGUAGES:
        sheet, key = draw(simulated, root, lang, per_task=6)
        sheets += fill(sheet, key, simulated, lang)
        keys.append(key)
    measure_agreement(sheets, keys, simulated.judgements, agreement)
    return {
        "accuracies": [simulated.accuracies],
        "items": [simulated.prompts(lang) for lang in LANGUAGES],
        "annotation_agreement": [agreement],
        "verdicts": [verdicts],
        "packs": PACKS[:1] + PACKS[3:4],
        "printed": printed("lmentry"),
    }


@pytest.fixture(scope="module")
def sources(simulated, campaign):
    judgements = {"judgements": [path for *_, path in simulated.judged]}
    tables = {kind: campaign[kind] for kind in ("accuracies", "annotation_agreement", "verdicts")}
    packs = {"packs": read_texts(campaign["packs"])}
    return sources_of(tables | judgements | {"items": campaign["items"]}) | packs


# The exhibit of counts has its own tests, with real prompts.
SPECS = [spec for spec in exhibits().values() if spec.paper == "lmentry" and spec.needs]
MEASURED = sorted({spec.name for spec in SPECS} - {"counts"})


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
def test_each_measured_cell_can_be_computed_again(campaign, sources, name, root):
    exhibit, _ = build(name, campaign, LABELS, root)
    if exhibit.cells:
        check_cells(exhibit.cells, sources)
    of_others = name[5:] in {"53", *map(str, range(36, 50))}
    assert bool(exhibit.cells) != of_others


@pytest.mark.parametrize("method", ["published", "corrected"])
def test_a_score_is_accuracy_times_robustness_and_averages_are_over_models(campaign, root, method):
    labels = replace(LABELS, method=method)
    exhibit, _ = build("table4", campaign, labels, root)
    scores, robust = by_place(exhibit), by_place(build("table5", campaign, labels, root)[0])
    models = ("phi-4", "EuroLLM-9B", "Latxa-8B", "Model M")
    for model in models:
        accuracy, robustness = scores[model, "EN Acc."].value, robust[model, "EN"].value
        assert scores[model, "EN LMS"].value == pytest.approx(accuracy * robustness / 100)
        # The release rounds intermediate values.
        assert method == "corrected" or robustness == round(robustness, 1)
    mean = sum(scores[model, "IT Acc."].value for model in models) / 4
    assert scores["Average", "IT Acc."].value == pytest.approx(mean)
    headed = [list(section.rows) for section in exhibit.sections]
    assert headed[0] == ["Open-Weight Multilingual Models", "phi-4"]
    assert headed[3:] == [["Other Models", "Model M"], ["Average"]]


@pytest.mark.parametrize(
    ("name", "row", "column", "shown"),
    [
        ("table3", "phi-4", "Languages", "2"),
        ("table3", "Model M", "Answers", f"{2 * 41 * N}"),
        ("table7", "Italian", "Prompts", f"{41 * N}"),
        ("table8", "more_letters_length_diff_1", "Prompts", f"{2 * N}"),
        ("table8", "more_letters_length_diff_1", "Languages", "2"),
        ("table52", "global accuracy", "anna Agreement (%)", "100.00"),
        ("agreement", "Italian, anna", "Corrected Agreement (%)", "100.00"),
    ],
)
def test_a_cell_shows_what_was_simulated(campaign, root, name, row, column, shown):
    exhibit, _ = build(name, campaign, LABELS, root)
    assert by_place(exhibit)[row, column].text.replace(",", "") == shown
    if name == "table3":
        assert exhibit.stub["phi-4"] == {"Name": NAMES["phi-4"], "Size": "14.7B"}


@pytest.mark.slow
def test_measured_numbers_stand_beside_the_printed_ones(campaign, root):
    names = ("table2", "table4", "table5", "table50", "table54")
    paths = {name: build(name, campaign, LABELS, root)[1] for name in names}
    files = Paper("lmentry", printed("lmentry"), root / "reasons.tsv", paths, None)
    rows = {(r["exhibit"], r["row"], r["column"]): r for r in measured_rows(files)}
    for place in (
        ("table4", "phi-4", "eng lms"),
        ("table4", "average", "ita accuracy"),
        ("table5", "eurollm-9b-it", "ita"),
        ("table50", "phi-4", "homophones"),
        ("table54", "homophones", "eng"),
        ("table2", "all", "samples"),
    ):
        assert rows[place]["verdict"] != "not run", place
    assert rows["table4", "anita-8b", "eng lms"]["verdict"] == "not run"
    assert rows["table50", "phi-4", "homophones"]["n"] == N


def test_without_templates_there_is_accuracy_and_no_score(campaign, root, tmp_path):
    whole = read_table(ACCURACIES, campaign["accuracies"][0])
    kept = whole.filter(pa.compute.equal(whole["paradigm"].cast("string"), ALL))
    tables = {"accuracies": [write(kept.to_pylist(), ACCURACIES, tmp_path / "a.parquet")]}
    exhibit, _ = build("table4", tables, LABELS, tmp_path)
    assert {cell.column for cell in exhibit.cells} == {"EN Acc.", "IT Acc."}
    assert "Without a score in EN, IT" in exhibit.caption
    assert build("fig1", tables, LABELS, tmp_path)[0].cells == []
    assert build("fig2", tables, LABELS, tmp_path)[0].cells == []


def test_figure_1_names_models_of_unknown_size_and_keeps_the_others(campaign, root, tmp_path):
    # Mine has no size; phi-4 is judged on a task without positions of the answer, so has no score.
    rows = read_table(ACCURACIES, campaign["accuracies"][0]).to_pylist()
    rows = [r for r in rows if r["model"] != "phi-4" or r["phenomenon"] == "first_word"]
    tables = {"accuracies": [write(rows, ACCURACIES, tmp_path / "a.parquet")]}
    sizes = {"phi-4": 9.2, "eurollm-9b-it": 9.2, "latxa-llama-3.1-8b-instruct": 8, "mine": None}
    labels = replace(LABELS, facts={"lmentry_sizes": sizes})
    exhibit, _ = build("fig1", tables, labels, tmp_path)
    places = {(cell.row, cell.column, cell.n) for cell in exhibit.cells}
    assert places == {(name, "M", 2) for name in LANGUAGES.values()}
    assert "Left out, because their size is unknown: Model M." in exhibit.caption
    caption = build("table4", tables, LABELS, tmp_path)[0].caption
    assert "a language's tasks (25 in EN, IT)" in caption
    assert "over these tasks: phi-4 in EN: 1; phi-4 in IT: 1." in caption


@pytest.mark.slow
def test_reasons_and_denominators_add_up_to_the_change_of_accuracy(campaign, root):
    exhibit, _ = build("artefacts", campaign, LABELS, root)
    rows = exhibit.layout("value").set_index("Language")
    parts = rows.loc[:, "No ASCII word right":"Prompts counted"].sum(axis=1)
    change = rows["Accuracy corrected"] - rows["Accuracy published"]
    assert parts.to_numpy(float) == pytest.approx(change.to_numpy(float))
    assert rows["Accuracy change"].to_numpy(float) == pytest.approx(change.to_numpy(float))
    assert rows.loc["Italian", "Prompts counted"] > 0
    assert rows.loc["English", "Prompts counted"] == pytest.approx(0)
    assert rows.loc["IT starts with word", "Accuracy published"] < 100 / 6
    # The first answer to each template was cut off; the others repeat the first one's prompt.
    answers = len(SKILL) * len(TASKS)
    assert rows.loc["English", "Verdicts changed"].is_integer()
    assert "the number of verdicts that change" in exhibit.caption
    assert rows.loc["English", "Answers cut off"] == answers * 3
    assert rows.loc["English", "Answers echoes"] == answers * (PER_TEMPLATE - 1)


def test_published_accuracies_divide_by_what_the_settings_ask_for(campaign, simulated, root):
    exhibit, _ = build("table34", campaign, replace(LABELS, method="published"), root)
    cell = by_place(exhibit)["phi-4", "starts with word"]
    path = simulated.judgements / "phi-4/ita.parquet"
    rows = read_table(JUDGEMENTS, path).to_pandas()
    rows = rows[(rows["phenomenon"] == "starts_with_word") & (rows["method"] == "published")]
    share = pytest.approx(100 * rows["correct"].sum() / (6 * N))
    assert formula_of(cell.formula.sentence)(rows) == share
    assert "settings" in exhibit.caption


def test_a_method_that_nothing_was_judged_by_is_refused(campaign, root):
    with pytest.raises(UserError, match="no accuracies on lmentry by method 'other'"):
        build("table4", campaign, replace(LABELS, method="other"), root)


def test_published_templates_of_two_arguments_are_shares_of_the_settings_numbers():
    correct = {
        "template=1/answer=1": [1, 1, 1, 0],
        "template=1/answer=2": [1, 1, 0, 0],
        # Half of the answers to the second template failed.
        "template=2/answer=1": [1, 1, None, None],
        "template=2/answer=2": [1, 0, None, None],
    }
    rows = [(paradigm, each) for paradigm, given in correct.items() for each in given]
    frame = pd.DataFrame(rows, columns=["paradigm", "correct"]).astype({"correct": float})
    frame = frame.assign(phenomenon="more_letters", tie=False, near_tie=False, nominal=10)
    published, corrected = (
        aspects(summarise(frame.assign(method=method))) for method in ("published", "corrected")
    )
    assert published["template"] == pytest.approx(100 - 100 * (5 / 10 - 3 / 10))
    assert corrected["template"] == pytest.approx(100 - 100 * (3 / 4 - 5 / 8))
    # Both methods count judged answers.
    assert published["order"] == corrected["order"] == pytest.approx(100 - 100 * (5 / 6 - 3 / 6))


def accuracies(*rows):
    return pd.DataFrame(rows, columns=["phenomenon", "paradigm", "accuracy"]).assign(n=10)


GOLDEN = accuracies(
    ("more_letters", ALL, 0.62346),
    ("more_letters", "template=1/answer=1", 0.9),
    ("more_letters", "template=1/answer=2", 0.7),
    ("more_letters", "template=2/answer=1", 0.5004),
    ("more_letters", "template=2/answer=2", 0.4),
    ("more_letters", "template=3/answer=1", 0.6),
    ("more_letters", "template=3/answer=2", 0.6403),
    ("less_letters", ALL, 0.52346),
    ("first_word", ALL, 0.50004),
    *(("first_word", f"template={n}", a) for n, a in enumerate((0.40049, 0.5, 0.6), start=1)),
    ("more_letters_length_diff_3plus", ALL, 0.8),
    ("more_letters_length_diff_1", ALL, 0.55555),
)
"""Two pairs of tasks whose robustness can be calculated by hand."""


def test_robustness_is_that_of_a_worked_example_and_the_release_rounds_on_the_way():
    values, rounded = aspects(GOLDEN), aspects(GOLDEN, rounded=True)
    # First right: (90 + 50.04 + 60) ÷ 3 = 66.68; second: (70 + 40 + 64.03) ÷ 3 = 58.01.
    assert values["order"] == pytest.approx(100 - (66.68 - 58.01))
    assert rounded["order"] == pytest.approx(100 - (66.68 - 58.01))
    # One of the six tasks has two subsets, 80 − 55.555 apart.
    assert values["content"] == pytest.approx((5 * 100 + 75.555) / 6)
    assert rounded["content"] == pytest.approx((5 * 100 + 100 - (80 - 55.56)) / 6, abs=0.002)
    # Templates: 80, 45.02 and 62.015; and 40.049, 50 and 60; rounded to a tenth.
    assert values["template"] == pytest.approx(((100 - 34.98) + (100 - 19.951)) / 2)
    assert rounded["template"] == pytest.approx((65 + 80) / 2)
    # Only the pair of more and less letters is complete.
    assert values["adjacent"] == pytest.approx(100 - 10)
    assert rounded["adjacent"] == pytest.approx(100 - (62.35 - 52.35))
    mean, accuracy = (91.33 + 95.9258333 + 72.5345 + 90) / 4, (62.346 + 52.346 + 50.004) / 3
    assert robustness(GOLDEN) == pytest.approx(mean)
    assert robustness(GOLDEN, rounded=True) == 87.4
    assert lmentry_score(GOLDEN) == pytest.approx(accuracy * mean / 100)
    assert lmentry_score(GOLDEN, rounded=True) == pytest.approx(accuracy * 0.874)
    assert np.isnan(robustness(accuracies(("first_word", ALL, 0.8), ("last_word", ALL, 0.6))))
