"""MultiBLiMP's rules for subject-verb number agreement, one test each.

Treebanks are written as lines of "id form lemma upos feats head deprel misc", lexicons as
lines of "lemma form tags".
"""

import random
from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.config import (
    AgreementOptions,
    LexiconOptions,
    MultiblimpOptions,
    SamplingOptions,
    TreebankOptions,
)
from blimpworks.errors import UserError
from blimpworks.multiblimp.agreement import count_agreement, label_of, measure_agreement
from blimpworks.multiblimp.candidates import find_candidates
from blimpworks.multiblimp.features import alternatives, parse_tags, to_unimorph
from blimpworks.multiblimp.inflection import contrasting, load_lexicon, matching, query_of
from blimpworks.multiblimp.lexicon import build_lexicon, unimorph_entries
from blimpworks.multiblimp.pairs import PairInputs, build_pairs, capitalised_like
from blimpworks.multiblimp.sampling import conditions, draw, members, sample, weights
from blimpworks.tables import AGREEMENT, CANDIDATES, ITEMS, LEXICON, read_table
from blimpworks.treebanks.build import build_tokens

FIN = "Mood=Ind|VerbForm=Fin"
UNIMORPH = """
sing sings V;IND;PRS;3;SG
sing sing V;IND;PRS;3;PL
be is V;IND;PRS;3;SG
be are V;IND;PRS;3;PL
dog dog N;SG
dog dogs N;PL
"""
DOGS_SING = f"""
1 Dogs dog NOUN Number=Plur 2 nsubj
2 sing sing VERB {FIN}|Number=Plur 0 root
"""


def conllu(*sentences):
    """CoNLL-U of sentences in the short notation."""
    blocks = []
    for number, sentence in enumerate(sentences, start=1):
        lines = [f"# sent_id = s{number}"]
        for line in sentence.strip().splitlines():
            ident, form, lemma, upos, feats, head, deprel, *misc = line.split()
            cells = (ident, form, lemma, upos, "_", feats, head, deprel, "_", *(misc or "_"))
            lines.append("\t".join(cells))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


@dataclass
class Run:
    """All tables of one language, built in a directory."""

    path: object
    lang: str
    options: MultiblimpOptions
    malformed: str = "error"

    def tokens(self, *sentences):
        source = self.path / "x-test.conllu"
        source.write_text(conllu(*sentences), encoding="utf-8")
        build_tokens(
            [("UD_X-Test", source)],
            self.path / "tokens",
            self.path / "sentences",
            self.path / "malformed",
            TreebankOptions(),
        )
        return self

    def lexicon(self, unimorph="", ratios=None, name="xyz"):
        table = self.path / name
        rows = (line.split(maxsplit=2) for line in unimorph.strip().splitlines())
        table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        build_lexicon(
            self.path / "tokens",
            [table],
            self.lang,
            self.path / "lexicon",
            ratios or LexiconOptions(),
        )
        return read_table(LEXICON, self.path / "lexicon")

    def candidates(self):
        find_candidates(
            self.path / "tokens",
            self.lang,
            self.path / "candidates",
            self.path / "funnel",
            self.options,
            TreebankOptions(),
        )
        return read_table(CANDIDATES, self.path / "candidates").to_pylist()

    def agreement(self):
        measure_agreement(
            self.path / "candidates", self.path / "lexicon", self.path / "agreement", self.options
        )
        return read_table(AGREEMENT, self.path / "agreement").to_pylist()

    def pairs(self):
        """Pairs and the counts of what was rejected."""
        names = ("candidates", "lexicon", "agreement", "tokens", "sentences")
        inputs = PairInputs(*(self.path / name for name in names))
        counts = build_pairs(
            inputs, self.lang, self.path / "pairs", self.path / "funnel2", self.options
        )
        pairs = read_table(ITEMS, self.path / "pairs").to_pylist()
        rejected = {k[2:]: n for k, n in counts.items() if k.startswith("- ")}
        return pairs, rejected


@pytest.fixture
def run(tmp_path):
    def start(*sentences, lang="xyz", **decisions):
        options = MultiblimpOptions(decisions=decisions)
        return Run(tmp_path, lang, options).tokens(*sentences)

    return start


@pytest.fixture
def pairs_of(run):
    """Pairs and rejections of a treebank and a UniMorph table."""

    def build(*sentences, unimorph=UNIMORPH, lang="xyz", **decisions):
        language = run(*sentences, lang=lang, **decisions)
        language.lexicon(unimorph)
        language.candidates()
        language.agreement()
        return language.pairs()

    return build


def found(candidates):
    return [(row["subject_form"], row["form"]) for row in candidates]


# Sentences (notes 2.1)


def test_a_plain_sentence_yields_its_subject_and_verb(run):
    assert found(run(DOGS_SING).candidates()) == [("Dogs", "sing")]


@pytest.mark.parametrize(
    "unwanted",
    [
        "3 uh uh INTJ _ 2 reparandum",
        "3 teh the DET Typo=Yes 2 det",
        "3 thou thou PRON Style=Arch 2 obj",
        "3 chien chien X Foreign=Yes 2 obj",
        "3 teh the DET _ 2 det CorrectForm=the",
        "3 x x X _ 2 dep SpaceAfter=No|CorrectSpaceAfter=Yes",
        "3 chien chien X _ 2 obj Lang=fr",
        "3 chien chien X _ 2 obj OrigLang=fr",
    ],
)
def test_an_unwanted_word_spoils_its_whole_sentence_and_no_other(run, unwanted):
    assert found(run(DOGS_SING + unwanted, DOGS_SING).candidates()) == [("Dogs", "sing")]


@pytest.mark.parametrize("fields", ["Typo=Yes _ _ _", "_ _ _ CorrectForm=does_not"])
def test_a_typo_noted_on_a_multiword_range_spoils_the_sentence(run, fields):
    words = "\n3 does do AUX _ 2 aux\n4 nt not PART _ 2 advmod"
    tree = DOGS_SING + f"3-4 doesnt _ _ {fields}" + words
    assert run(tree).candidates() == []


@pytest.mark.parametrize(
    "harmless",
    [
        "3 x x X Abbr=Yes 2 dep Gloss=Correct",
        "3 x x X _ 2 reparandum:x LangId=fr",
        "3 x x X _ 2 _",
    ],
)
def test_look_alikes_of_unwanted_marks_do_not_spoil_a_sentence(run, harmless):
    assert found(run(DOGS_SING + harmless).candidates()) == [("Dogs", "sing")]


@pytest.mark.parametrize(("words", "kept"), [(64, 1), (65, 0)])
def test_a_sentence_may_have_sixty_four_words(run, words, kept):
    rest = "".join(f"{i} x x X _ 2 dep\n" for i in range(3, words + 1))
    assert len(run(DOGS_SING + rest).candidates()) == kept


def test_ranges_and_empty_nodes_count_neither_as_words_nor_as_heads(run):
    tree = f"""
    1-2 Dogsing _ _ _ _ _
    1 Dogs dog NOUN Number=Plur 2 nsubj
    1.1 gap gap VERB _ _ _
    2 sing sing VERB {FIN} 0 root
    """
    (row,) = run(tree).candidates()
    assert (row["subject"], row["verb"], row["distance"]) == (1, 2, 1)


# Subjects (notes 2.2)


@pytest.mark.parametrize("deprel", ["nsubj:pass", "csubj", "obj", "nsubj:outer"])
def test_only_the_plain_nsubj_relation_makes_a_subject(run, deprel):
    assert run(DOGS_SING.replace("2 nsubj", f"2 {deprel}")).candidates() == []


@pytest.mark.parametrize(("deprel", "kept"), [("conj", 0), ("conj:and", 1), ("amod", 1)])
def test_a_subject_with_a_conjunct_is_dropped(run, deprel, kept):
    tree = DOGS_SING + f"3 cats cat NOUN Number=Plur 1 {deprel}"
    assert len(run(tree).candidates()) == kept


@pytest.mark.parametrize("deprel", ["expl", "expl:pv", "csubj:outer", "nsubj:outer"])
def test_a_verb_with_an_expletive_or_outer_subject_is_dropped(run, deprel):
    assert run(DOGS_SING + f"3 it it PRON _ 2 {deprel}").candidates() == []


@pytest.mark.parametrize(
    ("upos", "kept"), [("NOUN", 1), ("PRON", 1), ("PROPN", 0), ("NUM", 0), ("ADJ", 0)]
)
def test_subjects_are_nouns_and_pronouns(run, upos, kept):
    assert len(run(DOGS_SING.replace("NOUN", upos)).candidates()) == kept


@pytest.mark.parametrize(("upos", "kept"), [("VERB", 1), ("AUX", 1), ("NOUN", 0), ("ADJ", 0)])
def test_heads_are_verbs_and_auxiliaries(run, upos, kept):
    assert len(run(DOGS_SING.replace("VERB", upos)).candidates()) == kept


WILL_HAVE = """
1 Dogs dog NOUN Number=Plur 4 nsubj
2 will will AUX Tense=Fut 4 aux
3 be be AUX _ 4 aux:pass
4 seen see VERB VerbForm=Part 0 root
"""


def test_the_leftmost_auxiliary_is_the_inflected_word(run):
    (row,) = run(WILL_HAVE).candidates()
    assert (row["form"], row["lemma"], row["feats"], row["kind"]) == (
        "will",
        "will",
        "Tense=Fut",
        "aux",
    )


@pytest.mark.parametrize("deprel", ["cop", "aux", "aux:neg"])
def test_copulas_and_every_kind_of_auxiliary_count(run, deprel):
    (row,) = run(WILL_HAVE.replace("4 aux\n", f"4 {deprel}\n")).candidates()
    assert row["form"] == "will"


def test_an_auxiliary_without_features_takes_those_of_the_main_verb(run):
    (row,) = run(WILL_HAVE.replace("Tense=Fut", "_")).candidates()
    assert (row["form"], row["lemma"], row["feats"]) == ("will", "will", "VerbForm=Part")


IS_FIRST = f"""
1 are be AUX {FIN}|Number=Plur 3 aux
2 dogs dog NOUN Number=Plur 3 nsubj
3 singing sing VERB VerbForm=Part 0 root
"""


def test_published_an_auxiliary_in_first_place_gives_its_place_to_the_main_verb(run):
    (row,) = run(IS_FIRST).candidates()
    assert (row["inflected"], row["replaced"], row["order"], row["distance"]) == (1, 3, "SV", 1)


def test_corrected_an_auxiliary_in_first_place_keeps_it(run):
    (row,) = run(IS_FIRST, first_word_auxiliary="corrected").candidates()
    assert (row["inflected"], row["replaced"], row["order"], row["distance"]) == (1, 1, "VS", -1)


LONG = f"""
1 Dogs dog NOUN Number=Plur 5 nsubj
2 near near ADP _ 3 case
3 cats cat NOUN Number=Plur 1 nmod
4 one one NUM Number=Sing 3 nummod
5 sing sing VERB {FIN} 0 root
"""


@pytest.mark.parametrize(
    ("variant", "attractors"), [("published", ["Plur"]), ("corrected", ["Plur", "Sing"])]
)
def test_the_word_before_the_later_of_the_two_is_an_attractor_only_when_corrected(
    run, variant, attractors
):
    (row,) = run(LONG, attractor_window=variant).candidates()
    assert row["attractors"] == attractors


@pytest.mark.parametrize(("variant", "kept"), [("published", 1), ("corrected", 0)])
def test_verbs_must_be_finite_only_when_corrected(run, variant, kept):
    tree = DOGS_SING.replace("VerbForm=Fin", "VerbForm=Inf")
    assert len(run(tree, finiteness=variant).candidates()) == kept


@pytest.mark.parametrize(
    ("feats", "kept"), [("Tense=Pres|Person=3", 1), ("Tense=Past|Person=3", 0), ("Tense=Pres", 0)]
)
def test_english_verbs_are_third_person_present(run, feats, kept):
    tree = DOGS_SING.replace(FIN, f"{FIN}|{feats}")
    assert len(run(tree, lang="eng").candidates()) == kept
    assert len(run(tree).candidates()) == 1


# Copied features (notes 2.2, item 7)


def test_a_disagreement_in_the_treebank_makes_no_pair(pairs_of):
    pairs, rejected = pairs_of(DOGS_SING.replace(f"{FIN}|Number=Plur", f"{FIN}|Number=Sing"))
    assert (pairs, rejected) == ([], {"values differ in the treebank": 1})


def test_a_verb_without_number_takes_its_subjects(pairs_of):
    ((pair,), _) = pairs_of(DOGS_SING.replace(f"{FIN}|Number=Plur", FIN))
    assert (pair["good_form"], pair["bad_form"], pair["grammatical"]) == ("sing", "sings", "PL")


TWO_SUBJECTS = f"""
1 Dogs dog NOUN Number=Plur 3 nsubj
2 dog dog NOUN Number=Sing 3 nsubj
3 sing sing VERB {FIN} 0 root
"""


def test_published_what_one_subject_gave_meets_the_next(pairs_of):
    pairs, rejected = pairs_of(TWO_SUBJECTS)
    assert [p["subject"] for p in pairs] == ["Dogs"]
    assert rejected == {"values differ in the treebank": 1}


def test_corrected_each_subject_meets_the_verb_as_annotated(pairs_of):
    pairs, rejected = pairs_of(TWO_SUBJECTS, copied_features="corrected")
    assert [p["subject"] for p in pairs] == ["Dogs"]
    assert rejected == {"no lexicon entry": 1}


def test_what_comes_after_a_disagreement_is_copied_all_the_same(pairs_of):
    tree = f"""
    1 Dogs dog NOUN Number=Sing|Person=3 3 nsubj
    2 we we PRON Person=1 3 nsubj
    3 sing sing VERB {FIN}|Number=Plur 0 root
    """
    assert pairs_of(tree)[1] == {"values differ in the treebank": 2}


def test_nothing_stays_on_a_verb_without_any_features(pairs_of):
    tree = TWO_SUBJECTS.replace(FIN, "_")
    assert pairs_of(tree)[1] == {"no lexicon entry": 1}


# Sentences as text (notes 2.3)


def test_words_are_joined_by_spaces_unless_the_treebank_says_no(pairs_of):
    tree = DOGS_SING.replace("0 root", "0 root SpaceAfter=No") + "3 ! ! PUNCT _ 2 punct"
    ((pair,), _) = pairs_of(tree)
    assert (pair["good"], pair["bad"]) == ("Dogs sing!", "Dogs sings!")
    assert pair["good"][pair["good_start"] : pair["good_end"]] == "sing"


def test_a_capital_is_kept_and_the_rest_lower_cased():
    assert capitalised_like("mcDonalds", "Sings") == "Mcdonalds"
    assert capitalised_like("McDonalds", "sings") == "McDonalds"


CONTRACTED = f"""
1-2 Dogsnt _ _ _ _ _ SpaceAfter=No
1 Dogs dog NOUN Number=Plur 3 nsubj
2 not not PART _ 3 advmod
3 sing sing VERB {FIN}|Number=Plur 0 root
"""


def test_published_the_words_of_a_contraction_stand_apart(pairs_of):
    ((pair,), _) = pairs_of(CONTRACTED)
    assert pair["good"] == "Dogs not sing"


def test_corrected_contractions_are_whole(pairs_of):
    ((pair,), _) = pairs_of(CONTRACTED, contractions="corrected")
    assert (pair["good"], pair["bad"]) == ("Dogsntsing", "Dogsntsings")


def test_corrected_no_word_inside_a_contraction_is_replaced(pairs_of):
    tree = f"""
    1 Dogs dog NOUN Number=Plur 2 nsubj
    2-3 singnt _ _ _ _ _
    2 sing sing VERB {FIN}|Number=Plur 0 root
    3 not not PART _ 2 advmod
    """
    assert len(pairs_of(tree)[0]) == 1
    assert pairs_of(tree, contractions="corrected") == ([], {"inside a contraction": 1})


def test_published_the_first_word_auxiliarys_other_form_replaces_the_main_verb(pairs_of):
    ((pair,), _) = pairs_of(IS_FIRST)
    assert (pair["good"], pair["bad"]) == ("are dogs singing", "are dogs is")


# The lexicon of a treebank (notes 2.4)


def ud_rows(table):
    rows = [row for row in table.to_pylist() if row["source"] == "ud"]
    return {(r["lemma"], r["form"], r["pos"], r["features"]): r["frequency"] for r in rows}


def entries(run, *words, ratios=None):
    """Treebank lexicon of words given as "form lemma upos feats" and how often each occurs."""
    trees = [f"1 {word} 0 root" for word, count in words for _ in range(count)]
    return ud_rows(run(*trees).lexicon(ratios=ratios))


def test_entries_are_lower_case_and_counted(run):
    assert entries(run, ("Sings Sing NOUN Number=Sing", 2), ("sings sing NOUN Number=Sing", 1)) == {
        ("sing", "sings", "N", "Number=SG"): 3
    }


@pytest.mark.parametrize("upos", ["VERB", "AUX"])
def test_auxiliaries_are_verbs(run, upos):
    assert {key[2] for key in entries(run, (f"is be {upos} Number=Sing", 1))} == {"V"}


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
def test_words_that_are_no_evidence_make_no_entry(run, word):
    assert entries(run, (word, 1)) == {}


def test_corrected_words_and_speech_repairs_make_no_entry_but_their_neighbours_do(run):
    tree = """
    1 dogs dog NOUN Number=Plur 0 root CorrectForm=dog
    2 cats cat NOUN Number=Plur 1 reparandum
    3 hens hen NOUN Number=Plur 1 dep Lang=en
    4 owls owl NOUN Number=Plur 1 dep
    """
    assert [form for _, form, _, _ in ud_rows(run(tree).lexicon())] == ["owls"]


@pytest.mark.parametrize(
    ("feats", "features"),
    [
        ("VerbForm=Fin", "Mood=IND|VerbForm=FIN|Voice=ACT"),
        ("Mood=Imp", "Mood=IMP|VerbForm=FIN|Voice=ACT"),
        ("VerbForm=Part|Voice=Pass", "VerbForm=V.PTCP|Voice=PASS"),
        ("Gender=Fem,Masc", "Gender=FEM+MASC"),
    ],
)
def test_finiteness_mood_and_voice_imply_each_other(run, feats, features):
    assert [key[3] for key in entries(run, (f"x y VERB {feats}", 1))] == [features]


@pytest.mark.parametrize(("often", "kept"), [(3, {"sing", "sung"}), (4, {"sing"})])
def test_a_form_more_than_three_times_rarer_than_another_is_dropped(run, often, kept):
    words = [("sing sing VERB Number=Plur", often), ("sung sing VERB Number=Plur", 1)]
    assert {form for _, form, _, _ in entries(run, *words)} == kept


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
def test_a_hapax_reading_close_to_a_far_more_frequent_one_is_dropped(
    run, often, rarely, rare, kept
):
    words = [("sing sing VERB Number=Plur", often), (f"sing sing {rare}", rarely)]
    assert len(entries(run, *words)) == kept


def test_the_ratios_of_both_filters_are_settings(run):
    words = [("sing sing VERB Number=Plur", 9), ("sung sing VERB Number=Plur", 1)]
    assert len(entries(run, *words, ratios=LexiconOptions(form_ratio=9))) == 2


# UniMorph (notes 2.5)


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
        ("N;PSS1S;LGSPEC1", [("N", "Language_Specific=LGSPEC1|Possession=PSS1S")]),
    ],
)
def test_tags_are_parsed_in_all_their_notations(tags, readings):
    parsed = [(pos, "|".join(f"{n}={v}" for n, v in fs)) for pos, fs in parse_tags(tags)]
    assert parsed == readings


def test_values_are_compared_in_unimorphs_spelling():
    ud = ["Sing", "Plur", "Dual", "Pres", "Past", "Sub", "Cnd", "Perf", "Part", "Masc", "Ind"]
    assert [to_unimorph(v) for v in ud] == (
        ["SG", "PL", "DU", "PRS", "PST", "SBJV", "COND", "PRF", "V.PTCP", "MASC", "IND"]
    )
    assert alternatives("Fem,Masc") == {"FEM", "MASC"}


def table(path, text):
    path.write_text("".join("\t".join(r.split(maxsplit=2)) + "\n" for r in text), "utf-8")
    return path


def test_forms_with_a_space_and_blank_lines_are_passed_over(tmp_path):
    path = tmp_path / "xyz"
    path.write_text("be\tam up\tV;SG\n\nbe\tam\tV;SG\r\n", "utf-8")
    assert [form for _, form, _, _ in unimorph_entries([path], "xyz")] == ["am"]


def test_a_line_with_two_columns_is_refused_with_its_place(tmp_path):
    path = tmp_path / "xyz"
    path.write_text("be\tam\tV;SG\nbe\tam\n", "utf-8")
    with pytest.raises(UserError, match=r"xyz:2: found 2 tab-separated columns"):
        unimorph_entries([path], "xyz")


def test_segmentations_separate_tags_by_bars_and_repeat_no_entry(tmp_path):
    plain = table(tmp_path / "xyz", ["be is V;SG"])
    segmented = table(tmp_path / "xyz.segmentations", ["be is V|SG", "be are V|PL"])
    found = unimorph_entries([plain, segmented], "xyz")
    assert [(form, features) for _, form, _, features in found] == [
        ("is", "Number=SG"),
        ("are", "Number=PL"),
    ]


def test_english_gets_its_present_plural(tmp_path):
    path = table(tmp_path / "eng", ["walk walks V;PRS;3;SG", "walk walk V;NFIN"])
    found = {
        (lemma, form, features) for lemma, form, _, features in unimorph_entries([path], "eng")
    }
    present = "Mood=IND|Number={}|Person={}|Tense=PRS"
    assert ("walk", "walks", present.format("SG", 3)) in found
    assert ("walk", "walk", present.format("PL", 3)) in found
    assert ("walk", "walk", "Finiteness=NFIN|Mood=IMP") in found
    assert ("be", "am", present.format("SG", 1)) in found
    assert len([f for _, f, _ in found if f == "are"]) == 4


@pytest.mark.parametrize(
    ("lang", "tags", "features"),
    [
        ("fao", "V.PTCP.PST", "Tense=PST|VerbForm=PTCP"),
        ("hsb", "V;PRS:3;SG", "Number=SG|Person=3|Tense=PRS"),
    ],
)
def test_odd_separators_are_levelled(tmp_path, lang, tags, features):
    path = table(tmp_path / lang, [f"x y {tags}"])
    assert unimorph_entries([path], lang) == [("x", "y", "V", features)]


def verbs(*rows, columns=("Number[subj]", "Number"), source="unimorph", lemmas=None):
    """Verb lexicon of rows "lemma form features"."""
    split = [(*row.split(), "")[:3] for row in rows]
    names = ("lemma", "form", "features")
    found = pa.table(
        {n: pa.array(v, pa.string()) for n, v in zip(names, zip(*split, strict=True), strict=True)}
        | {"pos": ["V"] * len(split), "source": [source] * len(split)}
    )
    return load_lexicon(found, source, ("V",), columns, lemmas)


def test_the_column_that_inflects_is_the_one_whose_rarest_value_is_most_frequent():
    plain = ["x a Number=SG", "x b Number=SG", "x c Number=PL", "x d Number=PL"]
    marked = ["y a Number[subj]=SG", "y b Number[subj]=PL"]
    assert verbs(*plain, *marked).column == "Number"
    assert verbs(*plain[:3], *marked, "z a Number[subj]=SG").column == "Number[subj]"
    assert verbs(*plain[:2], *marked).column == "Number[subj]"


def test_a_column_with_one_value_inflects_nothing():
    assert verbs("x a Number=SG", "x b Number=SG").column is None


def test_values_are_assumed_only_for_features_that_some_row_states():
    lexicon = verbs("x a Number=SG", "x b Mood=SBJV")
    features = {row.form: dict(row.features) for row in lexicon.by_lemma["x"]}
    assert features == {
        "a": {"Number": "SG", "Mood": "IND"},
        "b": {"Number": "UNDEFINED", "Mood": "SBJV"},
    }


def test_rows_with_alternatives_are_one_row_each():
    lexicon = verbs("x a Number=SG|Gender=FEM+MASC")
    assert [r.features["Gender"] for r in lexicon.by_form["a"]] == ["FEM", "MASC"]


# Matching (notes 2.6)


def matched(lexicon, feats, form="a", lemma="x"):
    query = query_of(dict(pair.split("=") for pair in feats.split("|") if pair))
    return [dict(row.features) for row in matching(lexicon, lemma, form, query, "Number")]


@pytest.mark.parametrize(
    ("row", "query", "fits"),
    [
        ("Number=SG|Tense=PRS", "Number=Sing|Tense=Pres", True),
        ("Number=SG|Tense=PRS", "Number=Sing|Tense=Past", False),
        ("Number=SG|Tense=PRS", "Number=Plur|Tense=Pres", False),
        ("Number=SG", "Number=Sing|Tense=Pres", True),
        ("Number=SG", "Number=Sing|Person=3", True),
        ("Tense=PRS", "Number=Sing", False),
        ("Tense=PRS", "", True),
        ("Number=SG|Mood=SBJV", "Number=Sing", False),
        ("Number=SG|Voice=PASS", "Number=Sing", False),
        ("Number=SG|Person=3", "Number=Sing|Person=1,3", True),
        ("Number=SG|Person=2", "Number=Sing|Person=1,3", False),
        ("Number=SG", "Number=Sing|Person=1,3", False),
        ("Number=SG", "Number=Sing|Nonsense=1,3", True),
        ("Number=SG", "Number=Sing|Nonsense=1", True),
    ],
)
def test_stage_one_rows_must_equal_the_query_where_they_say_something(row, query, fits):
    others = ("z z Tense=PRS|Mood=IND|Voice=ACT", "z z Number=PL|Person=1")
    assert bool(matched(verbs(f"x a {row}", *others), query)) is fits


def test_stage_one_keeps_the_rows_that_say_least_beyond_the_query():
    lexicon = verbs("x a Number=SG", "x a Number=SG|Polarity=NEG", "z z Number=PL")
    assert matched(lexicon, "Number=Sing") == [{"Number": "SG"}]
    assert len(matched(lexicon, "Number=Sing|Polarity=Neg")) == 2


def test_stage_one_looks_at_the_exact_form_and_lemma():
    lexicon = verbs("x A Number=SG", "X a Number=SG", "z z Number=PL")
    assert matched(lexicon, "Number=Sing") == []


def test_a_mood_that_the_table_never_states_is_no_obstacle():
    lexicon = verbs("x a Number=SG", "x b Number=PL")
    assert matched(lexicon, "Number=Sing|Mood=Sub|Voice=Pass")


def others(lexicon, feats, form="a"):
    query = query_of(dict(pair.split("=") for pair in feats.split("|")))
    rows = matching(lexicon, "x", form, query, lexicon.column)
    return set().union(*(contrasting(lexicon, row, query, lexicon.column) for row in rows))


def test_stage_two_finds_every_other_value_of_the_same_lemma():
    rows = ("x a Number=SG", "x b Number=PL", "x c Number=DU", "y d Number=PL")
    assert others(verbs(*rows), "Number=Sing") == {"b", "c"}


def test_stage_two_keeps_what_the_row_says_besides():
    rows = ("x a Number=SG|Person=3", "x b Number=PL|Person=3", "x c Number=PL|Person=1")
    assert others(verbs(*rows), "Number=Sing") == {"b"}


def test_stage_two_keeps_what_the_treebank_says_where_the_row_is_silent():
    rows = ("x a Number=SG", "x b Number=PL|Tense=PST", "x c Number=PL|Tense=PRS")
    assert others(verbs(*rows), "Number=Sing|Tense=Pres") == {"c"}


def test_stage_two_keeps_the_forms_that_say_least_besides():
    rows = ("x a Number=SG", "x b Number=PL", "x c Number=PL|Polarity=NEG")
    assert others(verbs(*rows), "Number=Sing") == {"b"}


def test_a_row_that_leaves_number_open_has_no_other_form():
    assert others(verbs("x a Tense=PST", "x b Number=PL", "x c Number=SG"), "Tense=Past") == set()


def test_a_row_without_the_subjects_number_counts_as_another_value():
    rows = ("x a Number[subj]=SG|Evident=NFH", "x b Number[subj]=PL|Evident=NFH", "x c Evident=NFH")
    assert others(verbs(*rows), "Number[subj]=Sing") == {"b", "c"}


# Resources and rejections (notes 2.6)

SEEN = f"""
1 dogs dog NOUN Number=Plur 2 nsubj
2 singeth sing VERB {FIN}|Number=Sing 0 root
"""


def test_the_treebank_is_not_asked_when_unimorph_has_exactly_one_form(pairs_of):
    pairs, _ = pairs_of(DOGS_SING, SEEN)
    assert [p["bad_form"] for p in pairs] == ["sings"]


def test_the_treebanks_forms_join_two_of_unimorph(pairs_of):
    unimorph = UNIMORPH + "sing singest V;IND;PRS;3;SG\n"
    pairs, _ = pairs_of(DOGS_SING, SEEN, unimorph=unimorph)
    assert [p["bad_form"] for p in pairs] == ["singest", "singeth", "sings"]


def test_the_treebank_is_asked_when_unimorph_has_nothing(pairs_of):
    pairs, _ = pairs_of(DOGS_SING, SEEN, unimorph="be is V;SG")
    assert [p["bad_form"] for p in pairs] == ["singeth"]


@pytest.mark.parametrize(
    ("unimorph", "reason"),
    [
        ("be is V;3;SG\nbe are V;3;PL", "no lexicon entry"),
        ("sing sing V;3;PL\nbe is V;3;SG", "no other form"),
        ("sing sing V;3;PL\nsing sing V;3;SG", "same form"),
        ("sing sing V;PL\nsing sang V;SG;PST\nsing sang V;PL;PST", "same value"),
        ("sing sing V;PL\nsing sang V;SG;PST\nsing sang V;PST", "undefined value"),
        ("sing sing V;PL\nsing sings V;SG\nDogs Dogs N;SG\ndog dogs N;PL", "ambiguous subject"),
    ],
)
def test_each_reason_to_reject_a_swap(pairs_of, unimorph, reason):
    assert pairs_of(DOGS_SING, unimorph=unimorph) == ([], {reason: 1})


def test_the_subject_is_looked_up_as_a_nominative(pairs_of):
    unimorph = "sing sing V;PL\nsing sings V;SG\nDogs Dogs N;ACC;SG\ndog Dogs N;NOM;PL"
    assert len(pairs_of(DOGS_SING, unimorph=unimorph)[0]) == 1


def test_the_treebank_decides_on_a_subject_only_when_unimorph_does_not_know_it(pairs_of):
    verbs_only = "sing sing V;PL\nsing sings V;SG\n"
    tree = DOGS_SING.replace("Dogs", "dogs")
    singular = "1 dogs dog NOUN Number=Sing 0 root"
    assert pairs_of(tree, singular, unimorph=verbs_only)[1] == {"ambiguous subject": 1}
    assert len(pairs_of(tree, singular, unimorph=verbs_only + "dog dogs N;PL")[0]) == 1


# Agreement (notes 2.7)


def counts(run, *sentences, unimorph=UNIMORPH, **decisions):
    language = run(*sentences, **decisions)
    lexicon = language.lexicon(unimorph)
    language.candidates()
    rows = read_table(CANDIDATES, language.path / "candidates")
    return dict(count_agreement(rows, lexicon, "Number", language.options))


LOWER = DOGS_SING.replace("Dogs", "dogs")


def test_subject_and_verb_with_one_value_each_are_counted_by_order(run):
    turned = f"""
    1 sing sing VERB {FIN}|Number=Plur 0 root
    2 dogs dog NOUN Number=Plur 1 nsubj
    """
    assert counts(run, LOWER, LOWER, turned) == {
        ("both", "SV", "PL", "PL"): 2,
        ("both", "VS", "PL", "PL"): 1,
    }


def test_a_disagreement_is_counted_as_it_stands(run):
    assert counts(run, SEEN.replace("singeth", "sings")) == {("both", "SV", "PL", "SG"): 1}


def test_a_value_among_several_counts_as_agreement(run):
    unimorph = UNIMORPH + "sing sing V;IND;PRS;1;SG\n"
    assert counts(run, LOWER, unimorph=unimorph) == {("both", "SV", "PL", "PL"): 1}


def test_several_values_on_both_sides_are_no_evidence(run):
    unimorph = UNIMORPH + "sing sing V;IND;PRS;1;SG\ndog dogs N;SG\n"
    assert counts(run, LOWER, unimorph=unimorph) == {}


def test_verbs_are_looked_up_as_indicative_and_active(run):
    unimorph = UNIMORPH + "sing sing V;SBJV;SG\nsing sing V;PASS;SG\n"
    assert counts(run, LOWER, unimorph=unimorph) == {("both", "SV", "PL", "PL"): 1}


def test_a_number_that_does_not_inflect_in_a_lexicon_is_no_evidence(run):
    only_plural = "sing sing V;IND;PRS;3;PL\ndog dog N;SG\ndog dogs N;PL"
    assert counts(run, LOWER, unimorph=only_plural) == {}


def test_annotation_is_evidence_only_when_corrected(run):
    unknown = LOWER.replace("dogs dog", "owls owl").replace(f"{FIN}|", "")
    args = {"unimorph": "be is V;SG"}
    assert counts(run, unknown, **args) == {}
    assert counts(run, unknown, **args, agreement_evidence="corrected") == {
        ("both", "SV", "PL", "PL"): 1
    }


@pytest.mark.parametrize(("variant", "kind"), [("published", "both"), ("corrected", "verb")])
def test_verbs_and_auxiliaries_are_counted_apart_only_when_corrected(run, variant, kind):
    assert counts(run, LOWER, verb_types=variant) == {(kind, "SV", "PL", "PL"): 1}


def test_the_table_has_a_row_for_each_subject_value_and_order(run):
    language = run(LOWER, LOWER, SEEN.replace("singeth", "sings"))
    language.lexicon(UNIMORPH)
    language.candidates()
    (row,) = language.agreement()
    assert (row["order"], row["value"], row["agreeing"], row["n"]) == ("SV", "PL", 2, 3)
    assert row["p_less"] == pytest.approx(0.271)
    assert row["label"] == "?"


# Labels (notes 2.8)


@pytest.mark.parametrize(
    ("agreeing", "n", "greater", "less", "label"),
    [
        (29, 29, 0.9**29, 1.0, "+"),
        (28, 28, 0.9**28, 1.0, "~"),
        (6, 6, 0.531441, 1.0, "~"),
        (5, 5, 0.59049, 1.0, "?"),
        (9, 10, 0.7360989291, 0.6513215599, "?"),
        (1, 3, 0.999, 0.028, "-"),
        (1, 2, 0.99, 0.19, "?"),
        (0, 50, 1.0, 0.1**50, "?"),
    ],
)
def test_labels_follow_two_exact_tests(agreeing, n, greater, less, label):
    found = label_of(agreeing, n, AgreementOptions())
    assert found[:2] == (pytest.approx(greater), pytest.approx(less))
    assert found[2] == label


def test_alpha_is_halved():
    assert label_of(29, 29, AgreementOptions(alpha=0.09))[2] == "~"


# Conditions and sampling (notes 2.8)


def item(number, before="SG", after="PL", order="SV", kind="verb", **changes):
    values = changes.pop("attractor_values", [])
    labels = "|".join("+" for _ in before.split("|"))
    return {
        "item_id": f"{number:016x}",
        "phenomenon": "sv#",
        "grammatical": before,
        "ungrammatical": after,
        "order": order,
        "inflected": kind,
        "label": labels,
        "subject": "dog",
        "good_form": "sings",
        "good": f"sentence {number}",
        "distance": 1,
        "attractors": len(values),
        "congruent_attractors": 0,
        "attractor_values": values,
        **changes,
    }


def test_a_condition_needs_a_pair_with_single_values_in_either_order():
    items = [item(1), item(2, "SG|DU", order="VS"), item(3, "PL", "DU|SG", kind="aux")]
    assert conditions(items) == [
        ("sv#", "SG", "PL", "SV", "verb"),
        ("sv#", "SG", "PL", "VS", "verb"),
    ]


def test_a_pair_with_several_values_is_in_each_of_their_conditions():
    items = [item(1, "SG", "PL"), item(2, "SG", "DU"), item(3, "SG", "DU|PL")]
    sizes = {c[2]: len(members(items, c)) for c in conditions(items) if c[3] == "SV"}
    assert sizes == {"PL": 2, "DU": 2}
    chosen, _ = sample(items * 2, SamplingOptions())
    assert {c["paradigm"] for c in chosen if c["item_id"].endswith("3")} == {
        "SG>PL/SV/verb",
        "SG>DU/SV/verb",
    }


def test_values_are_looked_for_as_parts_of_the_text():
    assert members([item(1, "GRPL", "SG")], ("sv#", "PL", "SG", "SV", "verb"))


def test_a_drawn_pair_is_labelled_and_its_attractors_judged_by_the_conditions_value():
    several = item(9, "DU|SG", label="?|+", attractor_values=["DU", "SG", "SG"])
    chosen, _ = sample([*(item(n) for n in range(5)), several], SamplingOptions())
    (drawn,) = (c for c in chosen if c["item_id"].endswith("9"))
    assert (drawn["grammatical"], drawn["label"], drawn["congruent_attractors"]) == ("SG", "+", 2)


def test_a_condition_without_agreement_is_dropped():
    chosen, found = sample([item(n, label="-") for n in range(5)], SamplingOptions())
    assert (chosen, found["- no agreement"]) == ([], 5)


def test_fewer_than_five_pairs_of_a_phenomenon_yield_none():
    chosen, found = sample([item(n) for n in range(4)], SamplingOptions())
    assert (chosen, found["- too few pairs of the phenomenon"]) == ([], 4)


def test_weights_are_inverse_products_of_relative_frequencies():
    items = [item(1), item(2), item(3, subject="cat")]
    assert weights(items) == pytest.approx([3 / 2 * 3, 3 / 2 * 3, 3 * 3])


def test_weights_know_attractors_that_all_agree_or_all_disagree():
    items = [
        item(1),
        item(2, attractors=2, congruent_attractors=2),
        item(3, attractors=2, congruent_attractors=1),
        item(4, attractors=1, congruent_attractors=0),
    ]
    rare, common = 4 / 1, 4 / 3
    sentence, has_none, has_some = 4 / 1, 4 / 1, 4 / 3
    assert weights(items) == pytest.approx(
        [
            sentence * has_none * common * common,
            sentence * has_some * rare * common,
            sentence * has_some * common * common,
            sentence * has_some * common * rare,
        ]
    )


SUBJECTS = st.lists(st.sampled_from(["dog", "cat", "owl"]), min_size=5, max_size=40)


@given(SUBJECTS, st.integers(1, 20), st.integers(), st.randoms(use_true_random=False))
def test_a_draw_is_seeded_limited_and_blind_to_the_order_of_its_input(
    subjects, limit, seed, chance
):
    options = SamplingOptions(per_condition=limit, seed=seed)
    items = [item(n, subject=s, distance=n % 3) for n, s in enumerate(subjects)]
    condition = conditions(items)[0]
    drawn = draw(items, condition, options)
    assert len(drawn) == min(limit, len(items))
    shuffled = items[:]
    chance.shuffle(shuffled)
    assert draw(shuffled, condition, options) == drawn
    assert len({d["item_id"] for d in drawn}) == len(drawn)


def test_another_seed_draws_other_pairs():
    items = [item(n) for n in range(200)]
    first, second = (
        {c["item_id"] for c in sample(items, SamplingOptions(seed=seed))[0]} for seed in (0, 1)
    )
    assert len(first) == len(second) == 100
    assert first != second


@given(SUBJECTS)
def test_conditions_draw_independently(subjects):
    options = SamplingOptions(per_condition=5)
    singular = [item(n) for n in range(20)]
    plural = [item(100 + n, "PL", "SG", subject=s) for n, s in enumerate(subjects)]

    def of_singular(chosen):
        return [c for c in chosen if c["grammatical"] == "SG"]

    alone, _ = sample(singular, options)
    together, _ = sample(singular + plural, options)
    assert of_singular(together) == of_singular(alone)


def test_rare_traits_are_drawn_more_often():
    rare = 0
    for seed in range(200):
        items = [item(n, subject="dog" if n < 19 else "cat", good="same") for n in range(20)]
        options = SamplingOptions(per_condition=1, seed=seed)
        rare += draw(items, conditions(items)[0], options)[0]["subject"] == "cat"
    assert 70 < rare < 130  # one in twenty without weights, one in two with them


# Whole treebanks

NOUNS = {"dog": "dogs", "cat": "cats"}
VERBS = {"sing": "sings", "run": "runs"}
FORMS = "".join(f"{s} {s} N;SG\n{s} {p} N;PL\n" for s, p in NOUNS.items()) + "".join(
    f"{p} {s} V;IND;PRS;3;SG\n{p} {p} V;IND;PRS;3;PL\n" for p, s in VERBS.items()
)


def random_sentence(chance):
    """Subject, verb and up to three words around them, in any order and spelling."""
    plural = chance.random() < 0.5
    noun = chance.choice([*(NOUNS.values() if plural else NOUNS)])
    lemma = chance.choice([*VERBS])
    verb = lemma if plural else VERBS[lemma]
    number = f"Number={'Plur' if plural else 'Sing'}"
    words = [("noun", noun, "NOUN", number), ("verb", verb, "VERB", f"{FIN}|{number}")]
    extras = [("x", text, "X", "_") for text in ("ok", "ŋ̊á", "𝛼β", ",")]
    words += chance.sample(extras, chance.randint(0, 3))
    chance.shuffle(words)
    root = 1 + [kind for kind, *_ in words].index("verb")
    lines = []
    for place, (kind, form, upos, feats) in enumerate(words, start=1):
        text, base = form, lemma if kind == "verb" else form
        head, deprel = (
            (0, "root") if kind == "verb" else (root, {"noun": "nsubj", "x": "dep"}[kind])
        )
        misc = chance.choice(["_", "SpaceAfter=No"])
        if kind == "verb" and chance.random() < 0.3:
            text = text.capitalize()
        lines.append(f"{place} {text} {base} {upos} {feats} {head} {deprel} {misc}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(3))
def test_every_pair_differs_in_its_critical_region_alone(pairs_of, seed):
    chance = random.Random(seed)
    pairs, _ = pairs_of(*(random_sentence(chance) for _ in range(40)), unimorph=FORMS)
    assert len(pairs) > 10
    for p in pairs:
        assert p["good"][p["good_start"] : p["good_end"]] == p["good_form"]
        swapped = p["good"][: p["good_start"]] + p["bad_form"] + p["good"][p["good_end"] :]
        assert p["bad"] == swapped
        assert p["bad"][p["bad_start"] : p["bad_end"]] == p["bad_form"]
        assert p["good"] != p["bad"]
        assert p["good"] == p["good"].strip()


def test_building_twice_gives_the_same_bytes(pairs_of, tmp_path):
    trees = (DOGS_SING, SEEN, LONG)
    pairs_of(*trees)
    before = (tmp_path / "pairs").read_bytes()
    pairs_of(*trees)
    assert (tmp_path / "pairs").read_bytes() == before


@pytest.mark.mirror
def test_erzya_has_as_many_pairs_as_the_authors_made(mirror, tmp_path):
    """Erzya inflects Number[subj] alone, so all of its 464 published pairs are of this kind."""
    import lzma

    from blimpworks.multiblimp.sampling import sample_items

    language = Run(tmp_path, "myv", MultiblimpOptions())
    files = []
    for copy in sorted((mirror / "ud" / "r2.15" / "UD_Erzya-JR").glob("*.conllu.xz")):
        files.append(("UD_Erzya-JR", tmp_path / copy.stem))
        files[-1][1].write_bytes(lzma.decompress(copy.read_bytes()))
    names = ("tokens", "sentences", "malformed")
    build_tokens(files, *(tmp_path / name for name in names), TreebankOptions())
    language.lexicon()
    language.candidates()
    language.agreement()
    pairs, _ = language.pairs()
    counts = sample_items(
        tmp_path / "pairs", "myv", tmp_path / "items", tmp_path / "funnel3", language.options
    )
    assert (len(pairs), counts["items"]) == (578, 464)
