import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from blimpworks.analysis import accuracy
from blimpworks.analysis.accuracy import compute_accuracies, wilson
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.methods import METHODS, find_method
from blimpworks.campaign.registry import benchmarks, paper_of, tie_policy
from blimpworks.errors import UserError
from blimpworks.judging.judge import UNKNOWN_ID, Rules, Side, count_repeats, in_unit, judge, totals
from blimpworks.models.corpus import SPECIALS
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.tables import ACCURACIES, JUDGEMENTS, read_table, write_rows
from support import tiny
from support.judging_kit import judged, write_scores


def whole(value):
    return [(value / 2, 1), (value / 2, 3)]


PAIR = ("a b", "a c")


@pytest.mark.parametrize(("ties", "expected"), [("wrong", 0.0), ("right", 1.0), ("half", 0.5)])
def test_tie_policy_decides_ties_only(tmp_path, ties, expected):
    rows = [(whole(-2.0), whole(-2.0)), (whole(-1.0), whole(-2.0)), (whole(-3.0), whole(-2.0))]
    result = judged(tmp_path, [PAIR] * 3, rows, ties=ties)
    assert [row["correct"] for row in result] == [expected, 1.0, 0.0]
    assert [row["tie"] for row in result] == [True, False, False]
    assert [row["margin"] for row in result] == [0.0, 1.0, -1.0]


def test_near_ties_include_ties_and_end_below_the_threshold(tmp_path):
    margins = [0.0, 0.125, -0.125, 0.25, -0.25, 0.5]
    rows = [(whole(-4.0 + margin), whole(-4.0)) for margin in margins]
    result = judged(tmp_path, [PAIR] * 6, rows, near_tie=0.25)
    assert [row["near_tie"] for row in result] == [True, True, True, False, False, False]
    assert [row["correct"] for row in result] == [0, 1, 0, 1, 0, 1]


def test_unscored_items_keep_a_null_row(tmp_path, caplog):
    nothing = [(math.nan, 3)]
    rows = [(whole(-1.0), nothing), (whole(-1.0), whole(-2.0))]
    result = judged(tmp_path, [PAIR] * 2, rows, statuses={0: "too_long"})
    assert [row["correct"] for row in result] == [None, 1.0]
    assert result[0]["value_good"] == -1.0
    assert result[0]["tie"] is None
    assert "1 of 2 judgements are null" in caplog.text


def test_item_without_critical_region_is_not_judged_by_it(tmp_path):
    columns = {"good_start": [None], "good_end": [None]}
    by = {"method": "critical_region", "columns": columns}
    (row,) = judged(tmp_path, [PAIR], [(whole(-1.0), whole(-2.0))], **by)
    assert row["correct"] is None


def test_item_in_two_conditions_is_judged_in_both(tmp_path):
    columns = {"item_id": ["i0", "i0"], "paradigm": ["SG", "PL"]}
    result = judged(tmp_path, [PAIR] * 2, [(whole(-1.0), whole(-2.0))], columns=columns)
    assert [(row["paradigm"], row["correct"]) for row in result] == [("SG", 1.0), ("PL", 1.0)]


def test_scores_of_other_items_are_refused(tmp_path):
    with pytest.raises(UserError, match="has no scores of item i1"):
        judged(tmp_path, [PAIR] * 2, [(whole(-1.0), whole(-2.0))])


def write_judgements(path, rows):
    """Write judgements from rows of (paradigm, correct or None, tie)."""
    judgements = [
        {"item_id": f"i{i}", "phenomenon": paradigm.partition("/")[0], "paradigm": paradigm}
        | {"method": "full_sentence", "correct": correct, "tie": tie, "near_tie": tie}
        for i, (paradigm, correct, tie) in enumerate(rows)
    ]
    write_rows(judgements, JUDGEMENTS, path)
    return path


def test_accuracies_are_micro_averages_with_intervals(tmp_path, caplog):
    rows = [("n/SG", 1.0, False)] * 3 + [("n/PL", 0.0, True)] + [("p/1", 1.0, False)]
    rows += [("n/PL", None, None), ("q/1", None, None)]
    path = write_judgements(tmp_path / "m.parquet", rows)
    compute_accuracies([("m", "eng", path)], "multiblimp", tmp_path / "out.parquet")
    table = read_table(ACCURACIES, tmp_path / "out.parquet").to_pylist()
    result = {(r["phenomenon"], r["paradigm"]): r for r in table}
    assert {key: (r["correct"], r["n"]) for key, r in result.items()} == {
        ("n", "n/SG"): (3, 3),
        ("n", "n/PL"): (0, 1),
        ("n", "all"): (3, 4),
        ("p", "p/1"): (1, 1),
        ("p", "all"): (1, 1),
        ("all", "all"): (4, 5),
    }
    assert {key: r["skipped"] for key, r in result.items() if r["skipped"]} == {
        ("n", "n/PL"): 1,
        ("n", "all"): 1,
        ("all", "all"): 2,
    }
    total = result["all", "all"]
    assert (total["ties"], total["near_ties"], total["accuracy"]) == (1, 1, 0.8)
    assert (total["low"], total["high"]) == pytest.approx(proportion_confint(4, 5, method="wilson"))
    assert (total["model"], total["lang"], total["benchmark"]) == ("m", "eng", "multiblimp")
    assert "2 of 7 rows have no judgement" in caplog.text


VERDICTS = [("n/SG", 1.0, False), ("n/PL", 0.5, True), ("p/1", 0.0, False), ("p/1", None, None)]
TABLES = st.lists(st.lists(st.sampled_from(VERDICTS), max_size=5), min_size=1, max_size=6)


@settings(max_examples=20)  # each writes and reads a dozen files
@given(TABLES, st.integers(1, 20))
def test_tables_are_summarised_together_as_each_alone(tables, block):
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(accuracy, "BLOCK_ROWS", block)
        judgements = [
            (f"m{n % 2}", f"l{n:02}", write_judgements(folder / f"{n}.parquet", rows))
            for n, rows in enumerate(tables)
        ]
        alone = []
        for each in judgements:
            compute_accuracies([each], "multiblimp", folder / "alone", ["m1"])
            alone += read_table(ACCURACIES, folder / "alone").to_pylist()
        compute_accuracies(judgements, "multiblimp", folder / "together", ["m1"])
        assert read_table(ACCURACIES, folder / "together").to_pylist() == alone


@pytest.mark.parametrize(
    ("column", "name"), [("phenomenon", "all"), ("paradigm", "all"), ("paradigm", None)]
)
def test_a_group_that_is_named_as_the_total_or_has_no_name_is_refused(tmp_path, column, name):
    path = write_judgements(tmp_path / "m.parquet", [("n/PL", 1.0, False)] * 2)
    first, second = read_table(JUDGEMENTS, path).to_pylist()
    write_rows([{**first, column: name}, second], JUDGEMENTS, path)
    with pytest.raises(UserError, match=r"m\.parquet: a p\w+ is ('all'|None); expected a name"):
        compute_accuracies([("m", "eng", path)], "multiblimp", tmp_path / "out.parquet")


@given(st.integers(1, 500), st.data())
def test_interval_holds_the_proportion_and_is_scipys(n, data):
    correct = data.draw(st.integers(0, n))
    low, high = wilson(correct, n)
    known = binomtest(correct, n).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((known.low, known.high), abs=1e-14)
    assert 0 <= low <= correct / n + 1e-12
    assert correct / n - 1e-12 <= high <= 1


KNOWN, UNKNOWN = 7, UNKNOWN_ID


def test_the_unknown_word_has_one_id_in_all_models_that_know_whole_words(tmp_path):
    text = tiny.write_corpus(tmp_path / "text.txt")
    tiny.make_ngram(text, tmp_path / "ngram" / "checkpoint.json")
    words = (tmp_path / "ngram" / "vocabulary.txt").read_text().splitlines()
    assert words[UNKNOWN_ID] == SPECIALS[UNKNOWN_ID] == "<unk>"


@pytest.mark.parametrize(
    ("unknown", "expected"),
    [(None, [1.0, 1.0, 1.0]), ("critical", [1.0, 1.0, None]), ("any", [1.0, None, None])],
)
def test_pairs_with_unknown_words_are_left_out_as_the_campaign_wants(tmp_path, unknown, expected):
    columns = {side: [2, 2, 2] for side in ("good_start", "bad_start")}
    columns |= {side: [3, 3, 3] for side in ("good_end", "bad_end")}
    rows = [(whole(-1.0), whole(-2.0))] * 3
    ids = {(1, "good"): [UNKNOWN, KNOWN], (2, "bad"): [KNOWN, UNKNOWN]}
    result = judged(tmp_path, [PAIR] * 3, rows, unknown=unknown, ids=ids, columns=columns)
    assert [row["correct"] for row in result] == expected


def test_one_item_more_is_correct_in_each_paradigm_where_the_authors_count_so(tmp_path):
    rows = [(whole(-1.0), whole(-2.0))] + [(whole(-2.0), whole(-1.0))] * 3
    judged(tmp_path, [PAIR] * 4, rows)
    named = [("m", "eng", tmp_path / "judgements.parquet")]
    compute_accuracies(named, "clams", tmp_path / "out", ["m"])
    result = read_table(ACCURACIES, tmp_path / "out").to_pylist()
    accuracies = {(row["paradigm"] == "all", row["accuracy"]) for row in result}
    assert accuracies == {(False, 2 / 5), (True, 1 / 4)}
    assert {(row["correct"], row["n"]) for row in result} == {(1.0, 4)}


def named(*rows):
    return pa.table({"item_id": [r[0] for r in rows], "value": [r[1] for r in rows]})


def test_a_name_may_stand_again_for_the_same_thing_and_not_for_another():
    path, nan = Path("scores.parquet"), float("nan")
    same = named(("a", [1.0, nan]), ("b", None), ("a", [1.0, nan]), ("b", None), ("a", [1.0, nan]))
    assert count_repeats(same, ["item_id"], ["value"], path, "scores") == 3
    once = named(("a", [1.0]), ("b", [1.0]))
    assert count_repeats(once, ["item_id"], ["value"], path, "scores") == 0
    assert count_repeats(once[:0], ["item_id"], ["value"], path, "scores") == 0
    message = r"^scores\.parquet: rows 1 and 3 are both of 'a', but have different scores; expected"
    other = named(("a", [1.0]), ("b", [1.0]), ("a", [2.0]))
    with pytest.raises(UserError, match=message):
        count_repeats(other, ["item_id"], ["value"], path, "scores")


def side(text, tokens, span=(-1, -1)):
    """Return one sentence from (log-probability, end) of its tokens."""
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
    (result,) = in_unit(method, totals(method, side(*arguments)))
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
        # The space shares a token with the word, or is a separate token: the continuation is the
        # same.
        ("a big dog", [(-1, 1), (-2, 5), (-4, 9)], (2, 5), -2),
        ("a big dog", [(-1, 1), (-8, 2), (-2, 5), (-4, 9)], (2, 5), -10),
        # A token of the prefix that ends in the space is not part of the word.
        ("a big dog", [(-1, 2), (-2, 5), (-4, 9)], (2, 5), -2),
        # Two spaces, and a region that starts the sentence after an empty token.
        ("a  big", [(-1, 1), (-8, 2), (-16, 3), (-2, 6)], (3, 6), -26),
        ("big dog", [(-8, 0), (-2, 3), (-4, 7)], (0, 3), -10),
        # A character in three byte tokens: the first two end before it.
        ("a कb c", [(-1, 2), (-2, 2), (-4, 3), (-8, 4), (-16, 6), (-32, 6)], (2, 4), -14),
        # The end symbol follows a region that ends the sentence.
        ("a कb c", [(-1, 2), (-2, 2), (-4, 3), (-8, 4), (-16, 6), (-32, 6)], (5, 6), -16),
    ],
)
def test_region_is_the_word_and_the_space_that_joins_it(text, tokens, span, expected):
    assert value("critical_region", text, tokens, span) == expected


@pytest.mark.parametrize("named", ["critical_region", "own=mean(region)", "masked_critical_word"])
def test_region_with_an_unscored_token_has_no_value(named):
    # Its first token has no score under skip, so the word has none.
    word = [(math.nan, 2), (-2.0, 3)] if named != "masked_critical_word" else [(math.nan, 3)]
    assert math.isnan(value(named, "big dog", [*word, (-4.0, 7)], (0, 3)))
    assert value("full_sentence", "big dog", [*word, (-4.0, 7)], (0, 3)) < 0
    # An unscored token outside the region has no effect.
    assert value("critical_region", "big dog", [*word, (-4.0, 7)], (4, 7)) == -4


def test_end_symbol_is_left_out_but_not_the_last_bytes():
    # "aक": three byte tokens end it; only </s> takes no character after the last.
    assert value("without_end", "aक", [(-1, 1), (-2, 1), (-4, 1), (-8, 2), (-16, 2)]) == -15
    # A token of white space belongs to the text; an end symbol before white space does not.
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
    perplexities = in_unit(find_method("perplexity"), np.array(values["perplexity"]))
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
        ("full_sentence=sum(region)", "is 'sum(all)' here, not 'sum(region)'"),
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
    with pytest.raises(ValidationError, match="is named twice"):
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
