"""What papers print, against what their other numbers make of it.

tests/workflow/test_reproduction.py has the status of each number.
"""

import pytest

from blimpworks.papers.lmentry.items.packs import read_texts
from support.cells_kit import check_cells, check_that_it_deviates, sources_of

pytestmark = pytest.mark.slow


def of(paper, *values):
    # They share what is made once.
    return pytest.param(paper, *values, marks=pytest.mark.xdist_group(f"{paper}-print"))


@pytest.mark.parametrize("paper", [of("blimp"), of("clams"), of("lmentry"), of("urblimp")])
def test_each_cell_can_be_computed_again(print_of, paper):
    tables, exhibits, _ = print_of(paper)
    packs = tables.get("packs", ())
    sources = sources_of(tables | {"packs": []}) | {"packs": read_texts(packs)}
    cells = []
    for exhibit in exhibits.values():
        again = [cell for cell in exhibit.cells if "exhibit" not in cell.where or not cell.printed]
        cells += again or exhibit.cells[:5]
    check_cells(cells, sources)


@pytest.mark.parametrize(
    ("paper", "place", "changed"),
    [
        of("blimp", ("table2", "binding", "N"), "6"),
        of("blimp", ("table3", "lstm-gulordava", "binding"), "74.5"),
        of("blimp", ("table3", "blimp-5gram", "overall"), "61.2"),
        of("blimp", ("text", "gpt2-large", "attractor"), "25"),
        of("clams", ("table1", "average", "eng clams-lstm-mono"), ".75"),
        of("clams", ("table3", "subj_rel", "bert-base-multilingual-cased"), ".84"),
        of("clams", ("table7", "prep", "rus bert-base-multilingual-cased"), "1690"),
        of("lmentry", ("table4", "phi-4", "eng lms"), "78.7"),
        of("lmentry", ("table2", "all", "samples"), "956,245"),
        of("lmentry", ("table4", "average", "kor lms"), "41.1"),
        of("lmentry", ("table5", "phi-4", "deu"), "84.4"),
        of("lmentry", ("table54", "word_containing", "por"), "78"),
        of("lmentry", ("table6", "ita open-weight", "less_letters"), "3"),
        of("lmentry", ("text", "learners", "accuracy"), "96.14%"),
    ],
)
def test_a_changed_digit_deviates(print_of, paper, place, changed):
    check_that_it_deviates(print_of(paper)[2], place, changed)
