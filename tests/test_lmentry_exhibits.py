"""Multi-LMentry's exhibits of a campaign's own: from simulated judgements of two languages."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from lmentry_kit import NAMES, PRINTED, SIZES, SPECS, build

from blimpworks.analysis.accuracy import ALL, compute_accuracies
from blimpworks.analysis.robustness import aspects, lmentry_score, mean_accuracy, robustness
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import FORMULAS, select_rows
from blimpworks.lmentry.tasks import ORDERED, SUBSETS, TASKS, WHOLE
from blimpworks.reproduction.measured import compare
from blimpworks.tables import ACCURACIES, ITEMS, JUDGEMENTS, read_table, write_table

METHOD = "answer_pattern"
SKILL = {"phi-4": 0.9, "eurollm-9b-it": 0.6, "latxa-llama-3.1-8b-instruct": 0.75, "mine": 0.5}
LANGUAGES = {"eng": "English", "ita": "Italian"}
SUBTASKS = [f"{task}_{name}" for task, names in SUBSETS.items() for name in names]
N = 12
LABELS = Labels(
    LANGUAGES,
    {name: NAMES.get(name, "Model M") for name in SKILL},
    METHOD,
    {"lmentry_sizes": {name: SIZES.get(name, 0.5) for name in SKILL}},
)


def write(rows, schema, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, schema=schema.arrow()) if isinstance(rows, list) else rows
    write_table(table, schema, path)
    return path


def paradigm(task, number):
    """Template, and of the tasks with two arguments which one is right."""
    order = f"/answer={1 + number // 3 % 2}" if task in ORDERED else ""
    return f"template={1 + number % 3}{order}"


def judgements(random, skill):
    """Verdicts on every task, easier ones first in the list."""
    for easy, task in enumerate((*TASKS, *SUBTASKS)):
        for number in range(N):
            yield {
                **dict.fromkeys(JUDGEMENTS.names),
                "item_id": f"{task}{number}",
                "phenomenon": task,
                "paradigm": paradigm(task, number),
                "method": METHOD,
                "correct": float(random.random() < skill * (1 - easy / 80)),
                "tie": False,
                "near_tie": False,
            }


def item(lang, task, number):
    keys = {"item_id": f"{task}{number}", "lang": lang, "phenomenon": task}
    return keys | {
        **{"paradigm": paradigm(task, number), "good": "", "bad": "", "sent_id": ""},
        **dict.fromkeys(("good_start", "good_end", "bad_start", "bad_end"), 0),
        **{"treebank": "", "file": ""},
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("measured")


@pytest.fixture(scope="module")
def campaign(root):
    """Tables of the campaign by kind, and its judgements."""
    random = np.random.default_rng(3)
    judged = [
        (model, lang, write([*judgements(random, skill)], JUDGEMENTS, root / lang / model))
        for model, skill in SKILL.items()
        for lang in LANGUAGES
    ]
    accuracies = root / "accuracies.parquet"
    compute_accuracies(judged, "lmentry", accuracies)
    items = [
        write(
            [item(lang, task, n) for task in (*TASKS, *SUBTASKS) for n in range(N)],
            ITEMS,
            root / f"items/{lang}.parquet",
        )
        for lang in LANGUAGES
    ]
    return {"accuracies": [accuracies], "items": items}, judged


@pytest.fixture(scope="module")
def sources(campaign):
    """The tables that cells name, as frames."""
    tables, judged = campaign
    frames = [
        read_table(JUDGEMENTS, path).to_pandas().assign(model=model, lang=lang)
        for model, lang, path in judged
    ]
    items = [read_table(ITEMS, path).to_pandas() for path in tables["items"]]
    accuracies = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas()
    return {
        "judgements": pd.concat(frames),
        "items": pd.concat(items),
        "accuracies": accuracies.astype(dict.fromkeys(("phenomenon", "paradigm"), object)),
    }


def cells(exhibit):
    return {(cell.row, cell.column): cell for cell in exhibit.cells}


@pytest.mark.parametrize("name", sorted(name for name, spec in SPECS.items() if spec.needs))
def test_each_measured_cell_can_be_computed_again(campaign, sources, name, root):
    exhibit, _ = build(name, campaign[0], LABELS, root)
    for cell in exhibit.cells:
        chosen = select_rows(sources[cell.source], dict(cell.where))
        assert FORMULAS[cell.formula](chosen) == pytest.approx(cell.value, abs=1e-9), cell
    of_others = name.startswith("table") and name[5:].isdigit() and 36 <= int(name[5:]) <= 49
    assert bool(exhibit.cells) != of_others


def test_the_score_is_accuracy_times_robustness(campaign, root):
    scores = cells(build("table4", campaign[0], LABELS, root)[0])
    robust = cells(build("table5", campaign[0], LABELS, root)[0])
    for model in ("phi-4", "EuroLLM-9B", "Latxa-8B", "Model M"):
        for lang in ("EN", "IT"):
            accuracy = scores[model, f"{lang} Acc."].value
            product = accuracy * robust[model, lang].value / 100
            assert scores[model, f"{lang} LMS"].value == pytest.approx(product)


def test_averages_are_over_the_models(campaign, root):
    found = cells(build("table4", campaign[0], LABELS, root)[0])
    for column in ("EN LMS", "IT Acc."):
        own = [cell.value for (row, c), cell in found.items() if c == column and row != "Average"]
        assert len(own) == 4
        assert found["Average", column].value == pytest.approx(sum(own) / 4)


def test_models_that_the_paper_has_not_stand_under_a_heading_of_their_own(campaign, root):
    exhibit, _ = build("table4", campaign[0], LABELS, root)
    headed = [list(section.rows) for section in exhibit.sections]
    assert headed[0] == ["Open-Weight Multilingual Models", "phi-4"]
    assert headed[3:] == [["Other Models", "Model M"], ["Average"]]


def test_table_6_ranks_the_tasks_of_each_group(campaign, sources, root):
    exhibit, _ = build("table6", campaign[0], LABELS, root)
    found = cells(exhibit)
    rows = sources["accuracies"]
    rows = rows[(rows["lang"] == "ita") & (rows["model"] == "phi-4") & (rows["paradigm"] == ALL)]
    means = rows[rows["phenomenon"].isin(TASKS)].set_index("phenomenon")["accuracy"]
    listed = [found[f"IT {n}", "Open-weight top 5"].text.replace(" ", "_") for n in range(1, 6)]
    assert means[listed].is_monotonic_decreasing
    assert means[listed].min() >= means.drop(listed).max()
    last = [found[f"IT {n}", "Open-weight bottom 5"].text.replace(" ", "_") for n in range(1, 6)]
    assert means[last].max() <= means.drop(last).min()


def test_measured_numbers_stand_beside_the_printed_ones(campaign, root):
    names = ("table2", "table4", "table5", "table50", "table54")
    paths = {name: build(name, campaign[0], LABELS, root)[1] for name in names}
    printed = sorted(PRINTED.glob("*.csv"))
    found = {(r["exhibit"], r["row"], r["column"]): r for r in compare("lmentry", printed, paths)}
    for place in (
        ("table4", "phi-4", "eng lms"),
        ("table4", "average", "ita accuracy"),
        ("table5", "eurollm-9b-it", "ita"),
        ("table50", "phi-4", "homophones"),
        ("table54", "homophones", "eng"),
        ("table2", "all", "samples"),
    ):
        assert found[place]["verdict"] != "not run", place
    assert found["table4", "anita-8b", "eng lms"]["verdict"] == "not run"
    assert found["table50", "phi-4", "homophones"]["n"] == N


def test_without_templates_there_is_accuracy_and_no_score(campaign, root, tmp_path):
    whole = read_table(ACCURACIES, campaign[0]["accuracies"][0])
    kept = whole.filter(pa.compute.equal(whole["paradigm"].cast("string"), ALL))
    tables = {"accuracies": [write(kept, ACCURACIES, tmp_path / "accuracies.parquet")]}
    exhibit, _ = build("table4", tables, LABELS, tmp_path)
    assert {cell.column for cell in exhibit.cells} == {"EN Acc.", "IT Acc."}
    assert "Without a score in EN, IT" in exhibit.caption
    assert build("fig1", tables, LABELS, tmp_path)[0].cells == []
    assert build("fig2", tables, LABELS, tmp_path)[0].cells == []


def test_a_method_that_nothing_was_judged_by_is_refused(campaign, root):
    with pytest.raises(UserError, match="no accuracies by method 'other'"):
        build("table4", campaign[0], replace(LABELS, method="other"), root)


# Robustness


def test_a_task_as_a_whole_is_called_as_the_table_of_accuracies_calls_it():
    assert WHOLE == ALL


def accuracies(**tasks):
    """Accuracies of one model: a number, or numbers by paradigm, of ten prompts each."""
    rows = []
    for task, given in tasks.items():
        cases = given if isinstance(given, dict) else {ALL: given}
        rows += [
            {"phenomenon": task, "paradigm": p, "accuracy": a, "n": 10} for p, a in cases.items()
        ]
    return pd.DataFrame(rows)


def test_the_order_aspect_is_the_gap_between_answers_pooled_over_templates():
    cases = {
        "template=1/answer=1": 0.9,
        "template=2/answer=1": 0.7,
        "template=1/answer=2": 0.5,
        "template=2/answer=2": 0.5,
    }
    found = aspects(accuracies(more_letters=cases))
    assert found["order"] == pytest.approx(100 - 30)
    assert found["template"] == pytest.approx(100 - 10)


def test_the_content_aspect_counts_tasks_without_subsets_as_stable():
    found = aspects(accuracies(more_letters_length_diff_3plus=0.9, more_letters_length_diff_1=0.3))
    assert found["content"] == pytest.approx((5 * 100 + 40) / 6)


def test_the_adjacent_aspect_is_the_mean_gap_of_the_pairs_there_are():
    found = aspects(accuracies(first_word=0.8, last_word=0.6, first_letter=0.9))
    assert found["adjacent"] == pytest.approx(100 - (20 + 10) / 2)


def test_robustness_is_unknown_without_templates():
    assert np.isnan(robustness(accuracies(first_word=0.8, last_word=0.6)))


def test_the_score_is_over_tasks_and_leaves_subsets_out():
    cases = {ALL: 0.6, "template=1/answer=1": 0.6, "template=1/answer=2": 0.6}
    rows = accuracies(more_letters=cases, less_letters=cases, less_letters_length_diff_1=0.1)
    assert mean_accuracy(rows) == pytest.approx(60)
    assert robustness(rows) == pytest.approx(100)
    assert lmentry_score(rows) == pytest.approx(60)
