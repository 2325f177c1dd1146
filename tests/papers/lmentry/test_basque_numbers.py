"""Numbers of Multi-LMentry's Basque prompts, in words."""

import pytest

from blimpworks.papers.lmentry.items.basque import spelled
from blimpworks.papers.lmentry.judging.arguments import number_forms

GOLDEN = {
    1: "bat",
    10: "hamar",
    18: "hemezortzi",
    19: "hemeretzi",
    20: "hogei",
    21: "hogeita bat",
    31: "hogeita hamaika",
    59: "berrogeita hemeretzi",
    80: "laurogei",
    100: "ehun",
    101: "ehun eta bat",
    215: "berrehun eta hamabost",
    444: "laurehun eta berrogeita lau",
    999: "bederatziehun eta laurogeita hemeretzi",
}


def test_basque_numbers_are_spelled_by_scores_and_none_alike():
    assert {number: spelled(number) for number in GOLDEN} == GOLDEN
    assert len({spelled(number) for number in range(1000)}) == 1000
    with pytest.raises(ValueError, match="expected 0 to 999"):
        spelled(1000)


def test_answers_may_have_a_number_in_digits_or_in_words():
    assert number_forms(121, "eu") == ("121", "ehun eta hogeita bat")
    assert number_forms(121, "ko") == ("121", "백이십일")
