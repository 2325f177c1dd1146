"""Tables of exhibits' specs: what a row says, and what is said of a wrong one."""

import pytest

from blimpworks.campaign.exhibit_spec import ExhibitSpec, read_specs
from blimpworks.errors import UserError

HEADINGS = "name\tkind\tfunction\ttitle\tneeds\tof_samples"
ROW = "fig1\tfigure\tcurves:draw\tAccuracy by size\taccuracies items\tyes"


@pytest.fixture
def read(tmp_path):
    def _read(*lines):
        path = tmp_path / "specs.tsv"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return read_specs(path, "paper", "package.exhibits")

    return _read


def test_a_row_names_an_exhibit_what_it_needs_and_its_function(read):
    (spec,) = read(HEADINGS, ROW)
    assert spec == ExhibitSpec(
        paper="paper",
        name="fig1",
        kind="figure",
        title="Accuracy by size",
        needs=("accuracies", "items"),
        function="package.exhibits.curves:draw",
        of_samples=True,
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((HEADINGS.replace("needs", "need"), ROW), r"specs.tsv:1: unknown columns: need; missing"),
        (("name\tkind\tfunction\ttitle", ROW), r"specs.tsv:1: .*missing columns: needs. Expected"),
        ((HEADINGS, f"{ROW}\tmore"), r"specs.tsv:2: more cells than headings"),
        ((HEADINGS, "fig1\tfigure"), r"specs.tsv:2: fewer cells than headings"),
        ((HEADINGS, ROW, ROW.removesuffix("yes")), r"specs.tsv: name 'fig1' stands in 2 rows"),
        ((HEADINGS, ROW.replace("figure", "plot")), r"specs.tsv:2: column 'kind' is 'plot'.*table"),
        ((HEADINGS, ROW.replace(":", ".")), r"specs.tsv:2: column 'function' is 'curves.draw'"),
        ((HEADINGS, ROW.replace("yes", "x")), r"specs.tsv:2: column 'of_samples' is 'x'"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(read, lines, message):
    with pytest.raises(UserError, match=message):
        read(*lines)
