"""A printed number's value is what its text says."""

import pytest

from blimpworks.campaign.reference import PublishedRow, numbers_in
from blimpworks.errors import UserError
from blimpworks.reproduction.printed import read_printed_numbers
from support.paths import REPOSITORY

HEAD = "exhibit,row,column,text,value,unit,bold,fault,corrected,note\n"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("99.4", 99.4),
        ("−0.30", -0.3),
        ("1,558 M", 1_558_000_000),
        ("1/4M", 250_000),
        ("110M", 0.11),
        ("4/5", 0.8),
        (".05", 0.05),
        ("between 80% and 90%", 90),
    ],
)
def test_numbers_are_read_as_papers_print_them(text, number):
    assert number in [pytest.approx(each) for each in numbers_in(text)]


@pytest.mark.parametrize("text", ["—", "three", "LLaMA-70B", "GPT2"])
def test_a_text_without_number_says_nothing_of_the_value(text):
    assert numbers_in(text) == []


@pytest.mark.parametrize("value", ["45.8", "457", "-45.7", "inf"])
def test_a_value_that_is_not_its_text_is_refused_with_its_line(tmp_path, value):
    path = tmp_path / "table1.csv"
    path.write_text(f"{HEAD}table1,a,b,45.7,{value},%,,,,\n")
    with pytest.raises(UserError, match=r"table1\.csv:2: .*not what the text has: '45.7'"):
        read_printed_numbers([path])


def test_a_garbled_text_may_have_another_value():
    row = dict.fromkeys(PublishedRow.model_fields, "") | {"text": "45.7", "value": "45.8"}
    assert PublishedRow(**(row | {"fault": "garbled"})).value == 45.8


def test_all_values_are_what_the_papers_print():
    tables = sorted((REPOSITORY / "config/published").glob("*/*.csv"))
    assert sum(len(read_printed_numbers([path])) for path in tables) == 10_431
