"""What BLiMP prints, against itself and against what its authors released."""

import shutil
from collections import Counter

import pyarrow.parquet as pq
import pytest

from blimpworks.errors import UserError
from blimpworks.papers.blimp.paradigms import PHENOMENON_OF
from blimpworks.papers.blimp.published import MISPLACED, accuracies
from blimpworks.papers.blimp.released_results import INDIVIDUAL, read_blimp_release
from blimpworks.reproduction.printed import read_printed_numbers
from support.blimp_kit import PRINTED, published, release, statuses, write_release

pytestmark = pytest.mark.xdist_group("blimp-print")  # they share what is made once

MODELS = ("blimp-5gram", "lstm-gulordava", "transformer-xl-wt103", "gpt2-large")
IRREGULAR = [f"irregular_plural_subject_verb_agreement_{n}" for n in "12"]
WITH_REJECTED = ("overall", "filler_gap_dependency", "island_effects")
SAME_BY_CHANCE = {
    ("animate_subject_trans", "human"),
    ("drop_argument", "lstm-gulordava"),
    ("passive_2", "human"),
    ("passive_2", "lstm-gulordava"),
}
FAULTS = {
    **{("table3", model, column): "erratum" for model in MODELS for column in WITH_REJECTED},
    ("table3", "transformer-xl-wt103", "argument_structure"): "erratum",
    **{
        ("table4", uid, column): "erratum"
        for uid in MISPLACED
        for column in (*MODELS, "human")
        if (uid, column) not in SAME_BY_CHANCE
    },
    **{("table4", uid, "human"): "erratum" for uid in IRREGULAR},
    ("text", "gpt2-large", "below human, islands"): "erratum",
    ("text", "curve", "tokens for human accuracy"): "garbled",
    ("text", "gpt2 sizes", "overall"): "erratum",
    ("text", "gpt2 sizes", "largest deviation"): "erratum",
}
"""Every number that is neither recomputed, to rounding, nor beyond recomputing."""
FINE = ("exact", "rounding", "not recomputable")


def counts(statuses_by_place):
    return Counter((exhibit, status) for (exhibit, _, _), status in statuses_by_place.items())


@pytest.fixture(scope="module")
def paper(mirror, tmp_path_factory):
    root = tmp_path_factory.mktemp("release")
    return published(root, released=release(mirror, root))


def cells_of(paper, exhibit):
    frame = pq.read_table(paper.cells[exhibit]).to_pandas()
    return frame.set_index(["row", "column"])["value"]


@pytest.mark.mirror
def test_with_the_release_every_number_has_the_status_that_it_should(paper):
    status = statuses(paper)
    assert counts(status) == {
        ("table2", "exact"): 12,
        ("table3", "exact"): 51,
        ("table3", "rounding"): 1,
        ("table3", "erratum"): 13,
        ("table4", "exact"): 271,
        ("table4", "rounding"): 1,
        ("table4", "erratum"): 63,
        ("text", "exact"): 22,
        ("text", "rounding"): 1,
        ("text", "not recomputable"): 51,
        ("text", "erratum"): 3,
        ("text", "garbled"): 1,
    }
    assert {place: s for place, s in status.items() if s not in FINE} == FAULTS


@pytest.mark.mirror
def test_the_release_gives_the_correlation_agreement_and_prefix_results_of_the_text(paper):
    text = cells_of(paper, "text")
    assert text["TXL: r with LSTM", "Recomputed"] == pytest.approx(0.8993, abs=5e-5)
    assert text["Humans: aggregate", "Recomputed"] == pytest.approx(100 * 323 / 335)
    assert text["Humans: individual", "Recomputed"] == pytest.approx(88.5546, abs=5e-5)
    prefixes = cells_of(paper, "fig6")
    assert prefixes["TXL", "All phenomena: 2-prefix"] == pytest.approx(73.47)
    assert prefixes["TXL", "All phenomena: sentence (2-prefix paradigms)"] == pytest.approx(70.475)


@pytest.mark.mirror
def test_the_misplaced_rows_of_table_4_are_those_of_the_released_results(mirror, tmp_path):
    released = pq.read_table(release(mirror, tmp_path)).to_pandas()
    chosen = released["method"].isin(["released_full_sentence", INDIVIDUAL])
    right = released[chosen].set_index(["model", "paradigm"])["accuracy"]
    printed = read_printed_numbers(sorted(PRINTED.glob("*.csv")))
    for printed_accuracy in accuracies(printed):
        off = abs(
            printed_accuracy.accuracy - right[printed_accuracy.model, printed_accuracy.paradigm]
        )
        assert off <= printed_accuracy.rounding + 1e-9, printed_accuracy


def test_what_table_4_should_read_is_what_stands_in_the_other_rows():
    printed = read_printed_numbers([PRINTED / "table4.csv"])
    percent = {(a.paradigm, a.model): round(100 * a.accuracy) for a in accuracies(printed)}
    assert len(percent) == 5 * len(PHENOMENON_OF)
    wrong = [r for r in printed if r.fault]
    assert all(percent[r.row, r.column] == r.corrected != r.value for r in wrong)
    right = [r for r in printed if not r.fault and (r.row, r.column) not in SAME_BY_CHANCE]
    assert all(percent[r.row, r.column] == r.value for r in right)


@pytest.mark.slow
def test_numbers_printed_otherwise_deviate(tmp_path):
    copy = shutil.copytree(PRINTED, tmp_path / "printed")
    changes = {
        ("table2", "binding", "N"): ("binding,N,7,7", "binding,N,6,6"),
        ("table3", "lstm-gulordava", "binding"): (
            "lstm-gulordava,binding,73.5,73.5",
            "lstm-gulordava,binding,74.5,74.5",
        ),
        ("table3", "blimp-5gram", "overall"): (
            "overall,60.5,60.5,%,,erratum",
            "overall,61.2,61.2,%,,erratum",
        ),
        ("text", "gpt2-large", "attractor"): ("attractor,22,22", "attractor,25,25"),
    }
    for (table, *_), (old, new) in changes.items():
        path = copy / f"{table}.csv"
        before = path.read_text()
        assert before.count(old) == 1
        path.write_text(before.replace(old, new))
    again = statuses(published(tmp_path, copy))
    assert {place: again[place] for place in changes} == dict.fromkeys(changes, "deviates")


def test_a_paradigm_that_table_4_cannot_have_is_refused():
    row = read_printed_numbers([PRINTED / "table4.csv"])[0].model_copy(update={"row": "binding"})
    with pytest.raises(UserError, match=r"row 'binding'.*expected a paradigm's name"):
        list(accuracies([row]))


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("results.csv", "N-Gram", "5-gram", r"results.csv:1: there is no column N-Gram"),
        ("results.csv", "0.75,1000", "1.75,1000", r"results.csv:2: GPT2 is '1.75'; expected"),
        ("results.csv", "sentence", "word", r"type 'word'; expected sentence"),
        ("humans.csv", ",4,", ",six,", r"humans.csv:2: accepted is 'six'; expected"),
        ("rerun.jsonl", "anaphor_g", "cataphor_g", r"rerun.jsonl:1: UID is 'cataphor_gender"),
        ("rerun.jsonl", '"lstm": 0', '"lstm": 7', r"rerun.jsonl:1: lstm is 7.751; expected"),
        ("rerun.jsonl", '"lstm"', "lstm", r"rerun.jsonl:1: no JSON object"),
    ],
)
def test_a_malformed_release_is_refused(file, old, new, said, tmp_path):
    paths = write_release(tmp_path)
    path = tmp_path / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UserError, match=said):
        read_blimp_release(*paths, tmp_path / "out.parquet")
