"""CLAMS's claims about accuracies: what is said of a wrong row of their table."""

from pathlib import Path

import pytest

from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.papers.clams.exhibits import figures

TABLE = Path(figures.__file__).with_name("claims.tsv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("least accuracy", "lowest", "column 'formula' is 'lowest': .* expected .*least accuracy"),
        ("deu,heb,rus", "deu,nld", "column 'langs' .* expected eng, fra"),
        ("long_vp_coord,prep", "longest", "column 'constructions' .* expected simple_agrmt"),
        ("\tmbert\t", "\tgpt\t", "column 'part' is 'gpt'"),
    ],
)
def test_a_claim_about_what_there_is_not_is_refused_with_its_line(tmp_path, old, new, message):
    path = tmp_path / "claims.tsv"
    path.write_text(TABLE.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=rf"claims\.tsv:\d+: {message}"):
        read_rows(figures.Claim, path)
