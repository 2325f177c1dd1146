"""Candidates: which words of a treebank could agree."""

import pytest

from blimpworks.tables import FUNNEL, read_table
from support.treebank_kit import DOGS_SING, FIN, IS_FIRST, LONG


def words_of(candidates):
    return [(row["subject_form"], row["form"]) for row in candidates]


def of(construction, language):
    """Candidates of "sv" (subject and verb) or "sp" (subject and participle)."""
    return [row for row in language.candidates() if row["construction"] == construction]


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        # An unwanted word spoils its sentence.
        ("", "3 uh uh INTJ _ 2 reparandum", 0),
        ("", "3 teh the DET Typo=Yes 2 det", 0),
        ("", "3 thou thou PRON Style=Arch 2 obj", 0),
        ("", "3 chien chien X Foreign=Yes 2 obj", 0),
        ("", "3 teh the DET _ 2 det CorrectForm=the", 0),
        ("", "3 x x X _ 2 dep SpaceAfter=No|CorrectSpaceAfter=Yes", 0),
        ("", "3 chien chien X _ 2 obj Lang=fr", 0),
        ("", "3 chien chien X _ 2 obj OrigLang=fr", 0),
        ("", "3-4 doesnt _ _ Typo=Yes _ _ _\n3 does do AUX _ 2 aux\n4 nt not PART _ 2 advmod", 0),
        # Look-alikes of unwanted marks don't.
        ("", "3 x x X Abbr=Yes 2 dep Gloss=Correct", 1),
        ("", "3 x x X _ 2 reparandum:x LangId=fr", 1),
        ("", "3 x x X _ 2 _", 1),
        # Sentences have at most 64 words.
        ("", "".join(f"{i} x x X _ 2 dep\n" for i in range(3, 65)), 1),
        ("", "".join(f"{i} x x X _ 2 dep\n" for i in range(3, 66)), 0),
        # Subjects are plain, without conjuncts, expletives or outer subjects.
        ("2 nsubj", "2 nsubj:pass", 0),
        ("2 nsubj", "2 csubj", 0),
        ("2 nsubj", "2 nsubj:outer", 0),
        ("", "3 cats cat NOUN Number=Plur 1 conj", 0),
        ("", "3 cats cat NOUN Number=Plur 1 conj:and", 1),
        ("", "3 cats cat NOUN Number=Plur 1 amod", 1),
        ("", "3 it it PRON _ 2 expl:pv", 0),
        ("", "3 it it PRON _ 2 csubj:outer", 0),
        ("", "3 it it PRON _ 2 nsubj:outer", 0),
        # Nouns and pronouns are subjects, verbs and auxiliaries their heads.
        ("NOUN", "PRON", 1),
        ("NOUN", "PROPN", 0),
        ("NOUN", "NUM", 0),
        ("VERB", "AUX", 1),
        ("VERB", "ADJ", 0),
    ],
)
def test_only_plain_subjects_of_clean_sentences_are_candidates(treebank, old, new, kept):
    tree = DOGS_SING.replace(old, new) if old else DOGS_SING + new
    assert words_of(treebank(tree, DOGS_SING).candidates()) == [("Dogs", "sing")] * (kept + 1)


def test_ranges_and_empty_nodes_count_neither_as_words_nor_as_heads(treebank):
    tree = f"""
    1-2 Dogsing _ _ _ _ _
    1 Dogs dog NOUN Number=Plur 2 nsubj
    1.1 gap gap VERB _ _ _
    2 sing sing VERB {FIN} 0 root
    """
    (row,) = treebank(tree).candidates()
    assert (row["subject"], row["verb"], row["distance"]) == (1, 2, 1)


WILL_HAVE = """
1 Dogs dog NOUN Number=Plur 4 nsubj
2 will will AUX Tense=Fut 4 aux
3 be be AUX _ 4 aux:pass
4 seen see VERB VerbForm=Part 0 root
"""


@pytest.mark.parametrize("deprel", ["aux", "cop", "aux:neg"])
def test_the_leftmost_auxiliary_or_copula_is_the_inflected_word(treebank, deprel):
    (row,) = of("sv", treebank(WILL_HAVE.replace("4 aux\n", f"4 {deprel}\n")))
    inflected = (row["form"], row["lemma"], row["feats"], row["kind"])
    assert inflected == ("will", "will", "Tense=Fut", "aux")


def test_an_auxiliary_without_features_takes_those_of_the_main_verb(treebank):
    (row,) = of("sv", treebank(WILL_HAVE.replace("Tense=Fut", "_")))
    assert (row["form"], row["lemma"], row["feats"]) == ("will", "will", "VerbForm=Part")
    assert (row["inflected"], row["feats_of"]) == (2, 4)


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("cat cat NOUN Gender=Fem", True),
        ("we we PRON Person=1", True),
        ("red red ADJ Degree=Pos", False),
        ("seen see VERB VerbForm=Part", True),
        ("seen see VERB _", False),
    ],
)
def test_words_between_can_attract_by_a_feature_or_as_verbs(treebank, word, kept):
    (row,) = of("sv", treebank(LONG.replace("cats cat NOUN Number=Plur", word)))
    assert row["between"] == ([3] if kept else [])
    assert row["between_feats"] == ([word.split()[-1]] if kept else [])


@pytest.mark.parametrize(
    ("first", "second", "verb", "published", "corrected"),
    [
        ("Inf", "Fin", "Part", "will", "be"),
        ("Fin", "Fin", "Part", "will", "will"),
        ("Inf", "Part", "Fin", "will", "seen"),
        ("Inf", "Part", "Inf", "will", None),
    ],
)
def test_corrected_the_leftmost_finite_auxiliary_inflects_or_else_the_finite_verb(
    treebank, first, second, verb, published, corrected
):
    tree = WILL_HAVE.replace("AUX Tense=Fut", f"AUX VerbForm={first}")
    tree = tree.replace("be be AUX _", f"be be AUX VerbForm={second}")
    tree = tree.replace("VERB VerbForm=Part", f"VERB VerbForm={verb}")
    assert [row["form"] for row in of("sv", treebank(tree))] == [published]
    ours = of("sv", treebank(tree, finiteness="corrected"))
    assert [row["form"] for row in ours] == ([corrected] if corrected else [])
    assert [row["kind"] for row in ours] == (
        [] if corrected is None else ["verb" if corrected == "seen" else "aux"]
    )


def test_a_participle_is_a_candidate_of_its_own_and_auxiliaries_play_no_part(treebank):
    (row,) = of("sp", treebank(WILL_HAVE))
    assert (row["form"], row["kind"], row["inflected"], row["replaced"]) == ("seen", "ptcp", 4, 4)
    assert (row["feats"], row["feats_of"], row["distance"]) == ("VerbForm=Part", 4, 3)


@pytest.mark.parametrize(
    ("upos", "feats", "kept"),
    [
        ("VERB", "VerbForm=Part", 1),
        ("VERB", "Aspect=Perf|VerbForm=Part", 1),
        ("AUX", "VerbForm=Part", 0),
        ("VERB", "VerbForm=Fin", 0),
        ("VERB", "VerbForm=Part,Ger", 0),
        ("VERB", "_", 0),
    ],
)
def test_participles_are_verbs_annotated_as_such(treebank, upos, feats, kept):
    tree = WILL_HAVE.replace("VERB VerbForm=Part", f"{upos} {feats}")
    assert len(of("sp", treebank(tree))) == kept


def test_a_participle_beside_a_first_word_auxiliary_follows_its_subject(treebank):
    (row,) = of("sp", treebank(IS_FIRST))
    assert (row["order"], row["distance"], row["replaced"]) == ("SV", 1, 3)


@pytest.mark.parametrize("variant", ["published", "corrected"])
def test_the_funnel_counts_verbs_that_are_not_finite_even_when_none_is_dropped(treebank, variant):
    language = treebank(DOGS_SING.replace("VerbForm=Fin", "VerbForm=Inf"), finiteness=variant)
    language.candidates()
    rows = read_table(FUNNEL, language.path / "funnel").to_pylist()
    counts = {row["reason"]: row["n"] for row in rows}
    dropped = int(variant == "corrected")
    assert (counts["- not finite"], counts["subject-verb candidates"]) == (dropped, 1 - dropped)
    assert counts["subject-participle candidates"] == 0


def test_corrected_a_mood_without_a_verb_form_is_finite(treebank):
    tree = DOGS_SING.replace("Mood=Ind|VerbForm=Fin", "Mood=Ind")
    assert words_of(treebank(tree, finiteness="corrected").candidates()) == [("Dogs", "sing")]
    tree = DOGS_SING.replace("Mood=Ind|VerbForm=Fin|", "")
    assert words_of(treebank(tree, finiteness="corrected").candidates()) == []
