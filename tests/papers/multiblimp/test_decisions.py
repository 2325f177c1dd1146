"""Test each decision on which the authors' code and the paper differ, in a small language."""

import inspect
import re
from functools import partial
from importlib import import_module

import pytest

from blimpworks.analysis.statistics import compare_models
from blimpworks.papers.multiblimp.items.agreement import run_binomial_tests
from blimpworks.papers.multiblimp.paper import STAGES
from blimpworks.papers.multiblimp.settings import Decisions, MultiblimpOptions, variant_of
from blimpworks.records.digest import reachable
from blimpworks.tables import COMPARISONS, ITEMS, JUDGEMENTS, read_table, write_rows
from support.treebank_kit import DOGS_SING, FIN, IS_FIRST, LONG, LOWER, SING_DOGS, UNIMORPH


def items_of(language, unimorph=UNIMORPH, untested=()):
    language.pairs_with(unimorph)
    return read_table(ITEMS, language.sample(untested)).to_pylist()


def first_candidate(tree, column, treebank):
    return treebank(tree).candidates()[0][column]


def entries(words, treebank):
    table = treebank(*(f"1 {word} 0 root" for word in words)).lexicon()
    return sorted(table["form"].to_pylist())


def bad_forms(tree, unimorph, treebank):
    return [pair["bad_form"] for pair in treebank(tree).pairs_with(unimorph)[0]]


def transliterated(treebank):
    language = treebank(DOGS_SING.replace("Dogs", "čas"))
    language.special = ("published:unidecode",)
    return language.candidates()[0]["subject_form"]


def participles(tree, treebank):
    return sum(row["construction"] == "sp" for row in treebank(tree, lang="fra").candidates())


def evidence(tree, unimorph, treebank):
    rows = treebank(tree).agreement_with(unimorph)
    return [(row["verb_type"], row["value"], row["n"]) for row in rows]


def labels(counts, m, treebank):
    options = treebank(LOWER).options
    return [run_binomial_tests(agreeing, n, m, options)[2] for agreeing, n in counts]


def pair_of(tree, unimorph, column, treebank):
    return treebank(tree).pairs_with(unimorph)[0][0][column]


def rare_weight(treebank):
    longer = LOWER + "3 now now ADV _ 2 advmod"
    usual, *_, rare = sorted(i["weight"] for i in items_of(treebank(*[LOWER] * 5, longer)))
    return pytest.approx(rare / usual)


def p_of_six_pairs(treebank):
    """Return p for six pairs that one model alone has right, as in the paper's Albanian."""
    language, judged = treebank(LOWER), []
    for model, right in (("x", 1.0), ("y", 0.0)):
        rows = [{"item_id": str(k), "method": "m", "correct": right} for k in range(6)]
        path = language.path / f"{model}.parquet"
        write_rows(rows, JUDGEMENTS, path)
        judged.append((model, "xyz", path))
    output = language.path / "comparisons"
    compare_models(judged, "multiblimp", "m", output, variant_of(language.options, "mcnemar"))
    return round(read_table(COMPARISONS, output)["p"][0].as_py(), 3)


SEEN_BY = """
1 Dogs dog NOUN Number=Plur 4 nsubj
2 being be AUX VerbForm=Ger 4 aux
3 are be AUX VerbForm=Fin 4 aux:pass
4 seen see VERB VerbForm=Part 0 root
"""
# One participle with être, one with avoir.
VUES_VU = """
1 elles elles PRON Number=Plur 3 nsubj
2 sont être AUX VerbForm=Fin 3 aux
3 vues voir VERB VerbForm=Part 0 root
4 elles elles PRON Number=Plur 6 nsubj
5 ont avoir AUX VerbForm=Fin 6 aux
6 vu voir VERB VerbForm=Part 3 conj
"""
TWO_SUBJECTS = f"""
1 Dogs dog NOUN Number=Plur 3 nsubj
2 we we PRON Number=Plur|Person=1 3 nsubj
3 sing sing VERB {FIN} 0 root
"""
WONT = f"""
1 Dogs dog NOUN Number=Plur 4 nsubj
2-3 won't _ _ _ _ _
2 will will PART _ 4 dep
3 not not PART _ 4 advmod
4 sing sing VERB {FIN} 0 root
"""
FRENCH = DOGS_SING + "3 chien chien X _ 2 obj Lang=fr"
OWLS = LOWER.replace("dogs dog", "owls owl")
OTHERS = LOWER.replace("sing sing", "sings sing").replace("Number=Plur 0", "Number=Sing 0")
WORD, OTHER = "a a DET Number=Sing", "d c NOUN Number=Sing"
NANNY = [WORD, OTHER, "nan nan NOUN Number=Sing"]
RARE = [WORD, *["x y VERB Number=Plur"] * 11, "x y VERB Number=Sing"]
OPEN_PERSON = "sing sing V;IND;PRS;PL\nsing sings V;IND;PRS;3;SG\nsing singt V;IND;PRS;2;SG"
ANY_PERSON = UNIMORPH.replace("PRS;3", "PRS")
OPEN_TENSE = f"{UNIMORPH}sing singeth V;IND;3;SG"
SUBJUNCTIVE = f"{UNIMORPH}sing sings V;SBJV;PRS;3;PL"
MCSINGS = "sing Sing V;PL\nsing mcSings V;SG"
MANY = "sing sings V;SG\nsing sings V;DU\nsing singeth V;SG\nsing singen V;DU\nsing sing V;PL"
COPIED, OWN = "Mood=Ind|Number=Plur|Person=1|VerbForm=Fin", "Mood=Ind|Number=Plur|VerbForm=Fin"
OUTCOMES = {
    "marked_sentences": (lambda treebank: len(treebank(FRENCH).candidates()), 0, 1),
    "participle_auxiliaries": (partial(participles, VUES_VU), 2, 1),
    "scripts": (transliterated, "cas", "čas"),
    "finiteness": (partial(first_candidate, SEEN_BY, "form"), "being", "are"),
    "first_word_auxiliary": (partial(first_candidate, IS_FIRST, "replaced"), 3, 1),
    "attractor_window": (partial(first_candidate, LONG, "between"), [3], [3, 4]),
    "rare_readings": (partial(entries, RARE), ["x"], ["x", "x"]),
    "first_entry": (partial(entries, ["b a NOUN Number=Sing", OTHER]), ["d"], ["b", "d"]),
    "missing_words": (partial(entries, NANNY), ["d"], ["d", "nan"]),
    "agreement_evidence": (partial(evidence, OWLS, "be is V;SG"), [], [("both", "PL", 1)]),
    "verb_types": (partial(evidence, LOWER, UNIMORPH), [("both", "PL", 1)], [("verb", "PL", 1)]),
    "bonferroni": (partial(labels, [(29, 29)], 8), ["+"], ["~"]),
    "labels": (partial(labels, [(0, 50), (6, 6)], 2), ["?", "~"], ["-", "?"]),
    "subject_person": (partial(bad_forms, LOWER, OPEN_PERSON), ["sings", "singt"], ["sings"]),
    "other_features": (partial(bad_forms, DOGS_SING, OPEN_TENSE), ["singeth", "sings"], ["sings"]),
    "right_forms": (partial(bad_forms, DOGS_SING, SUBJUNCTIVE), ["sings"], []),
    "letter_case": (partial(bad_forms, SING_DOGS, UNIMORPH), [], ["Sings"]),
    "capitals": (partial(bad_forms, SING_DOGS, MCSINGS), ["Mcsings"], ["McSings"]),
    "copied_features": (partial(pair_of, TWO_SUBJECTS, ANY_PERSON, "inflected_feats"), COPIED, OWN),
    "contractions": (
        partial(pair_of, WONT, UNIMORPH, "good"),
        *("Dogs will not sing", "Dogs won't sing"),
    ),
    "lost_statistics": (
        lambda treebank: len(items_of(treebank(*[LOWER] * 5, *[OTHERS] * 30), untested=("sv",))),
        *(5, 0),
    ),
    "balance": (rare_weight, 5, 1),
    "memberships": (lambda treebank: len(items_of(treebank(LOWER, LOWER), MANY)), 8, 6),
    "mcnemar": (p_of_six_pairs, 0.041, 0.031),
}
"""Function that a decision changes, and its outcomes as published and corrected."""


@pytest.mark.parametrize("variant", ["published", "corrected"])
@pytest.mark.parametrize("decision", Decisions.model_fields)
def test_a_decision_is_taken_as_published_and_can_be_corrected_alone(decision, variant, treebank):
    find, *outcomes = OUTCOMES[decision]
    decisions = {decision: "corrected"} if variant == "corrected" else {}
    assert find(partial(treebank, **decisions)) == outcomes[variant == "corrected"]


def test_an_open_decision_follows_the_variant_and_a_settled_one_does_not():
    options = MultiblimpOptions(variant="corrected", decisions={"labels": "published"})
    assert variant_of(options, "labels") == "published"
    assert variant_of(options, "balance") == "corrected"


# In the workflow, a decision that a rule does not pass on would be taken as published.

ENTRIES = {
    "lexicon": "lexicon:build_lexicon",
    "candidates": "candidates:find_candidates",
    "agreement": "agreement:measure_agreement",
    "pairs": "pairs:build_pairs",
    "sampling": "sampling:sample_items",
}
BY_THE_BENCHMARK = {"mcnemar"}
"""Decisions that the benchmark passes to the rules of all papers."""


def decisions_read(stage):
    """Return the decisions that the functions and classes of a stage read."""
    called = [
        getattr(import_module(module), name, None)
        for module, name in reachable(f"blimpworks.papers.multiblimp.items.{ENTRIES[stage]}")
        if module.startswith("blimpworks.papers.multiblimp.items")
    ]
    code = (value for value in called if inspect.isroutine(value) or inspect.isclass(value))
    texts = [inspect.getsource(value) for value in code]
    return {name for text in texts for name in re.findall(r'corrected\([\w.]+, "(\w+)"\)', text)}


@pytest.mark.parametrize("stage", ENTRIES)
def test_a_stage_is_passed_exactly_the_decisions_that_it_takes(stage):
    assert {*STAGES[stage][1]} == decisions_read(stage)


def test_the_stages_take_every_decision():
    stages = set().union(*map(decisions_read, ENTRIES))
    assert stages | BY_THE_BENCHMARK == Decisions.model_fields.keys()
