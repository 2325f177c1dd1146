import lzma
import re
from collections import Counter

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.items import lexicon
from blimpworks.papers.multiblimp.items.words import TAG_FEATURES, parse_tags
from blimpworks.papers.multiblimp.settings import MultiblimpOptions


def ud_rows(table):
    rows = [row for row in table.to_pylist() if row["source"] == "ud"]
    return {(r["lemma"], r["form"], r["pos"], r["features"]): r["frequency"] for r in rows}


def entries(treebank, *words, ratios=None, first_entry="corrected"):
    """Return a treebank lexicon of words as ("form lemma upos feats", frequency)."""
    trees = [f"1 {word} 0 root" for word, count in words for _ in range(count)]
    return ud_rows(treebank(*trees, first_entry=first_entry).lexicon(ratios=ratios))


@pytest.mark.parametrize(
    "word",
    [
        "Rex Rex PROPN Number=Sing",
        "two two NUM Number=Plur",
        "sing sing VERB _",
        "sing _ VERB Number=Plur",
        "sing_up sing_up VERB Number=Plur",
    ],
)
def test_words_that_are_no_evidence_make_no_entry(treebank, word):
    assert entries(treebank, (word, 1)) == {}


def test_corrected_words_and_speech_repairs_make_no_entry_but_their_neighbours_do(treebank):
    tree = """
    1 dogs dog NOUN Number=Plur 0 root CorrectForm=dog
    2 cats cat NOUN Number=Plur 1 reparandum
    3 hens hen NOUN Number=Plur 1 dep Lang=en
    4 owls owl NOUN Number=Plur 1 dep
    """
    rows = ud_rows(treebank(tree, first_entry="corrected").lexicon())
    assert [form for _, form, _, _ in rows] == ["owls"]


@pytest.mark.parametrize(
    ("feats", "features"),
    [
        ("VerbForm=Fin", "Mood=IND|VerbForm=FIN|Voice=ACT"),
        ("Mood=Imp", "Mood=IMP|VerbForm=FIN|Voice=ACT"),
        ("VerbForm=Part|Voice=Pass", "VerbForm=V.PTCP|Voice=PASS"),
        ("Gender=Fem,Masc", "Gender=FEM+MASC"),
    ],
)
def test_finiteness_mood_and_voice_imply_each_other(treebank, feats, features):
    assert [key[3] for key in entries(treebank, (f"x y VERB {feats}", 1))] == [features]


@pytest.mark.parametrize(
    ("often", "rarely", "rare", "kept"),
    [
        # A form more than three times rarer than another
        (3, 1, "sung sing VERB Number=Plur", 2),
        (4, 1, "sung sing VERB Number=Plur", 1),
        # A hapax reading similar to a frequent one
        (11, 1, "sing sing VERB Number=Sing", 1),
        (10, 1, "sing sing VERB Number=Sing", 2),
        (22, 2, "sing sing VERB Number=Sing", 2),
        (11, 1, "sing sing VERB Number=Sing|Person=3", 2),
        (11, 1, "sing sing NOUN Number=Plur", 2),
        (11, 1, "sing sing VERB Number=Plur|Person=3", 1),
    ],
)
def test_rare_forms_and_readings_are_dropped(treebank, often, rarely, rare, kept):
    assert len(entries(treebank, ("sing sing VERB Number=Plur", often), (rare, rarely))) == kept


def unimorph_entries(paths, lang, special=(), **decisions):
    options = MultiblimpOptions(decisions=decisions)
    return lexicon.unimorph_entries(paths, lang, special, options, Counter())


def table(path, text):
    path.write_text("".join("\t".join(r.split(maxsplit=2)) + "\n" for r in text), "utf-8")
    return path


@pytest.mark.parametrize(
    ("special", "variant", "form"),
    [
        ("unidecode", "published", "cas"),
        ("published:unidecode", "published", "cas"),
        ("published:unidecode", "corrected", "čas"),
        ("corrected:unidecode", "corrected", "cas"),
    ],
)
def test_a_tables_spelling_is_treated_like_the_treebanks(tmp_path, special, variant, form):
    path = table(tmp_path / "slv", ["čas čas N;SG"])
    (entry,) = unimorph_entries([path], "slv", [special], scripts=variant)
    assert entry[:2] == (form, form)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("xyz", b"be\tam\tV;SG\nbe\tam\n", "xyz:2: found 2 tab-separated columns"),
        ("table", b"x\xff\ty\tV\n", "; expected a UniMorph table"),
        ("table.xz", b"x\xff\ty\tV\n", "; expected a UniMorph table"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        unimorph_entries([tmp_path / name], "slk")


def test_segmentations_separate_tags_by_bars_and_repeat_no_entry(tmp_path):
    plain = table(tmp_path / "xyz", ["be is V;SG"])
    segmented = table(tmp_path / "xyz.segmentations", ["be is V|SG", "be are V|PL"])
    entries_read = unimorph_entries([plain, segmented], "xyz")
    assert [(form, features) for _, form, _, features in entries_read] == [
        ("is", "Number=SG"),
        ("are", "Number=PL"),
    ]


@pytest.mark.parametrize(("name", "tags"), [("slk", "V;IND"), ("slk.segmentations", "V|IND")])
def test_a_compressed_table_is_read_like_a_plain_one(tmp_path, name, tags):
    line = f"ísť\tidem\t{tags};PRS;1;SG\n"
    plain, compressed = tmp_path / name, tmp_path / f"{name}.xz"
    plain.write_text(line, encoding="utf-8")
    compressed.write_bytes(lzma.compress(line.encode()))
    assert unimorph_entries([compressed], "slk") == unimorph_entries([plain], "slk") != []


def test_lines_that_are_left_out_or_odd_are_counted(tmp_path):
    table = tmp_path / "xyz"
    several = "a\ta\tN;SG\n\na\t\tN;PL\na\ta b\tN;PL\nb\tb\tN;SG\tmore\n"
    table.write_text(f"{several}c\tc\t\ne\te\tV;PLU\nd\td\tN")
    odd = Counter()
    entries = lexicon.unimorph_entries([table], "xyz", (), MultiblimpOptions(), odd)
    assert [form for _, form, _, _ in entries] == ["a", "b", "c", "e", "d"]
    once = ("blank", "several_words", "with_more_columns", "without_tags", "without_line_end")
    assert +odd == Counter((*once, "with_unknown_tags"))


def rows_of(lang, *lines):
    """Return rows of a table (lines of "lemma form tags") after both sorts of patches."""
    table_lines = ("\t".join(line.split()) for line in lines)
    split = (tuple(lexicon.patch_line(line, lang, lang).split("\t")) for line in table_lines)
    return list(lexicon.patch_rows((row for row in split if row[0]), lang))


DROPPED = lexicon.DROPPED


@pytest.mark.parametrize(
    ("table", "line", "expected"),
    [
        ("eus", "PRES:\tPAST\tV;PRES;IND", "PRES:\tPAST\tV;PRS;IND"),
        ("eus", "x\ty\tV;ARGABS3;PAST;POT", "x\ty\tV;ARGABS3;PST;POT"),
        ("fao", "x\ty\tV.PTCP.PST", "x\ty\tV;PTCP;PST"),
        ("fao", "x\ty\tV.CVB", "x\ty\tV;CVB"),
        ("fao", "x\ty\tN.INDF.DAT.SG", "x\ty\tN;INDF.DAT;SG"),
        ("fao", "x\ty\tADJ.INDF", "="),
        ("hsb", "x\ty\tV:PST:3:PL", "x\ty\tV;PST;3;PL"),
        ("hsb", "x\ty\tADJ;DAT:FEM;SG", "x\ty\tADJ;DAT;FEM;SG"),
        ("hsb", "x\ty\tN;PL\tmore", "="),
        ("hsb", "no table", "="),
        ("kmr", "x\ty\tV;PRS;1;2;3;PL", "x\ty\tV;PRS;1,2,3;PL"),
        ("san", "x\ty\tV;PRES;3;SG", "x\ty\tV;PRS;3;SG"),
        ("san", "x\ty\tADJ;{MASC/NEU};NOM", "x\ty\tADJ;MASC/NEUT;NOM"),
        ("san", "x\ty\tADJ;NEUT;NOM", "="),
        ("cym", "x\ty\tV;PRES:3", "="),
        # Lines that are wrong in one table are removed from it alone.
        ("fra", "avoyr\tavoit\tV;IND", DROPPED),
        ("fra", "reçoivre\tx\tV;IND", DROPPED),
        ("fra", "mectre\tx\tV;IND", DROPPED),
        ("fra.segmentations", "estre\tx\tV|IND\testre|x", DROPPED),
        ("deu.segmentations", "abbauen\tbaute ab\tV|IND;PST;3;SG;ADP\tx", DROPPED),
        ("deu.segmentations.xz", "abbauen\tbaute ab\tV|IND;PST;3;SG;ADP\tx", DROPPED),
        ("krl-new-written-karelian", "# Karelian Proper: New written karelian", DROPPED),
        ("olo-new-written-livvic", "# Livvi: New written Livvic", DROPPED),
        ("vep-new-written-veps", "# Veps: New written Veps", DROPPED),
        ("fra.segmentations", "avoyr\tavoit\tV|IND\tx", "="),
        ("fra", "avoyrer\tx\tV;IND", "="),
        ("deu", "ADP\tx\tN;SG", "="),
        ("frm", "avoyr\tavoit\tV;IND", "="),
    ],
)
def test_lines_are_levelled_left_out_or_left_alone(table, line, expected):
    assert lexicon.patch_line(line, table[:3], table) == (line if expected == "=" else expected)


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


def mirrored(mirror, lang, name=None):
    """Return lines of a mirrored table with three columns or more, and the same lines patched."""
    name = name or lang
    path = mirror / "unimorph" / lang / f"{name}.xz"
    if not path.is_file():
        pytest.skip(f"no UniMorph table {name} in the mirror")
    lines = lzma.decompress(path.read_bytes()).decode("utf-8").split("\n")
    return lines, [lexicon.patch_line(line, lang, name) for line in lines]


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
    assert atoms - TAG_FEATURES.keys() == set()


def test_the_real_english_table_gains_a_plural_for_nearly_every_verb(mirror):
    _, lines = mirrored(mirror, "eng", "eng.args")
    rows = [tuple(line.split("\t")) for line in lines if line]
    gained = [row for row in lexicon.patch_rows(rows, "eng") if row[2] == "V;PRS;3;IND;PL"]
    singular = [row for row in rows if row[2] == "V;PRS;3;IND;SG"]
    # The authors' own commands give these numbers for the same table.
    assert (len(singular), len(gained)) == (22785, 21708)
