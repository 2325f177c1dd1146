"""Test UrBLiMP's exhibits of a campaign's own judgements and people."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

from blimpworks.annotation.sheets import VALIDATION_RATINGS
from blimpworks.campaign.registry import exhibits
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.shared import read_plain
from blimpworks.papers.urblimp import analysis
from blimpworks.papers.urblimp.exhibits import evaluation
from blimpworks.papers.urblimp.exhibits.claims import table5, text
from blimpworks.papers.urblimp.exhibits.claims import tests as paradigm_tests
from blimpworks.papers.urblimp.exhibits.data import table1, table2, table10, validation
from blimpworks.papers.urblimp.exhibits.evaluation import GEMMA, GEMMA_TUNED, table4, table7, table8
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENA, PHENOMENON_OF
from blimpworks.tables import ACCURACIES, read_table, write_rows, write_table
from support import urblimp_results_kit as results
from support.cells_kit import check_cells, sources_of, write_exhibit
from support.print_kit import printed
from support.urblimp_results_kit import MODEL_LABELS as LABELS
from support.urblimp_results_kit import SKILL, N, cell, simulate
from support.validation_kit import OPTIONS, measured_people

OWN = {"rules", "samples", "lengths", "lengths_fig", "examples_fig"}
"""Exhibits that are not in the paper; ``test_statistics`` has their tests."""


@pytest.fixture(scope="module", autouse=True)
def each_test_of_ranks_once():
    """Cache scipy's exact test of tied differences, which goes through all signs."""
    known = cache(wilcoxon)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "wilcoxon", lambda d, method: known(tuple(d), method=method))
        yield


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("urblimp"), SKILL)


@pytest.fixture(scope="module")
def accuracy(tables):
    frame = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas()
    return frame.set_index(["model", "paradigm"])["accuracy"]


def test_tables_7_and_8_part_the_models_as_the_paper_does(tables):
    pretrained, tuned = (
        {c.column for c in table(tables, LABELS).cells} - {"Average"} for table in (table7, table8)
    )
    # The paper counts DeepSeek's distilled model as pretrained, whatever its tuning.
    others = {"Llama-3-70B", "DeepSeek-R1-Llama-70B", "Ours"}
    assert pretrained == {f"{name}-pt" for name in GEMMA} | others
    assert tuned == {*GEMMA_TUNED}
    assert {row for row, _ in table7(tables, LABELS).bold} >= {*PARADIGMS.values()}


def test_models_without_some_paradigm_are_named_and_not_compared(tables, tmp_path):
    rows = read_table(ACCURACIES, tables["accuracies"][0]).to_pylist()
    lacking = dict(zip(SKILL, PARADIGMS, strict=False))
    rows = [row for row in rows if lacking[row["model"]] != row["paradigm"]]
    write_rows(rows, ACCURACIES, tmp_path / "a.parquet")
    incomplete = {"accuracies": [tmp_path / "a.parquet"]}
    assert f"some paradigm: {', '.join(GEMMA_TUNED)}." in table8(incomplete, LABELS).caption
    for make in (table5, paradigm_tests):
        exhibit = make(incomplete, LABELS)
        assert (exhibit.cells, "There are no two models" in exhibit.caption) == ([], True)


def test_of_one_paradigm_one_is_counted(tmp_path):
    claims = text(simulate(tmp_path, SKILL, [*PARADIGMS][:1]), LABELS).cells
    assert [c.text for c in claims if "ahead of" in c.row] in (["0 of 1"], ["1 of 1"])


def test_table_5_tests_phenomena_without_their_rounding(tables, accuracy):
    exhibit = table5(tables, LABELS)
    phenomena = [[uid for uid in PARADIGMS if PHENOMENON_OF[uid] == name] for name in PHENOMENA]
    means = {model: [accuracy[model][uids].mean() for uids in phenomena] for model in GEMMA[:2]}
    tested = analysis.compare_scores(pd.DataFrame(means), [GEMMA[:2]])
    p = cell(exhibit, "gemma-3-1b-pt and gemma-3-4b-pt", "p")
    assert p.value == pytest.approx(tested["p"].item())
    assert len(exhibit.cells) == 2 * 6
    verdicts = {row: remark["Significant"] for row, remark in exhibit.remarks.items()}
    corrected = {c.row: c.value for c in exhibit.cells if c.column == "p, Holm"}
    assert verdicts == {row: "yes" if p < 0.05 else "no" for row, p in corrected.items()}


def test_tables_1_2_and_10_count_pairs_and_paradigms(tables):
    own = table1(tables, LABELS)
    assert {c.column: c.value for c in own.cells} == {"Pairs": 19 * N, "Paradigms": 19}
    counts = {c.row: c.value for c in table2(tables, LABELS).cells}
    assert (counts["Oblique"], counts["Aspect"], sum(counts.values())) == (5, 1, 19)
    exhibit = table10(tables, LABELS)
    assert [c.value for c in exhibit.cells] == [N] * 19
    assert exhibit.remarks["Honorific"] == {"Grammatical": "وہ بولا", "Ungrammatical": "وہ بولی"}


def test_the_texts_claims_are_counted_on_the_campaigns_own_models(tables, accuracy):
    exhibit = text(tables, LABELS)
    small, large = "gemma-3-27b", ("llama-3-70b", "deepseek-r1-distill-llama-70b")
    scores = {model: accuracy[model][[*PARADIGMS]] for model in (small, *large)}
    ahead = sum(scores[small] > np.maximum(*(scores[model] for model in large)))
    claim = "gemma-3-27b-pt ahead of Llama-3-70B and DeepSeek-R1-Llama-70B: paradigms"
    result = cell(exhibit, claim, "Value")
    assert (result.value, result.n) == (ahead, 19)
    assert cell(exhibit, "Llama-3-70B: average", "Value").stands_for == ("llama-3-70b", "average")
    significant = [c for c in exhibit.cells if c.stands_for == ("pt vs it", "significant")]
    assert [c.n for c in significant] == [4]


def test_judgements_by_another_method_and_an_unknown_paradigm_are_told(tables, tmp_path):
    with pytest.raises(UserError, match="no accuracies on urblimp by method 'other'"):
        table4(tables, replace(LABELS, method="other"))
    rows = read_table(ACCURACIES, tables["accuracies"][0]).to_pylist()
    rows[0] |= {"paradigm": "passive", "phenomenon": "passive"}
    write_rows(rows, ACCURACIES, tmp_path / "a.parquet")
    with pytest.raises(UserError, match="paradigm 'passive' is none of urblimp"):
        table4({"accuracies": [tmp_path / "a.parquet"]}, LABELS)


@pytest.fixture(scope="module")
def people(tables, tmp_path_factory):
    """Return tables with lists that a script filled in for six people."""
    return tables | measured_people(tmp_path_factory.mktemp("people"))


ALONE = Labels({"urd": "Urdu"}, facts={"urblimp_validation": {"per_pair": 3}})
"""Labels of a campaign without models."""


def test_table_9_has_people_on_each_paradigm_and_both_means(people):
    exhibit = evaluation.table9(people, ALONE)
    rows = read_plain(ACCURACIES, people["people"][0]).set_index("paradigm")
    for paradigm, name in PARADIGMS.items():
        percent = 100 * rows["accuracy"][paradigm]
        assert cell(exhibit, name, "Accuracy").value == pytest.approx(percent)
    average = cell(exhibit, "Average", "Accuracy")
    assert average.value == pytest.approx(100 * rows["accuracy"].mean())
    phenomena = rows.groupby("phenomenon")["accuracy"].mean()
    macro = cell(exhibit, "Mean of the phenomena", "Accuracy")
    assert macro.value == pytest.approx(100 * phenomena.mean())
    assert exhibit.remarks["Average"]["95 % interval"] == f"{average.low:.1f} to {average.high:.1f}"


def test_table_4_has_a_row_of_people_that_is_never_the_best_model(people):
    exhibit = table4(people, LABELS)
    rows = read_plain(ACCURACIES, people["people"][0])
    for phenomenon, name in PHENOMENA.items():
        expected = rows["accuracy"][rows["phenomenon"] == phenomenon].mean()
        assert cell(exhibit, "Human", name).value == pytest.approx(100 * expected)
    assert "Human" not in {row for row, _ in exhibit.bold}
    without = {kind: paths for kind, paths in people.items() if kind != "people"}
    models = [c for c in exhibit.cells if c.row != "Human"]
    assert models == table4(without, LABELS).cells
    assert exhibit.bold == table4(without, LABELS).bold


def test_the_exhibit_counts_who_and_what_is_left_out(people):
    exhibit = validation(people, ALONE)
    number = {c.row: c.value for c in exhibit.cells if c.column == "Number"}
    assert number["Participants"] == 6
    assert number["left out: failed attention checks"] == 1
    assert (number["Attention checks"], number["passed"]) == (24, 20)
    assert number["Pairs judged"] == 19 * 8
    # p06 is excluded: its pairs have two judgements.
    assert number["with 3 judgements"] + number["left out of κ"] == number["Pairs judged"]
    assert number["left out of κ"] == number["Pairs judged"] * 3 - number["Judgements that count"]
    assert 0 < number["left out of κ"] < number["Pairs judged"]
    (rows,) = [section.rows for section in exhibit.sections if section.title == "Participant"]
    assert [*rows.values()] == [*OPTIONS.names]
    assert [exhibit.remarks[row]["Counted"] for row in rows] == ["yes"] * 5 + ["no"]
    assert cell(exhibit, "participant p06", "Passed").value == 0


def test_kappas_that_are_not_defined_are_left_out(people, tmp_path):
    table = read_table(VALIDATION_RATINGS, people["validation_ratings"][0])
    right = table.filter(table["chose_good"])
    path = tmp_path / "ratings.parquet"
    write_table(right, VALIDATION_RATINGS, path)
    exhibit = validation(people | {"validation_ratings": [path]}, ALONE)
    rows = {c.row for c in exhibit.cells if c.column == "κ"}
    assert rows == {"Sentence chosen (published)", "Free-marginal (Randolph)"}


SPECS = {spec.name: spec for spec in exhibits().values() if spec.paper == "urblimp"}
CASES = [
    *(("two languages", name) for name in sorted(OWN)),
    *(("models and people", name) for name in SPECS if name not in OWN),
    *(("one model", name) for name in SPECS if name not in {*OWN, "table9", "validation"}),
]


@pytest.fixture(scope="module")
def campaigns(people, tmp_path_factory):
    languages = {"hin": results.HINDI, "urd": results.URDU}
    two = results.campaign(tmp_path_factory.mktemp("two"), languages, printed("urblimp"))
    few = ("aspect", "oblique_verb", "oblique_pronoun")
    one = simulate(tmp_path_factory.mktemp("one"), {"ours": 0.7}, few)
    labels = replace(LABELS, facts=LABELS.facts | ALONE.facts)
    return {
        "two languages": (two, results.LABELS),
        "models and people": (people, labels),
        "one model": (one, replace(labels, models={"ours": "Ours"})),
    }


@pytest.mark.parametrize(("campaign", "name"), CASES)
def test_an_exhibit_is_written_and_its_cells_computed_again(campaigns, tmp_path, campaign, name):
    tables, labels = campaigns[campaign]
    exhibit = write_exhibit(SPECS[name], tables, labels, tmp_path)
    if exhibit.cells:
        check_cells(exhibit.cells, sources_of(tables))
