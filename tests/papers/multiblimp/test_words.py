"""Words of treebanks and UniMorph tables: their tags, and one spelling of both."""

import lzma
import re

import pyarrow as pa
import pytest

from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.papers.multiblimp.items import words as items_words
from blimpworks.papers.multiblimp.items.words import normalise_tokens, parse_tags, treatments
from blimpworks.tables import LABEL
from support.paths import REPOSITORY


def words(*forms, lemmas=None, misc=None, deprel="root"):
    n = len(forms)
    columns = {
        "form": pa.array(forms, pa.string()),
        "lemma": pa.array(lemmas or forms, pa.string()),
        "deprel": pa.array([deprel] * n, pa.string()).cast(LABEL),
        "misc": pa.array(misc or [None] * n, pa.string()),
    }
    return pa.table(columns)


@pytest.mark.parametrize(
    ("notations", "readings"),
    [
        ("V;PRS;3;SG V;PRS;NOM(3,SG)", "V Number=SG|Person=3|Tense=PRS"),
        ("V;1/3;SG V;1,3;SG V;1+3;SG V;{1/3};SG", "V Number=SG|Person=1 V Number=SG|Person=3"),
        ("V.PTCP;PST V.PCTP;PST V;V.PTCP;PST", "V Tense=PST|VerbForm=V.PTCP"),
        ("V.CVB;PRS", " Tense=PRS|VerbForm=V.CVB"),
        ("V;V.MSDR V;v.msdr", "V VerbForm=V.MSDR"),
        ("V;NFIN", "V Finiteness=NFIN"),
        ("V;3.SG", "V Number=SG|Person=3"),
        ("V;WHATEVER;SG v;sg", "V Number=SG"),
        ("V;IMP;SBJV", "V Mood=IMP V Mood=SBJV"),
        ("V;1;PL;INCL", "V Number=PL|Person=1 V Number=PL|Person=INCL"),
        ("V;Sg+pl", "V Number=SG V Number=PL"),
        ("V;1.sg", "V Number=SG|Person=1"),
        ("N;Ter", "N Case=Ter"),
        ("V;CndPot;PastPerf;CAUPASS", "V Mood=CndPot|Tense=PastPerf|Voice=CAUPASS"),
        ("V;NAKH1/BANTU23;Ptan", "V Gender=NAKH1|Number=Ptan V Gender=BANTU23|Number=Ptan"),
        ("ADJ.CVB;NFH2", "ADJ.CVB Evidentiality=NFH2"),
        ("N;PSS1S;LGSPEC1", "N Language_Specific=LGSPEC1|Possession=PSS1S"),
    ],
)
def test_tags_are_parsed_in_all_their_notations(notations, readings):
    for tags in notations.split():
        parsed = [f"{pos} {'|'.join(f'{n}={v}' for n, v in fs)}" for pos, fs in parse_tags(tags)]
        assert " ".join(parsed) == readings
    assert parse_tags("V; SG ;;") == parse_tags("V;SG")


@pytest.mark.parametrize(
    ("treatment", "text", "expected"),
    [
        ("unidecode", "Ætātis", "AEtatis"),
        ("unidecode", "čebélnjak", "cebelnjak"),
        ("iast_devanagari", "panthānaḥ", "पन्थानः"),
        ("iast_devanagari", "_", "_"),
        ("strip_cantillation", "הָאָ֖רֶץ׃", "הָאָרֶץ׃"),
        ("strip_cantillation_and_punctuation", "הָאָ֖רֶץ׃", "הָאָרֶץ"),
        ("strip_cantillation_and_punctuation", "־", ""),
        ("strip_colons", "rru:gën", "rrugën"),
        ("strip_persian_marks", "کاملاً", "کاملا"),
        ("strip_persian_marks", "خانهٔ", "خانه"),
        ("strip_persian_marks", "ا\u0653ب", "آب"),
        ("uyghur_translit", "مۇئەللىم", "muellim"),
    ],
)
def test_forms_and_lemmas_are_respelt(treatment, text, expected):
    table = normalise_tokens(words(text), [treatment])
    assert table.select(["form", "lemma"]).to_pylist() == [{"form": expected, "lemma": expected}]


def test_uyghur_takes_the_treebanks_own_transliteration_where_there_is_one():
    table = words(
        "كېلىپ",
        "كېلىپ",
        "_",
        lemmas=["كەل", "كەل", "_"],
        misc=["SpaceAfter=No|Translit=kelip!|LTranslit=kel!", "LTranslit=|Translit=", None],
    )
    assert normalise_tokens(table, ["uyghur_translit"]).select(["form", "lemma"]).to_pylist() == [
        {"form": "kelip!", "lemma": "kel!"},
        {"form": "këlip", "lemma": "kel"},
        {"form": "_", "lemma": "_"},
    ]


def test_the_authors_lose_the_colons_of_relations_too():
    table = words("pa:sh", deprel="nsubj:outer")
    gheg = ["published:strip_colons_everywhere", "corrected:strip_colons"]
    published, corrected = (normalise_tokens(table, gheg, variant) for variant in (False, True))
    assert published["deprel"].to_pylist() == ["nsubjouter"]
    assert corrected["deprel"].to_pylist() == ["nsubj:outer"]
    assert published["form"].to_pylist() == corrected["form"].to_pylist() == ["pash"]


def test_types_order_nulls_and_other_columns_stay():
    table = pa.concat_tables([words("é", "a", "é", misc=["x", None, "y"]), words("", "ö")])
    table = table.append_column("upos", pa.array(["NOUN"] * 5).cast(LABEL))
    table = table.set_column(1, "lemma", pa.chunked_array([["é", None, None], ["b", "é"]]))
    done = normalise_tokens(table, ["unidecode"])
    assert done.schema == table.schema
    assert done["form"].to_pylist() == ["e", "a", "e", "", "o"]
    assert done["lemma"].to_pylist() == ["e", None, None, "b", "e"]
    assert done.drop(["form", "lemma"]) == table.drop(["form", "lemma"])


@pytest.mark.parametrize(
    ("special", "expected"),
    [
        ([], ("čas", "ὁ, ἡ ἔλᾰφος")),
        (["unidecode"], ("cas", "o, e elaphos")),
        (["first_comma"], ("čas", "ὁ")),
        (["strip_colons", "iast_devanagari", "uyghur_translit"], ("čas", "ὁ, ἡ ἔλᾰφος")),
    ],
)
def test_unimorph_rows_get_the_treatments_that_are_for_them(special, expected):
    assert items_words.normalise_unimorph("čas", "ὁ, ἡ ἔλᾰφος", special) == expected


def test_an_unknown_treatment_is_refused_by_name():
    with pytest.raises(UserError, match=r"'unidecoed', expected one of unidecode, .*'special'"):
        normalise_tokens(words("a"), ["unidecoed"])


def test_the_languages_ask_for_known_treatments_only():
    rows = read_cells(REPOSITORY / "config/languages.tsv")
    asked = {row["lang"]: tuple(row["special"].split(",")) for row in rows if row["special"]}
    assert asked.keys() == {"aln", "ell", "fas", "grc", "hbo", "lat", "san", "slv", "uig"}
    for special in asked.values():
        assert treatments(special, False) != () or treatments(special, True)


def test_our_uyghur_letters_are_those_of_the_treebanks_transliteration(mirror):
    paths = (mirror / "ud/r2.15/UD_Uyghur-UDT").glob("*.conllu.xz")
    text = "".join(lzma.decompress(path.read_bytes()).decode("utf-8") for path in paths)
    lines = [cells for line in text.split("\n") if len(cells := line.split("\t")) == 10]
    transliterations = [
        (cells[1], match[1])
        for cells in lines
        if cells[0].isdigit() and (match := re.search(r"(?:^|\|)Translit=([^|]+)", cells[9]))
    ]
    agreed = sum(
        form.translate(items_words.UYGHUR_LATIN) == latin for form, latin in transliterations
    )
    assert len(transliterations) == 39884
    assert agreed / len(transliterations) > 0.999
