"""The authors' corrections to UniMorph tables."""

import lzma
import re

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.items import lexicon as patches
from blimpworks.papers.multiblimp.items.lexicon import DROPPED, patch_line, patch_rows
from blimpworks.papers.multiblimp.items.words import parse_tags, tag_features
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"


def rows_of(lang, *lines, table=""):
    """Rows of a table (lines of "lemma form tags") after both kinds of patches."""
    table_lines = ("\t".join(line.split()) for line in lines)
    split = (tuple(patch_line(line, lang, table).split("\t")) for line in table_lines)
    return list(patch_rows((row for row in split if row[0]), lang))


@pytest.mark.parametrize(
    ("lang", "tags", "expected"),
    [
        ("eus", "V;ARGABS3;PRES;IND", "V;ARGABS3;PRS;IND"),
        ("eus", "V;ARGABS3;PAST;POT", "V;ARGABS3;PST;POT"),
        ("fao", "V.PTCP.PST", "V;PTCP;PST"),
        ("fao", "V.CVB", "V;CVB"),
        ("fao", "N.INDF.DAT.SG", "N;INDF.DAT;SG"),
        ("fao", "ADJ.INDF", "ADJ.INDF"),
        ("hsb", "V:PST:3:PL", "V;PST;3;PL"),
        ("hsb", "ADJ;DAT:FEM;SG", "ADJ;DAT;FEM;SG"),
        ("kmr", "V;PRS;1;2;3;PL", "V;PRS;1,2,3;PL"),
        ("san", "V;PRES;3;SG", "V;PRS;3;SG"),
        ("san", "ADJ;{MASC/NEU};NOM", "ADJ;MASC/NEUT;NOM"),
        ("san", "ADJ;NEUT;NOM", "ADJ;NEUT;NOM"),
        ("cym", "V;PRES:3", "V;PRES:3"),
    ],
)
def test_tags_are_levelled(lang, tags, expected):
    assert patch_line(f"x\ty\t{tags}", lang) == f"x\ty\t{expected}"


def test_lemma_and_form_are_left_alone_and_so_are_further_columns():
    assert patch_line("PRES:\tPAST\tV;PRES", "eus") == "PRES:\tPAST\tV;PRS"
    assert patch_line("x\ty\tN;PL\tmore", "hsb") == "x\ty\tN;PL\tmore"
    assert patch_line("no table", "hsb") == "no table"


@pytest.mark.parametrize(
    ("lang", "table", "line", "dropped"),
    [
        ("fra", "fra", "avoyr\tavoit\tV;IND", True),
        ("fra", "fra", "reçoivre\tx\tV;IND", True),
        ("fra", "", "mectre\tx\tV;IND", True),
        ("fra", "fra.segmentations", "estre\tx\tV|IND\testre|x", True),
        ("deu", "deu.segmentations", "abbauen\tbaute ab\tV|IND;PST;3;SG;ADP\tx", True),
        ("deu", "deu.segmentations.xz", "abbauen\tbaute ab\tV|IND;PST;3;SG;ADP\tx", True),
        ("krl", "krl-new-written-karelian", "# Karelian Proper: New written karelian", True),
        ("olo", "olo-new-written-livvic", "# Livvi: New written Livvic", True),
        ("vep", "vep-new-written-veps", "# Veps: New written Veps", True),
        ("fra", "fra.segmentations", "avoyr\tavoit\tV|IND\tx", False),
        ("fra", "fra", "avoyrer\tx\tV;IND", False),
        ("deu", "deu", "ADP\tx\tN;SG", False),
        ("frm", "frm", "avoyr\tavoit\tV;IND", False),
    ],
)
def test_lines_are_left_out_of_the_table_that_they_are_wrong_in(lang, table, line, dropped):
    assert patch_line(line, lang, table) == (DROPPED if dropped else line)


def test_french_italian_and_dutch_get_the_forms_they_lack():
    french = rows_of("fra", "aimer aime V;IND;PRS;3;SG")
    lacking = [(lemma, form, tags[-4:]) for lemma, form, tags in french[1:]]
    be = [("est", "3;SG"), ("sommes", "1;PL"), ("êtes", "2;PL"), ("sont", "3;PL")]
    assert lacking == [*(("être", *each) for each in be), ("mettre", "met", "3;SG")]
    assert rows_of("ita", "x y N;SG")[1:] == [("essere", "è", "V;IND;PRS;3;SG")]
    assert rows_of("nld", "x y N;SG")[1:] == [
        ("willen", "wil", "V;IND;PRS;2;SG"),
        ("zullen", "zal", "V;IND;PRS;2;SG"),
    ]


def test_english_gets_a_present_plural_from_either_layout_of_its_table():
    plain = rows_of("eng", "walk walks V;PRS;3;SG", "walk walk V;NFIN;IMP+SBJV")
    marked = rows_of("eng", "walk walks V;PRS;NOM(3,SG)", "walk walk V;NFIN")
    assert plain == marked
    assert plain[:3] == [
        ("walk", "walks", "V;PRS;3;IND;SG"),
        ("walk", "walk", "V;PRS;3;IND;PL"),
        ("walk", "walk", "V;NFIN;IMP+SBJV"),
    ]
    assert [row[1] for row in plain[3:]] == ["am", "are", "is", "are", "are", "are"]
    assert parse_tags(plain[1][2]) == parse_tags("V;IND;PRS;3;PL")


@pytest.mark.parametrize(
    ("line", "plurals"),
    [
        ("walk walked V;PST", []),
        ("re-enter re-enters V;PRS;3;SG", []),
        ("Google Googles V;PRS;3;SG", []),
        ("re-enter reenters V;PRS;3;SG", ["enter"]),
    ],
)
def test_the_english_plural_reaches_as_far_as_the_authors_pattern(line, plurals):
    rows = rows_of("eng", line)
    assert [form for lemma, form, tags in rows if "IND;PL" in tags and lemma != "be"] == plurals


def test_an_unknown_kind_of_patch_is_refused_with_its_place(monkeypatch, tmp_path):
    table = tmp_path / patches.TABLE.name
    header = patches.TABLE.read_text("utf-8").partition("\n")[0]
    table.write_text(header + "\n" + "\t".join("abcdef") + "\n", "utf-8")
    monkeypatch.setattr(patches, "TABLE", table)
    patches.patches_of.cache_clear()
    with pytest.raises(UserError, match=r"unimorph_patches.tsv:2: column 'kind' is 'c'"):
        patches.patches_of("a")
    monkeypatch.undo()
    patches.patches_of.cache_clear()


def mirrored(mirror, lang, name=None):
    """Lines of a mirrored table with at least three columns, and the same lines patched."""
    name = name or lang
    path = mirror / "unimorph" / lang / f"{name}.xz"
    if not path.is_file():
        pytest.skip(f"no UniMorph table {name} in the mirror")
    lines = lzma.decompress(path.read_bytes()).decode("utf-8").split("\n")
    return lines, [patch_line(line, lang, name) for line in lines]


@pytest.mark.parametrize(
    ("lang", "table", "changed"),
    [
        ("eus", "eus", 7718),
        ("fao", "fao", 1712),
        ("hsb", "hsb", 2),
        ("krl", "krl", 0),
        ("krl", "krl-padany", 1),
        ("nld", "nld", 0),
        ("olo", "olo-kondushi", 1),
        ("san", "san", 0),
        ("vep", "vep-northern-veps", 1),
    ],
)
def test_the_patches_change_as_many_lines_of_real_tables_as_need_it(mirror, lang, table, changed):
    before, after = mirrored(mirror, lang, table)
    assert sum(a != b for a, b in zip(after, before, strict=True)) == changed
    tags = {line.split("\t")[2] for line in after if line.count("\t") >= 2}
    atoms = {atom for bundle in tags for atom in re.split(r"[;.,/+{} ]+", bundle) if atom}
    assert atoms - tag_features().keys() == set()


def test_the_real_english_table_gains_a_plural_for_nearly_every_verb(mirror):
    _, lines = mirrored(mirror, "eng", "eng.args")
    rows = [tuple(line.split("\t")) for line in lines if line]
    gained = [row for row in patch_rows(rows, "eng") if row[2] == "V;PRS;3;IND;PL"]
    singular = [row for row in rows if row[2] == "V;PRS;3;IND;SG"]
    # What the authors' own commands make of the same table.
    assert (len(singular), len(gained)) == (22785, 21708)
