import pyarrow.compute as pc
import pytest

from blimpworks.papers.multiblimp.items import agreement
from blimpworks.papers.multiblimp.items.agreement import count_agreement, load_evidence
from blimpworks.papers.multiblimp.items.words import PHENOMENA
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.multiblimp.tables import CANDIDATES
from blimpworks.tables import read_table
from support.treebank_kit import FIN, LOWER, SEEN, UNIMORPH


def counts(treebank, *sentences, unimorph=UNIMORPH, name="sv#", **settings):
    """Return counts of one phenomenon, by verb type, order, and values of subject and verb."""
    language = treebank(*sentences, phenomena=(name,), **settings)
    lexicon = language.lexicon(unimorph)
    language.candidates()
    rows = read_table(CANDIDATES, language.path / "candidates")
    phenomenon, options = PHENOMENA[name], language.options
    inside = rows.filter(pc.field("construction") == phenomenon.construction)
    evidence = load_evidence(inside, lexicon, phenomenon.construction, language.lang, options)
    return dict(count_agreement(inside, evidence, language.lang, phenomenon, options))


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
        # One of several values may agree; several on both sides are no evidence.
        (UNIMORPH + "sing sing V;IND;PRS;1;SG\n", ["PL", "PL"]),
        (UNIMORPH + "sing sing V;IND;PRS;1;SG\ndog dogs N;SG\n", None),
        # Verbs are looked up as indicative and active.
        (UNIMORPH + "sing sing V;SBJV;SG\nsing sing V;PASS;SG\n", ["PL", "PL"]),
        # A disagreement is counted as it is.
        ("sing sing V;IND;SG\nsing sings V;IND;PL\ndog dog N;SG\ndog dogs N;PL", ["PL", "SG"]),
        # A number without inflection is no evidence.
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
"""The entry that the authors' code loses."""
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


SANG_BARE = f"""
1 she she PRON Gender=Fem|Person=3 2 nsubj
2 sang sing VERB {FIN}|Gender=Fem|Person=3 0 root
"""


@pytest.mark.parametrize(("name", "value"), [("svG", "FEM"), ("svP", "3")])
def test_gender_and_person_are_counted_like_number(treebank, name, value):
    unimorph = "she she PRO;FEM;3\nhe he PRO;MASC;3\nsing sang V;FEM;3\n"
    found = counts(treebank, SANG_BARE, unimorph=unimorph, name=name)
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
    assert agreement.run_binomial_tests(agreeing, n, 8, MultiblimpOptions()) == expected


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


SHE = "1 she she PRON Case=Nom|Gender=Fem|Number=Sing|Person=3"
FULL = "Gender=Fem|Number=Sing|Person=3"
SHE_SANG = f"""
{SHE} 2 nsubj
2 sang sing VERB {FIN}|{FULL} 0 root
"""
HAS_SUNG = f"""
{SHE} 3 nsubj
2 has have AUX {FIN} 3 aux
3 sung sing VERB {FULL}|VerbForm=Part 0 root
"""
PRONOUNS = "she she PRO;NOM;FEM;SG;3\nhe he PRO;NOM;MASC;SG;3\n"
SANG = f"""{PRONOUNS}
sing sang V;IND;PST;3;SG;FEM
sing sango V;IND;PST;3;SG;MASC
sing sangt V;IND;PST;2;SG;FEM
sing sangen V;IND;PST;3;PL;FEM
"""
SUNG = SANG.replace("sang", "sung").replace("V;IND;PST", "V.PTCP") + "have has V;IND;SG\n"


@pytest.mark.parametrize(
    ("tree", "unimorph", "construction", "inflected", "start"),
    [(SHE_SANG, SANG, "sv", "verb", "she sang"), (HAS_SUNG, SUNG, "sp", "ptcp", "she has sung")],
)
def test_verbs_and_participles_agree_in_number_person_and_gender(
    pairs_of, tree, unimorph, construction, inflected, start
):
    pairs, _ = pairs_of(tree, unimorph=unimorph, phenomena=tuple(PHENOMENA))
    assert {(p["phenomenon"], p["paradigm"], p["bad"]) for p in pairs} == {
        (f"{construction}#", f"SG>PL/SV/{inflected}", f"{start}en"),
        (f"{construction}P", f"3>2/SV/{inflected}", f"{start}t"),
        (f"{construction}G", f"FEM>MASC/SV/{inflected}", f"{start}o"),
    }


@pytest.mark.parametrize("name", PHENOMENA)
def test_a_language_whose_lexicons_lack_the_feature_yields_none(pairs_of, name):
    feature = PHENOMENA[name].feature
    tree = SHE_SANG if name.startswith("sv") else HAS_SUNG
    bare = {"Number": (";SG", ";PL"), "Person": (";2", ";3"), "Gender": (";FEM", ";MASC")}
    unimorph = SANG + SUNG
    for tag in bare[feature]:
        unimorph = unimorph.replace(tag, "")
    annotated = {"Number": "Number=Sing|", "Person": "|Person=3", "Gender": "Gender=Fem|"}[feature]
    first, *rest = tree.strip().splitlines()
    tree = "\n".join([first, *(line.replace(annotated, "") for line in rest)])
    pairs, rejected = pairs_of(tree, unimorph=unimorph, phenomena=(name,))
    assert (pairs, rejected) == ([], {"no lexicon entry": 1})


PARTICIPLES = "sing sung V.PTCP;SG\ngo gone V.PTCP;PL\n"


@pytest.mark.parametrize(
    ("unimorph", "forms", "rejected"),
    [
        # Finite forms are no swaps, nor are others if a row states a verb form.
        (f"{PARTICIPLES}sing sings V;FIN;SG\nsing sing V;FIN;PL\n", [], {"no other form": 1}),
        (f"{PARTICIPLES}sing sungen V;PL\n", [], {"no other form": 1}),
        # If no row states one, any form is a swap.
        ("sing sung V;SG\nsing sungen V;PL\n", ["sungen"], {}),
    ],
)
def test_other_forms_of_a_participle_are_participles(pairs_of, unimorph, forms, rejected):
    pairs, counts = pairs_of(HAS_SUNG, unimorph=PRONOUNS + unimorph, phenomena=("sp#",))
    assert ([p["bad_form"] for p in pairs], counts) == (forms, rejected)


def test_published_a_participle_without_an_auxiliary_passes_for_a_verb_too(pairs_of):
    tree = SHE_SANG.replace(FIN, "VerbForm=Part").replace("sang sing", "sung sing")
    both = {"unimorph": SUNG, "phenomena": ("sv#", "sp#")}
    pairs, _ = pairs_of(tree, **both)
    assert [(p["phenomenon"], p["inflected"]) for p in pairs] == [("sv#", "verb"), ("sp#", "ptcp")]
    pairs, _ = pairs_of(tree, **both, finiteness="corrected")
    assert [p["phenomenon"] for p in pairs] == ["sp#"]


def test_a_participles_label_is_of_its_own_phenomenon(treebank):
    language = treebank(*[HAS_SUNG] * 30, phenomena=("sp#", "sv#"))
    unimorph = SUNG.replace("has V;IND;SG", "has V;IND;PL") + "he they PRO;NOM;PL;3\n"
    labels = {row["phenomenon"]: row["label"] for row in language.agreement_with(unimorph)}
    assert labels == {"sv#": "?", "sp#": "+"}
    pairs, _ = language.pairs()
    assert {p["label"] for p in pairs if p["phenomenon"] == "sp#"} == {"+"}
