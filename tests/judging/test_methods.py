import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.methods import METHODS, find_method
from blimpworks.campaign.registry import benchmarks, paper_of, tie_policy
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.judging.judge import Rules, judge
from blimpworks.judging.sides import Side, shown, totals
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.scoring.collect import Shards, collect_scores
from blimpworks.scoring.run import score_items
from blimpworks.tables import JUDGEMENTS, read_table
from support import tiny
from support.judging_kit import judged, write_scores


def side(text, tokens, span=(-1, -1)):
    """One sentence from (log-probability, end) of its tokens."""
    values, ends = zip(*tokens, strict=True)
    return Side(
        texts=pa.array([text]),
        logprobs=pa.array([values], pa.list_(pa.float32())),
        ends=pa.array([ends], pa.list_(pa.int32())),
        ids=pa.array([range(len(ends))], pa.list_(pa.int32())),
        rounding=np.zeros(1),
        span_start=np.array([span[0]]),
        span_end=np.array([span[1]]),
    )


def value(named, *arguments):
    method = find_method(named)
    (result,) = shown(method, totals(method, side(*arguments)))
    return float(result)


def test_methods_compare_what_they_say(tmp_path):
    # "a big dög": critical region "big" (2 to 5), tokens "a", " b", "ig", " dög", end symbol.
    good = [(-1.0, 1), (-2.0, 3), (-3.0, 5), (-4.0, 9), (-2.0, 9)]
    bad = [(-1.0, 1), (-7.0, 5), (-9.0, 9), (-3.0, 9)]
    values = {}
    for method in METHODS:
        (row,) = judged(tmp_path, [("a big dög", "a cat dög")], [(good, bad)], method=method)
        values[method] = (row["value_good"], row["value_bad"])
    assert values == {
        "full_sentence": (-12, -20),
        "without_end": (-10, -17),
        "critical_region": (-5, -7),
        "one_prefix": (-5, -7),
        "two_prefix": (-5, -7),
        "masked_critical_word": (None, -7),
        "per_token": (-2.4, -5),
        "per_character": pytest.approx((-12 / 9, -20 / 9)),
        "per_byte": (-1.2, -2),
        "perplexity": pytest.approx((math.exp(2.4), math.exp(5))),
        "pseudo_perplexity": pytest.approx((math.exp(2.4), math.exp(5))),
    }


def test_masked_word_of_several_tokens_is_skipped_and_counted(tmp_path, caplog):
    first, two = [(-1.0, 1), (-7.0, 5)], [(-1.0, 1), (-2.0, 3), (-1.0, 5)]
    pairs, rows = [("a big", "a cat")] * 3, [(first, first), (first, two), (two, first)]
    result = judged(tmp_path, pairs, rows, method="masked_critical_word")
    assert [row["correct"] for row in result] == [0.0, None, None]
    assert "2 of 3 judgements are null" in caplog.text


def test_one_prefix_is_blind_to_what_follows_and_two_prefix_to_what_precedes():
    word = [(-2.0, 5)]
    for named, other in (("one_prefix", [(-1.0, 1), *word, (-8.0, 9)]), ("two_prefix", word)):
        assert value(named, "a big dog", [(-1.0, 1), *word, (-4.0, 9)], (2, 5)) == -2
        assert value(named, "a big dog", other, (2, 5)) == -2


@pytest.mark.parametrize(
    ("text", "tokens", "span", "expected"),
    [
        # The space shares a token with the word, or is one of its own: same continuation.
        ("a big dog", [(-1, 1), (-2, 5), (-4, 9)], (2, 5), -2),
        ("a big dog", [(-1, 1), (-8, 2), (-2, 5), (-4, 9)], (2, 5), -10),
        # A token of the prefix that ends in the space is not part of the word.
        ("a big dog", [(-1, 2), (-2, 5), (-4, 9)], (2, 5), -2),
        # Two spaces, and a region that starts the sentence after an empty token.
        ("a  big", [(-1, 1), (-8, 2), (-16, 3), (-2, 6)], (3, 6), -26),
        ("big dog", [(-8, 0), (-2, 3), (-4, 7)], (0, 3), -10),
        # A character in three byte tokens: the first two end before it.
        ("a कb c", [(-1, 2), (-2, 2), (-4, 3), (-8, 4), (-16, 6), (-32, 6)], (2, 4), -14),
        # The end symbol stands after a region that ends the sentence.
        ("a कb c", [(-1, 2), (-2, 2), (-4, 3), (-8, 4), (-16, 6), (-32, 6)], (5, 6), -16),
    ],
)
def test_region_is_the_word_and_the_space_that_joins_it(text, tokens, span, expected):
    assert value("critical_region", text, tokens, span) == expected


@pytest.mark.parametrize("named", ["critical_region", "own=mean(region)", "masked_critical_word"])
def test_region_with_an_unscored_token_has_no_value(named):
    # Its first token has no score under skip: what is left of the word is not the word.
    word = [(math.nan, 2), (-2.0, 3)] if named != "masked_critical_word" else [(math.nan, 3)]
    assert math.isnan(value(named, "big dog", [*word, (-4.0, 7)], (0, 3)))
    assert value("full_sentence", "big dog", [*word, (-4.0, 7)], (0, 3)) < 0
    # Elsewhere in the sentence it does not matter.
    assert value("critical_region", "big dog", [*word, (-4.0, 7)], (4, 7)) == -4


def test_end_symbol_is_left_out_but_not_the_last_bytes():
    # "aक": three byte tokens end it; only </s> takes no character after the last.
    assert value("without_end", "aक", [(-1, 1), (-2, 1), (-4, 1), (-8, 2), (-16, 2)]) == -15
    # A token of white space is one of the text, an end symbol before white space is none.
    assert value("without_end", "a ", [(-1, 1), (-2, 2)]) == -3
    assert value("without_end", "a ", [(-1, 1), (-2, 1)]) == -1


@given(st.lists(st.floats(-30, 0, width=32), min_size=1), st.lists(st.floats(-30, 0, width=32)))
def test_perplexity_decides_as_the_mean_log_probability_does(first, second):
    second = second or [-1.0]
    values = {
        named: [
            totals(find_method(named), side("a", [(v, 1) for v in row])).item()
            for row in (first, second)
        ]
        for named in ("per_token", "perplexity", "pseudo_perplexity")
    }
    assert values["perplexity"] == values["pseudo_perplexity"] == values["per_token"]
    assert find_method("perplexity").higher
    by_hand = math.exp(-math.fsum(first) / len(first))
    perplexities = shown(find_method("perplexity"), np.array(values["perplexity"]))
    assert perplexities[0] == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize(
    ("expression", "correct"),
    [
        ("sum(region)", 1.0),
        ("lower sum(region)", 0.0),
        ("-sum(region)", 0.0),
        ("lower -sum(region)", 1.0),
        ("lower exp(-mean(region))", 1.0),
        ("lower -exp(-mean(region))", 0.0),
        ("higher exp( sum( region ) / bytes )", 1.0),
    ],
)
def test_a_new_method_is_an_expression(tmp_path, expression, correct):
    good, bad = [(-1.0, 1), (-2.0, 5)], [(-1.0, 1), (-4.0, 5)]
    (row,) = judged(tmp_path, [("a big", "a cat")], [(good, bad)], method=f"own={expression}")
    assert (row["method"], row["correct"]) == ("own", correct)
    assert row["margin"] > 0 if correct else row["margin"] < 0


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("vibes", "method 'vibes' is unknown; expected one of full_sentence, without_end"),
        ("own=max(all)", "'max' in 'max(all)' is unknown; expected sum or mean or only"),
        ("own=sum(verb)", "'verb' in 'sum(verb)' is unknown; expected all or text or region"),
        ("own=sum(all) / 5", "'5' in 'sum(all) / 5' is unknown; expected characters or bytes"),
        ("own=log(sum(all))", "malformed at 'log(sum(all))'; expected one such as 'sum(all)'"),
        ("own=__import__('os')", "malformed"),
        ("own=", "malformed at ''"),
        ("Own one=sum(all)", "expected a name of lower-case letters, digits and underscores"),
    ],
)
def test_a_method_that_cannot_be_read_is_told(named, message):
    with pytest.raises(UserError) as error:
        find_method(named)
    assert message in str(error.value)


def test_campaign_takes_methods_of_its_own():
    options = MultiblimpOptions(methods=["per_byte", "own = mean(region)"])
    assert [find_method(named).name for named in options.methods] == ["per_byte", "own"]
    with pytest.raises(UserError, match="method 'vibes' is unknown; expected one of full_"):
        check_campaign({"campaign": "c", "multiblimp": {"methods": ["vibes"]}}, "here")
    with pytest.raises(ValidationError, match="names must not be repeated"):
        MultiblimpOptions(methods=["own=sum(all)", "own=mean(all)"])


def test_near_tie_scales_as_the_value_does(tmp_path):
    # Noise of 0.25 nat in a sum of four tokens is 0.0625 nat in their mean.
    rows = [([(-4 + m, 1)] * 4, [(-4.0, 1)] * 4) for m in (0.05, 0.07)]
    pairs = [("a", "b")] * 2
    for method, expected in (("per_token", [True, False]), ("full_sentence", [True, False])):
        result = judged(tmp_path, pairs, rows, method=method, near_tie=0.25)
        assert [row["near_tie"] for row in result] == expected


def test_two_methods_can_have_policies_of_their_own(tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", [("a big", "a cat")])
    row = [(-1.0, 1), (-2.0, 5)]
    scores, output = write_scores(tmp_path / "s.parquet", [(row, row)]), tmp_path / "j.parquet"
    methods = ["full_sentence", "masked_critical_word"]
    judge(items, scores, output, Rules(methods, ["right", "wrong"], 0.0))
    assert read_table(JUDGEMENTS, output)["correct"].to_pylist() == [1.0, 0.0]
    for wrong in (["right"] * 3, [], ["perhaps"]):
        with pytest.raises(UserError, match="expected distinct methods, and wrong, right, half"):
            judge(items, scores, output, Rules(methods, wrong, 0.0))
    with pytest.raises(UserError, match="expected distinct methods"):
        judge(items, scores, output, Rules(methods[:1] * 2, ["right"], 0.0))


def test_policies_are_those_of_the_papers():
    published = {
        name: tie_policy(name, "published", "full_sentence")
        for name, benchmark in benchmarks().items()
        if benchmark.ties and not paper_of(name).needs_benchmark
    }
    wrong = dict.fromkeys(("multiblimp", "blimp", "blimp_generated", "urblimp"), "wrong")
    assert published == wrong | {"clams": "right"}
    assert tie_policy("clams", "published", "masked_critical_word") == "wrong"
    assert tie_policy("clams", "corrected", "masked_critical_word") == "half"
    assert tie_policy("blimp", "corrected", "one_prefix") == "half"
    with pytest.raises(UserError, match=r"lmentry .* has no policy for ties"):
        tie_policy("lmentry", "published", "full_sentence")


@pytest.mark.slow
def test_masked_word_of_a_region_is_that_of_the_whole_sentence(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt")
    checkpoint = tiny.make_masked(corpus, tmp_path / "model" / "checkpoint.json")
    pairs = [("the dog sees the cat", "the cat sees the cat")]
    pairs.append(("the bird hears", "the unheardofbirdling hears"))
    items = tiny.write_items(tmp_path / "items.parquet", pairs)
    judged_by = {}
    for kind in ("whole", "regions"):
        store, manifest = tmp_path / kind, tmp_path / f"{kind}.json"
        whole, parts = ([items], []) if kind == "whole" else ([], [items])
        options = ScoringOptions()
        score_items(whole, checkpoint, store, manifest, "transformers", options, regions=parts)
        scores, output = tmp_path / f"{kind}.scores", tmp_path / f"{kind}.judged"
        collect_scores(items, Shards(manifest, store), scores)
        judge(items, scores, output, Rules(["masked_critical_word"], ["wrong"], 0.0))
        judged_by[kind] = read_table(JUDGEMENTS, output).to_pylist()
    first, second = judged_by["regions"]
    assert first["margin"] == pytest.approx(judged_by["whole"][0]["margin"], abs=1e-5)
    assert first["margin"] != 0
    assert (second["value_bad"], second["correct"]) == (None, None)
    assert second["value_good"] is not None
