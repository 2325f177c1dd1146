"""The lexicon of a language: from its treebanks and from UniMorph."""

import lzma
from collections import Counter

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.items import lexicon
from blimpworks.papers.multiblimp.items.words import parse_tags
from blimpworks.papers.multiblimp.settings import MultiblimpOptions


def ud_rows(table):
    rows = [row for row in table.to_pylist() if row["source"] == "ud"]
    return {(r["lemma"], r["form"], r["pos"], r["features"]): r["frequency"] for r in rows}


def entries(treebank, *words, ratios=None, first_entry="corrected"):
    """Treebank lexicon of words given as "form lemma upos feats" and how often each occurs."""
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
        "sing sing VERB Number=Plur|Typo=Yes",
        "sing sing VERB Number=Plur|Foreign=Yes",
        "sing sing VERB Number=Plur|Style=Arch",
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


@pytest.mark.parametrize(("often", "kept"), [(3, {"sing", "sung"}), (4, {"sing"})])
def test_a_form_more_than_three_times_rarer_than_another_is_dropped(treebank, often, kept):
    words = [("sing sing VERB Number=Plur", often), ("sung sing VERB Number=Plur", 1)]
    assert {form for _, form, _, _ in entries(treebank, *words)} == kept


@pytest.mark.parametrize(
    ("often", "rarely", "rare", "kept"),
    [
        (11, 1, "VERB Number=Sing", 1),
        (10, 1, "VERB Number=Sing", 2),
        (22, 2, "VERB Number=Sing", 2),
        (11, 1, "VERB Number=Sing|Person=3", 2),
        (11, 1, "NOUN Number=Plur", 2),
        (11, 1, "VERB Number=Plur|Person=3", 1),
    ],
)
def test_a_hapax_reading_close_to_a_frequent_one_is_dropped(treebank, often, rarely, rare, kept):
    words = [("sing sing VERB Number=Plur", often), (f"sing sing {rare}", rarely)]
    assert len(entries(treebank, *words)) == kept


def unimorph_entries(paths, lang, special=(), **decisions):
    options = MultiblimpOptions(decisions=decisions)
    return lexicon.unimorph_entries(paths, lang, special, options, Counter())


@pytest.mark.parametrize(
    ("tags", "readings"),
    [
        ("V;PRS;3;SG", [("V", "Number=SG|Person=3|Tense=PRS")]),
        ("V;1/3;SG", [("V", "Number=SG|Person=1"), ("V", "Number=SG|Person=3")]),
        ("V;1,3;SG", [("V", "Number=SG|Person=1"), ("V", "Number=SG|Person=3")]),
        ("V;1+3;SG", [("V", "Number=SG|Person=1"), ("V", "Number=SG|Person=3")]),
        ("V;{1/3};SG", [("V", "Number=SG|Person=1"), ("V", "Number=SG|Person=3")]),
        ("V.PTCP;PST", [("V", "Tense=PST|VerbForm=V.PTCP")]),
        ("V.PCTP;PST", [("V", "Tense=PST|VerbForm=V.PTCP")]),
        ("V;V.PTCP;PST", [("V", "Tense=PST|VerbForm=V.PTCP")]),
        ("V.CVB;PRS", [("", "Tense=PRS|VerbForm=V.CVB")]),
        ("V;V.MSDR", [("V", "VerbForm=V.MSDR")]),
        ("V;NFIN", [("V", "Finiteness=NFIN")]),
        ("V;3.SG", [("V", "Number=SG|Person=3")]),
        ("V;PRS;NOM(3,SG)", [("V", "Number=SG|Person=3|Tense=PRS")]),
        ("V;WHATEVER;SG", [("V", "Number=SG")]),
        ("V; SG ;;", [("V", "Number=SG")]),
        ("V;IMP;SBJV", [("V", "Mood=IMP"), ("V", "Mood=SBJV")]),
        ("V;1;PL;INCL", [("V", "Number=PL|Person=1"), ("V", "Number=PL|Person=INCL")]),
        ("v;sg", [("V", "Number=SG")]),
        ("V;Sg+pl", [("V", "Number=SG"), ("V", "Number=PL")]),
        ("V;1.sg", [("V", "Number=SG|Person=1")]),
        ("V;v.msdr", [("V", "VerbForm=V.MSDR")]),
        ("N;Ter", [("N", "Case=Ter")]),
        ("V;CndPot;PastPerf;CAUPASS", [("V", "Mood=CndPot|Tense=PastPerf|Voice=CAUPASS")]),
        (
            "V;NAKH1/BANTU23;Ptan",
            [("V", "Gender=NAKH1|Number=Ptan"), ("V", "Gender=BANTU23|Number=Ptan")],
        ),
        ("ADJ.CVB;NFH2", [("ADJ.CVB", "Evidentiality=NFH2")]),
        ("N;PSS1S;LGSPEC1", [("N", "Language_Specific=LGSPEC1|Possession=PSS1S")]),
    ],
)
def test_tags_are_parsed_in_all_their_notations(tags, readings):
    parsed = [(pos, "|".join(f"{n}={v}" for n, v in fs)) for pos, fs in parse_tags(tags)]
    assert parsed == readings


def table(path, text):
    path.write_text("".join("\t".join(r.split(maxsplit=2)) + "\n" for r in text), "utf-8")
    return path


@pytest.mark.parametrize(
    ("special", "variant", "forms"),
    [
        (["unidecode"], "published", ["cas"]),
        (["published:unidecode"], "published", ["cas"]),
        (["published:unidecode"], "corrected", ["čas"]),
        (["corrected:unidecode"], "published", ["čas"]),
        (["corrected:unidecode"], "corrected", ["cas"]),
        ([], "published", ["čas"]),
    ],
)
def test_a_tables_spelling_is_treated_like_the_treebanks(tmp_path, special, variant, forms):
    path = table(tmp_path / "slv", ["čas čas N;SG"])
    entries_read = unimorph_entries([path], "slv", special, scripts=variant)
    assert [(lemma, form) for lemma, form, _, _ in entries_read] == [(form, form) for form in forms]


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


def test_a_compressed_table_is_read_like_a_plain_one(tmp_path):
    line = "ísť\tidem\tV;IND;PRS;1;SG\n"
    plain, compressed = tmp_path / "slk", tmp_path / "slk.xz"
    plain.write_text(line, encoding="utf-8")
    compressed.write_bytes(lzma.compress(line.encode()))
    assert unimorph_entries([compressed], "slk") == unimorph_entries([plain], "slk") != []


def test_lines_that_are_left_out_or_odd_are_counted(tmp_path):
    table = tmp_path / "xyz"
    lines = ("a\ta\tN;SG", "", "a\t\tN;PL", "a\ta b\tN;PL", "b\tb\tN;SG\tmore", "c\tc\t", "d\td\tN")
    table.write_text("\n".join(lines))
    odd = Counter()
    entries = lexicon.unimorph_entries([table], "xyz", (), MultiblimpOptions(), odd)
    assert [form for _, form, _, _ in entries] == ["a", "b", "c", "d"]
    once = ("blank", "several_words", "with_more_columns", "without_tags", "without_line_end")
    assert +odd == Counter(once)
