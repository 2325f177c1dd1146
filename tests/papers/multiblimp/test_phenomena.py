"""The six agreement phenomena: number, person and gender of verbs and of participles."""

import pytest

from blimpworks.papers.multiblimp.items.words import PHENOMENA
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
        # Finite forms are no swaps, nor are others where some row states a verb form.
        (f"{PARTICIPLES}sing sings V;FIN;SG\nsing sing V;FIN;PL\n", [], {"no other form": 1}),
        (f"{PARTICIPLES}sing sungen V;PL\n", [], {"no other form": 1}),
        # Where no row states one, any form will do.
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
