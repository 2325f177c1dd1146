"""Numbers of Multi-LMentry's Basque prompts, in words."""

import pytest

from blimpworks.papers.lmentry.items.basque import spelled
from blimpworks.papers.lmentry.judging.arguments import number_forms

GOLDEN = {
    0: "zero",
    1: "bat",
    10: "hamar",
    11: "hamaika",
    13: "hamahiru",
    17: "hamazazpi",
    18: "hemezortzi",
    19: "hemeretzi",
    20: "hogei",
    21: "hogeita bat",
    30: "hogeita hamar",
    31: "hogeita hamaika",
    40: "berrogei",
    42: "berrogeita bi",
    59: "berrogeita hemeretzi",
    60: "hirurogei",
    70: "hirurogeita hamar",
    80: "laurogei",
    99: "laurogeita hemeretzi",
    100: "ehun",
    101: "ehun eta bat",
    123: "ehun eta hogeita hiru",
    200: "berrehun",
    215: "berrehun eta hamabost",
    300: "hirurehun",
    444: "laurehun eta berrogeita lau",
    500: "bostehun",
    676: "seiehun eta hirurogeita hamasei",
    700: "zazpiehun",
    818: "zortziehun eta hemezortzi",
    999: "bederatziehun eta laurogeita hemeretzi",
}


@pytest.mark.parametrize(("number", "words"), GOLDEN.items())
def test_a_basque_number_is_spelled_by_scores(number, words):
    assert spelled(number) == words


def test_no_two_numbers_of_the_prompts_are_spelled_alike():
    assert len({spelled(number) for number in range(1000)}) == 1000


def test_a_number_that_no_prompt_has_is_refused():
    with pytest.raises(ValueError, match="expected 0 to 999"):
        spelled(1000)


def test_answers_may_have_a_number_in_digits_or_in_words():
    assert number_forms(121, "eu") == ("121", "ehun eta hogeita bat")
    assert number_forms(121, "ko") == ("121", "백이십일")
