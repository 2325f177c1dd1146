"""The six agreement phenomena: number, person and gender of verbs and of participles."""

import pytest

from blimpworks.papers.multiblimp.items.features import PHENOMENA
from support.treebank_kit import FIN

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
SANG = (
    PRONOUNS
    + """
sing sang V;IND;PST;3;SG;FEM
sing sango V;IND;PST;3;SG;MASC
sing sangt V;IND;PST;2;SG;FEM
sing sangen V;IND;PST;3;PL;FEM
"""
)
SUNG = SANG.replace("sang", "sung").replace("V;IND;PST", "V.PTCP") + "have has V;IND;SG\n"


def swaps(pairs):
    """What became of the word that agrees, by phenomenon."""
    return {(p["phenomenon"], p["bad_form"], p["paradigm"]) for p in pairs}


def test_verbs_agree_in_number_person_and_gender(pairs_of):
    pairs, _ = pairs_of(SHE_SANG, unimorph=SANG, phenomena=tuple(PHENOMENA))
    assert swaps(pairs) == {
        ("sv#", "sangen", "SG>PL/SV/verb"),
        ("svP", "sangt", "3>2/SV/verb"),
        ("svG", "sango", "FEM>MASC/SV/verb"),
    }


def test_participles_agree_in_number_person_and_gender(pairs_of):
    pairs, _ = pairs_of(HAS_SUNG, unimorph=SUNG, phenomena=tuple(PHENOMENA))
    assert swaps(pairs) == {
        ("sp#", "sungen", "SG>PL/SV/ptcp"),
        ("spP", "sungt", "3>2/SV/ptcp"),
        ("spG", "sungo", "FEM>MASC/SV/ptcp"),
    }
    assert {p["good"] for p in pairs} == {"she has sung"}
    assert {p["bad"] for p in pairs} == {"she has sungen", "she has sungt", "she has sungo"}


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


# Participles


def test_finite_forms_are_no_swaps_of_participles(pairs_of):
    unimorph = PRONOUNS + "sing sung V.PTCP;SG\nsing sings V;FIN;SG\nsing sing V;FIN;PL\n"
    plural = "go gone V.PTCP;PL\n"
    pairs, rejected = pairs_of(HAS_SUNG, unimorph=unimorph + plural, phenomena=("sp#",))
    assert (pairs, rejected) == ([], {"no other form": 1})


def test_where_some_row_says_which_verb_form_it_is_others_are_no_swaps(pairs_of):
    unimorph = PRONOUNS + "sing sung V.PTCP;SG\nsing sungen V;PL\ngo gone V.PTCP;PL\n"
    pairs, rejected = pairs_of(HAS_SUNG, unimorph=unimorph, phenomena=("sp#",))
    assert (pairs, rejected) == ([], {"no other form": 1})


def test_where_no_row_says_which_verb_form_it_is_any_verb_form_will_do(pairs_of):
    unimorph = PRONOUNS + "sing sung V;SG\nsing sungen V;PL\n"
    pairs, _ = pairs_of(HAS_SUNG, unimorph=unimorph, phenomena=("sp#",))
    assert [p["bad_form"] for p in pairs] == ["sungen"]


def test_published_a_participle_without_an_auxiliary_passes_for_a_verb_too(pairs_of):
    tree = SHE_SANG.replace(FIN, "VerbForm=Part").replace("sang sing", "sung sing")
    both = {"unimorph": SUNG, "phenomena": ("sv#", "sp#")}
    pairs, _ = pairs_of(tree, **both)
    assert [(p["phenomenon"], p["inflected"]) for p in pairs] == [("sv#", "verb"), ("sp#", "ptcp")]
    pairs, _ = pairs_of(tree, **both, finiteness="corrected")
    assert [p["phenomenon"] for p in pairs] == ["sp#"]


def test_a_participles_label_is_of_its_own_phenomenon(treebank):
    language = treebank(*[HAS_SUNG] * 30, phenomena=("sp#", "sv#"))
    language.lexicon(SUNG.replace("has V;IND;SG", "has V;IND;PL") + "he they PRO;NOM;PL;3\n")
    language.candidates()
    labels = {row["phenomenon"]: row["label"] for row in language.agreement()}
    assert labels == {"sv#": "?", "sp#": "+"}
    pairs, _ = language.pairs()
    assert {p["label"] for p in pairs if p["phenomenon"] == "sp#"} == {"+"}
