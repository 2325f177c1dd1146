import hashlib
import json
import math

import pyarrow as pa
import pytest
import tiny
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint
from test_judging import write_scores
from typer.testing import CliRunner

from blimpworks.cli import app
from blimpworks.config import NearTies, ParityOptions
from blimpworks.errors import UserError
from blimpworks.provenance.record import sidecar_path
from blimpworks.scoring.methods import find_method
from blimpworks.scoring.parity import (
    Compared,
    decision_differences,
    sample_items,
    score_differences,
)
from blimpworks.scoring.variants import parse_variant
from blimpworks.tables import ITEMS, PARITY, SCORES, read_table, write_table

METHOD = find_method("full_sentence")
NEAR = NearTies(float32=0.5, bfloat16=2.0)


def ids(path):
    return read_table(ITEMS, path)["item_id"].to_pylist()


def test_a_sample_is_the_items_of_lowest_digest_whatever_else_there_is(tmp_path):
    pairs = [(f"a b{i}", f"a c{i}") for i in range(20)]
    whole = tiny.write_items(tmp_path / "all.parquet", pairs)
    backwards = read_table(ITEMS, whole).take(pa.array(range(19, -1, -1)))
    write_table(backwards, ITEMS, tmp_path / "backwards.parquet")
    digests = {f"i{i}": hashlib.blake2b(f"i{i}".encode()).digest() for i in range(20)}
    found = {}
    for name in ("all", "backwards"):
        for count in (5, 8, 100):
            output = tmp_path / f"{name}{count}.parquet"
            found[name, count] = sample_items([tmp_path / f"{name}.parquet"], count, output)
            assert ids(output) == sorted(digests, key=digests.__getitem__)[:count]
    assert found["all", 5] == found["backwards", 5] != found["all", 8]
    assert len(ids(tmp_path / "all100.parquet")) == 20


def test_a_sample_is_drawn_from_several_tables_and_holds_an_item_once(tmp_path):
    twice = {"item_id": ["x", "x"], "paradigm": ["SG", "PL"]}
    first = tiny.write_items(tmp_path / "a.parquet", [("a b", "a c")] * 2, **twice)
    second = tiny.write_items(tmp_path / "b.parquet", [("d e", "d f")])
    sample_items([first, second], 10, tmp_path / "s.parquet")
    assert sorted(ids(tmp_path / "s.parquet")) == ["i0", "x"]
    other = tiny.write_items(tmp_path / "c.parquet", [("d e", "d g")])
    with pytest.raises(UserError, match="item i0 is another pair elsewhere"):
        sample_items([second, other], 10, tmp_path / "s.parquet")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("transformers", {}),
        ("transformers:bfloat16:skip", {"dtype": "bfloat16", "first_token": "skip"}),
        ("transformers:skip:bfloat16", {"dtype": "bfloat16", "first_token": "skip"}),
        ("transformers:sharing-never", {"sharing": "never"}),
        ("vllm:batch_tokens=64", {"batch_tokens": 64}),
        ("vllm:in-process", {"vllm": {"mode": "in_process"}}),
        ("transformers:within-word", {"masked": {"pll": "within_word_l2r"}}),
        ("kenlm:near_tie.float32=0.5", {"near_tie": {"float32": 0.5}}),
    ],
)
def test_a_variant_is_an_engine_with_settings(name, settings):
    variant = parse_variant(name)
    assert (variant.engine, variant.settings) == (name.split(":")[0], settings)
    base = {"batch_tokens": 32, "near_tie": {"bfloat16": 1.0}}
    options = variant.options(base).model_dump()
    assert options["batch_tokens"] == settings.get("batch_tokens", 32)
    assert options["near_tie"]["bfloat16"] == 1.0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpt", "engine 'gpt' is unknown; expected one of vllm, transformers"),
        ("vllm:fp8", "'fp8' is no setting; expected float32, bfloat16"),
        ("vllm:batch_token=3", "did you mean 'batch_tokens'"),
        ("vllm:batch_tokens=0", "key 'batch_tokens' is 0: input should be greater than 0"),
    ],
)
def test_a_variant_that_does_not_exist_is_told(name, told):
    with pytest.raises(UserError) as error:
        parse_variant(name)
    assert told in str(error.value)


def test_settings_offer_variants_that_exist():
    options = ParityOptions()
    for name in (options.reference, *options.variants):
        parse_variant(name)


def compared(path, rows, dtype="float32", **more):
    items = tiny.write_items(path.with_suffix(".items"), [("a b", "a c")] * len(rows))
    scores = read_table(SCORES, write_scores(path, rows, **more))
    variant = parse_variant(f"transformers:{dtype}")
    items = read_table(ITEMS, items)
    return Compared(variant, dtype, "bos", items, scores, "key", None)


def tokens(*values):
    return [(value, min(i + 1, 3)) for i, value in enumerate(values)]


def test_differences_of_scores_by_hand(tmp_path):
    reference = compared(
        tmp_path / "r",
        [(tokens(-1, -2), tokens(-1, -4)), (tokens(-3, -1), tokens(-2, -2, -2))],
    )
    other = compared(
        tmp_path / "o",
        # An unscored first token, and a sentence of another number of tokens.
        [(tokens(math.nan, -2.5), tokens(-1, -4)), (tokens(-3, -1.25), tokens(-5, -1))],
    )
    found = score_differences(other, reference)
    assert (found["tokens"], found["unmatched"]) == (7, 3)
    assert found["token_max"] == 0.5
    assert found["token_mean"] == pytest.approx((0.5 + 0.25) / 5)
    assert found["sentence_max"] == 0.25
    same = score_differences(reference, reference)
    assert same["token_max"] == same["sentence_mean"] == same["unmatched"] == 0
    assert same["tokens"] == 9


def test_differences_of_decisions_by_hand(tmp_path):
    def pair(margin):
        return tokens(-4 + margin), tokens(-4.0)

    # Margins of the reference and of the other; the last has no score.
    margins = [(3, 3), (3, -3), (0.25, -3), (3, -1), (-3, 1), (-3, -3), (0, 0), (1, math.nan)]
    reference = compared(tmp_path / "r", [pair(r) for r, _ in margins])
    other = compared(tmp_path / "o", [pair(o) for _, o in margins], dtype="bfloat16")
    found = decision_differences(METHOD, other, reference, NEAR)
    assert {key: found[key] for key in ("n", "skipped", "ties", "near_ties", "near_tie")} == {
        "n": 7,
        "skipped": 1,
        "ties": 1,
        "near_ties": 3,
        "near_tie": 2.0,
    }
    # Of four flips one is far from a tie in both: the one from 3 to -3.
    assert (found["flips"], found["flips_beyond"], found["correct"]) == (4, 1, 2)
    assert (found["margin_max"], found["margin_mean"]) == (6.0, pytest.approx(17.25 / 7))
    assert found["p"] == pytest.approx(binomtest(1, 4).pvalue)
    interval = proportion_confint(4, 7, method="wilson")
    assert (found["flip_low"], found["flip_high"]) == pytest.approx(interval)
    interval = proportion_confint(2, 7, method="wilson")
    assert (found["low"], found["high"]) == pytest.approx(interval)
    assert found["accuracy"] == 2 / 7


def test_nothing_in_common_is_no_rate(tmp_path):
    nothing = compared(tmp_path / "n", [(tokens(math.nan), tokens(-1))], statuses={0: "empty"})
    found = decision_differences(METHOD, nothing, nothing, NEAR)
    assert (found["n"], found["skipped"], found["margin_max"]) == (0, 1, None)
    assert "accuracy" not in found


def report(*arguments):
    done = CliRunner().invoke(app, ["parity", *map(str, arguments)])
    if done.exception:
        raise done.exception
    return done.output


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    root = tmp_path_factory.mktemp("parity")
    corpus = tiny.write_corpus(root / "text.txt")
    checkpoint = tiny.make_transformer(corpus, root / "model" / "checkpoint.json")
    good = sorted(set(tiny.sentences(40, seed=3)))
    pairs = [(s, s.replace("the ", "", 1)) for s in good]
    return checkpoint, tiny.write_items(root / "items.parquet", pairs)


@pytest.mark.slow
def test_number_format_and_first_token_are_measured_against_float32(trained, tmp_path):
    checkpoint, items = trained
    variants = ("--variant", "transformers:bfloat16", "--variant", "transformers:skip")
    methods = ("--method", "full_sentence", "--method", "own=mean(region)")
    where = (checkpoint, items, "--output", tmp_path, "--pairs", 20, *variants, *methods)
    page = report(*where)
    rows = read_table(PARITY, tmp_path / "parity.parquet").to_pylist()
    assert [(r["variant"], r["method"]) for r in rows] == [
        (variant, method)
        for method in ("full_sentence", "own")
        for variant in (ParityOptions().reference, "transformers:bfloat16", "transformers:skip")
    ]
    itself, rounded, without = rows[:3]
    assert itself["n"] + itself["skipped"] == 20
    assert itself["token_max"] == itself["flips"] == itself["unmatched"] == 0
    assert 0 < rounded["token_max"] < 0.25
    assert rounded["tokens"] == itself["tokens"]
    assert rounded["unmatched"] == 0
    # Each of the 40 sentences loses its first token, and the others are scored alone.
    assert (without["first_token"], without["unmatched"]) == ("skip", 40)
    assert without["tokens"] == itself["tokens"] - 40
    assert without["sentence_max"] > 1
    for text in ("transformers:bfloat16", "## Decisions by own", "20 pairs"):
        assert text in page
    assert page.strip() == (tmp_path / "parity.md").read_text(encoding="utf-8").strip()
    record = json.loads(sidecar_path(tmp_path / "parity.parquet").read_text(encoding="utf-8"))
    assert record["notes"]["pairs"] == 20
    assert record["notes"]["engines"].keys() == {r["variant"] for r in rows}
    before = tiny.contents(tmp_path)
    assert report(*where) == page
    after = tiny.contents(tmp_path)
    changed = {name for name in before if before[name] != after[name]}
    assert {name.rpartition("/")[2] for name in changed} <= {
        "log.txt",
        "manifest.json.prov.json",
        "parity.parquet.prov.json",
    }


@pytest.mark.slow
def test_a_variant_that_cannot_be_scored_is_told_with_its_reason(trained, tmp_path):
    checkpoint, items = trained
    with pytest.raises(UserError) as error:
        report(
            *(checkpoint, items, "--output", tmp_path),
            *("--variant", "kenlm", "--reference", "kenlm"),
        )
    assert "variant 'kenlm' could not be scored: " in str(error.value)
    assert "engine 'kenlm' cannot run architecture 'causal'" in str(error.value)
    assert not (tmp_path / "parity.md").exists()


def test_an_interpreter_without_its_engine_is_told(tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", [("a b", "a c")])
    with pytest.raises(UserError, match="expected ENGINE=PATH"):
        report(*(items, items, "--output", tmp_path, "--variant", "vllm", "--python", "bin/python"))
