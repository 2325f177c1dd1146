"""Does a language agree: what is counted, and the labels of the tests."""

import pyarrow.compute as pc
import pytest

from blimpworks.papers.multiblimp.items.agreement import count_agreement, label_of, load_evidence
from blimpworks.papers.multiblimp.items.words import PHENOMENA
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.multiblimp.tables import CANDIDATES
from blimpworks.tables import read_table
from support.treebank_kit import DOGS_SING, FIN, SEEN, UNIMORPH


def counts(treebank, *sentences, unimorph=UNIMORPH, name="sv#", **settings):
    """Counts of one phenomenon, by verb type, order, and values of subject and verb."""
    language = treebank(*sentences, phenomena=(name,), **settings)
    lexicon = language.lexicon(unimorph)
    language.candidates()
    rows = read_table(CANDIDATES, language.path / "candidates")
    phenomenon, options = PHENOMENA[name], language.options
    inside = rows.filter(pc.field("construction") == phenomenon.construction)
    evidence = load_evidence(inside, lexicon, phenomenon.construction, options)
    return dict(count_agreement(inside, evidence, language.lang, phenomenon, options))


LOWER = DOGS_SING.replace("Dogs", "dogs")


def test_subject_and_verb_with_one_value_each_are_counted_by_order(treebank):
    turned = f"""
    1 sing sing VERB {FIN}|Number=Plur 0 root
    2 dogs dog NOUN Number=Plur 1 nsubj
    """
    assert counts(treebank, LOWER, LOWER, turned) == {
        ("both", "SV", "PL", "PL"): 2,
        ("both", "VS", "PL", "PL"): 1,
    }


@pytest.mark.parametrize(
    ("unimorph", "values"),
    [
        # A value among several counts as agreement; several on both sides are no evidence.
        (UNIMORPH + "sing sing V;IND;PRS;1;SG\n", ["PL", "PL"]),
        (UNIMORPH + "sing sing V;IND;PRS;1;SG\ndog dogs N;SG\n", None),
        # Verbs are looked up as indicative and active.
        (UNIMORPH + "sing sing V;SBJV;SG\nsing sing V;PASS;SG\n", ["PL", "PL"]),
        # A disagreement is counted as it stands.
        ("sing sing V;IND;SG\nsing sings V;IND;PL\ndog dog N;SG\ndog dogs N;PL", ["PL", "SG"]),
        # A number that does not inflect is no evidence.
        ("sing sing V;IND;PRS;3;PL\ndog dog N;SG\ndog dogs N;PL", None),
    ],
)
def test_values_of_both_words_decide_what_is_counted(treebank, unimorph, values):
    expected = {("both", "SV", *values): 1} if values else {}
    assert counts(treebank, LOWER, unimorph=unimorph) == expected


@pytest.mark.parametrize(
    ("feats", "n"), [("Tense=Pres|Person=3", 1), ("Tense=Past|Person=3", 0), ("Tense=Pres", 0)]
)
def test_english_counts_what_is_annotated_as_third_person_present(treebank, feats, n):
    tree = LOWER.replace("NOUN Number=Plur", "NOUN Number=Plur|Person=3")
    tree = tree.replace(FIN, f"{FIN}|{feats}")
    assert sum(counts(treebank, tree, lang="eng").values()) == n
    assert sum(counts(treebank, tree).values()) == 1


def test_the_table_has_a_row_for_each_subject_value_and_order(treebank):
    (row,) = treebank(LOWER, LOWER, SEEN.replace("singeth", "sings")).agreement_with()
    assert (row["order"], row["value"], row["agreeing"], row["n"]) == ("SV", "PL", 2, 3)
    assert row["p_less"] == pytest.approx(0.271)
    assert row["label"] == "?"


GONE = """
1 dogs dog NOUN Number=Plur 2 nsubj
2 gone go VERB Number=Plur|VerbForm=Part 0 root
"""
WENT = GONE.replace("gone", "gont").replace("dogs", "dog").replace("Plur", "Sing")
FIRST_ENTRY = "1 a a DET Number=Sing 0 root"
"""The entry that the authors lose."""
DOGS = "dog dogs N;PL\ndog dog N;SG\n"


def of_participles(treebank, verbs, **settings):
    sentences = (GONE, WENT, FIRST_ENTRY)
    counted = counts(treebank, *sentences, unimorph=DOGS + verbs, name="sp#", **settings)
    return {(subject, verb): n for (_, _, subject, verb), n in counted.items()}


def test_the_treebanks_participles_are_asked_only_where_unimorph_has_nothing(treebank):
    contrary = "go gone V.PTCP;SG\ngo gont V.PTCP;PL\n"
    assert of_participles(treebank, "") == {("PL", "PL"): 1, ("SG", "SG"): 1}
    assert of_participles(treebank, contrary) == {("PL", "SG"): 1, ("SG", "PL"): 1}
    corrected = of_participles(treebank, contrary, agreement_evidence="corrected")
    assert corrected == {("PL", "PL"): 1, ("SG", "SG"): 1}


OPEN = "go gone V.PTCP\ngo gont V.PTCP;SG\ngo goes V.PTCP;PL\n"


def test_an_open_value_of_a_participle_is_no_evidence_and_hides_the_treebanks(treebank):
    assert of_participles(treebank, OPEN) == {("SG", "SG"): 1}


def test_an_open_value_of_a_verb_leaves_the_word_to_the_treebank(treebank):
    sentences = [tree.replace("VerbForm=Part", FIN) for tree in (GONE, WENT)]
    sentences.append(FIRST_ENTRY)
    verbs = OPEN.replace("V.PTCP", "V;IND")
    assert counts(treebank, *sentences, unimorph=DOGS + verbs) == {
        ("both", "SV", "PL", "PL"): 1,
        ("both", "SV", "SG", "SG"): 1,
    }


SHE_SANG = f"""
1 she she PRON Gender=Fem|Person=3 2 nsubj
2 sang sing VERB {FIN}|Gender=Fem|Person=3 0 root
"""


@pytest.mark.parametrize(("name", "value"), [("svG", "FEM"), ("svP", "3")])
def test_gender_and_person_are_counted_like_number(treebank, name, value):
    unimorph = "she she PRO;FEM;3\nhe he PRO;MASC;3\nsing sang V;FEM;3\n"
    found = counts(treebank, SHE_SANG, unimorph=unimorph, name=name)
    assert found == {("both", "SV", value, value): 1}


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
    expected = (pytest.approx(greater), pytest.approx(less), label)
    assert label_of(agreeing, n, 8, MultiblimpOptions()) == expected


def test_corrected_alpha_is_divided_by_two_tests_for_each_row(treebank):
    singular = LOWER.replace("dogs", "dog").replace("sing sing", "sings sing")
    for others, label in (((), "+"), ((singular.replace("Plur", "Sing"),), "~")):
        rows = treebank(*[LOWER] * 29, *others, bonferroni="corrected").agreement_with()
        labels = {row["value"]: row["label"] for row in rows}
        assert labels["PL"] == label


def test_corrected_the_subjects_own_number_on_a_verb_is_evidence(treebank):
    tree = """
    1 dogs dog NOUN Number=Plur 2 nsubj
    2 sing sing VERB Mood=Ind|Number[subj]=Plur 0 root
    """
    rows = treebank(tree, agreement_evidence="corrected").agreement_with("")
    assert [(row["value"], row["agreeing"]) for row in rows] == [("PL", 1)]
