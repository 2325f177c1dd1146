import hashlib
import math
import re
from types import SimpleNamespace

import pyarrow as pa
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from blimpworks.analysis import parity
from blimpworks.analysis import scoring_variants as variants
from blimpworks.analysis.scoring_variants import parse_variant
from blimpworks.audit.check import audit
from blimpworks.campaign.engines import architectures, comparison_of
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.settings.scoring import NearTies, ParityOptions
from blimpworks.errors import UserError
from blimpworks.tables import ITEMS, PARITY, SCORES, read_table, write_table
from support import tiny
from support.commands import run
from support.judging_kit import write_scores

METHOD = find_method("full_sentence")
NEAR = NearTies(float32=0.5, bfloat16=2.0)
REFERENCE = comparison_of("causal", None, None).reference


def ids(path):
    return read_table(ITEMS, path)["item_id"].to_pylist()


def test_a_sample_is_the_items_of_lowest_digest_whatever_else_there_is(tmp_path):
    pairs = [(f"a b{i}", f"a c{i}") for i in range(20)]
    whole = tiny.write_items(tmp_path / "all.parquet", pairs)
    backwards = read_table(ITEMS, whole).take(pa.array(range(19, -1, -1)))
    write_table(backwards, ITEMS, tmp_path / "backwards.parquet")
    digests = {f"i{i}": hashlib.blake2b(f"i{i}".encode()).digest() for i in range(20)}
    samples = {}
    for name in ("all", "backwards"):
        for count in (5, 8, 100):
            table, output = tmp_path / f"{name}.parquet", tmp_path / f"{name}{count}.parquet"
            samples[name, count] = parity.sample_items([table], count, output)
            assert ids(output) == sorted(digests, key=digests.__getitem__)[:count]
    assert samples["all", 5] == samples["backwards", 5] != samples["all", 8]
    assert len(ids(tmp_path / "all100.parquet")) == 20


def test_a_sample_is_drawn_from_several_tables_and_holds_an_item_once(tmp_path):
    twice = {"item_id": ["x", "x"], "paradigm": ["SG", "PL"]}
    first = tiny.write_items(tmp_path / "a.parquet", [("a b", "a c")] * 2, **twice)
    second = tiny.write_items(tmp_path / "b.parquet", [("d e", "d f")])
    parity.sample_items([first, second], 10, tmp_path / "s.parquet")
    assert sorted(ids(tmp_path / "s.parquet")) == ["i0", "x"]
    other = tiny.write_items(tmp_path / "c.parquet", [("d e", "d g")])
    with pytest.raises(UserError, match="item i0 is another pair in another table"):
        parity.sample_items([second, other], 10, tmp_path / "s.parquet")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("transformers", {}),
        ("transformers:bfloat16:skip", {"dtype": "bfloat16", "first_token": "skip"}),
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
    ("name", "message"),
    [
        ("gpt", "variant 'gpt': engine 'gpt' is unknown; expected one of transformers, vllm"),
        ("vllm:fp8", "'fp8' is no setting; expected float32, bfloat16"),
        ("vllm:batch_token=3", "did you mean 'batch_tokens'"),
        ("vllm:batch_tokens=0", "key 'batch_tokens' is 0: input should be greater than 0"),
    ],
)
def test_a_variant_that_does_not_exist_is_told(name, message):
    with pytest.raises(UserError, match=re.escape(message)):
        parse_variant(name)


@pytest.mark.parametrize("architecture", architectures())
def test_what_is_compared_by_default_every_model_can_have(architecture):
    options = ParityOptions()
    compared = comparison_of(architecture, options.reference, options.variants)
    for name in (compared.reference, *compared.variants):
        assert parse_variant(name).why_impossible(architecture, {}) is None


def test_what_is_named_is_compared():
    compared = comparison_of("masked", "transformers", ["transformers:float16"])
    assert compared == ("transformers", ("transformers:float16",))
    assert comparison_of("masked", None, []) == ("transformers:float32", ())
    with pytest.raises(UserError, match="architecture 'rnn' is unknown; expected one of causal"):
        comparison_of("rnn", None, None)


def compared(path, rows, dtype="float32", **more):
    items = tiny.write_items(path.with_suffix(".items"), [("a b", "a c")] * len(rows))
    scores = read_table(SCORES, write_scores(path, rows, **more))
    variant = parse_variant(f"transformers:{dtype}")
    items = read_table(ITEMS, items)
    return parity.Compared(variant, dtype, "bos", items, scores, "key", None)


def tokens(*values):
    return [(value, min(i + 1, 3)) for i, value in enumerate(values)]


def test_differences_of_scores_by_hand(tmp_path):
    reference = compared(
        tmp_path / "r", [(tokens(-1, -2), tokens(-1, -4)), (tokens(-3, -1), tokens(-2, -2, -2))]
    )
    other = compared(
        tmp_path / "o",
        # An unscored first token, and a sentence with another number of tokens.
        [(tokens(math.nan, -2.5), tokens(-1, -4)), (tokens(-3, -1.25), tokens(-5, -1))],
    )
    differences = parity.score_differences(other, reference)
    assert (differences["tokens"], differences["unmatched"]) == (7, 3)
    assert differences["token_max"] == 0.5
    assert differences["token_mean"] == pytest.approx((0.5 + 0.25) / 5)
    assert differences["sentence_max"] == 0.25
    same = parity.score_differences(reference, reference)
    assert same["token_max"] == same["sentence_mean"] == same["unmatched"] == 0
    assert same["tokens"] == 9


def test_differences_of_decisions_by_hand(tmp_path):
    def pair(margin):
        return tokens(-4 + margin), tokens(-4.0)

    # Margins of the reference and of the run compared with it; the last has no score.
    margins = [(3, 3), (3, -3), (0.25, -3), (3, -1), (-3, 1), (-3, -3), (0, 0), (1, math.nan)]
    reference = compared(tmp_path / "r", [pair(r) for r, _ in margins])
    other = compared(tmp_path / "o", [pair(o) for _, o in margins], dtype="bfloat16")
    differences = parity.decision_differences(METHOD, other, reference, NEAR)
    counts = [differences[key] for key in ("n", "skipped", "ties", "near_ties", "near_tie")]
    assert counts == [7, 1, 1, 3, 2.0]
    # Only the flip from 3 to -3 is far from a tie in both.
    assert (differences["flips"], differences["flips_beyond"], differences["correct"]) == (4, 1, 2)
    assert differences["margin_max"] == 6.0
    assert differences["margin_mean"] == pytest.approx(17.25 / 7)
    assert differences["p"] == pytest.approx(binomtest(1, 4).pvalue)
    interval = proportion_confint(4, 7, method="wilson")
    assert (differences["flip_low"], differences["flip_high"]) == pytest.approx(interval)
    interval = proportion_confint(2, 7, method="wilson")
    assert (differences["low"], differences["high"]) == pytest.approx(interval)
    assert differences["accuracy"] == 2 / 7


def test_nothing_in_common_is_no_rate(tmp_path):
    nothing = compared(tmp_path / "n", [(tokens(math.nan), tokens(-1))], statuses={0: "empty"})
    differences = parity.decision_differences(METHOD, nothing, nothing, NEAR)
    assert (differences["n"], differences["skipped"], differences["margin_max"]) == (0, 1, None)
    assert "accuracy" not in differences


def test_seconds_are_of_a_run_that_scored_the_same_sample(tmp_path, monkeypatch):
    def score(*_, **__):
        (tmp_path / "variants" / "kenlm" / "shards").mkdir(parents=True, exist_ok=True)
        return SimpleNamespace(returncode=0)

    described = SimpleNamespace(architecture="causal", engine="kenlm 1")
    monkeypatch.setattr(variants.subprocess, "run", score)
    monkeypatch.setattr(variants, "read_description", lambda _: described)
    monkeypatch.setattr(variants, "Shards", lambda *_: SimpleNamespace(described=described))
    monkeypatch.setattr(variants, "collect_scores", lambda *_: None)
    record = tmp_path / "record.json"
    record.write_text('{"started": "2026-01-01T00:00:00", "ended": "2026-01-01T00:00:09"}')
    monkeypatch.setattr(variants, "sidecar_path", lambda _: record)
    parsed, pythons = parse_variant("kenlm"), {"kenlm": "python"}
    monkeypatch.setattr(variants.Variant, "why_impossible", lambda *_: None)
    seconds = []
    for sentences in (["a b"], ["a b"], ["a b", "c d"]):
        items = tiny.write_items(tmp_path / "items", [(text, "x") for text in sentences])
        scored = variants.score_variant(parsed, items, record, tmp_path, {}, pythons)
        seconds.append(scored[2])
    assert seconds == [9, 9, None]


@pytest.fixture(scope="module")
def trained(trained, tmp_path_factory):
    pairs = [(s, s.replace("the ", "", 1)) for s in sorted({*tiny.sentences(40, seed=3)})]
    items = tmp_path_factory.mktemp("parity") / "items.parquet"
    return trained("causal"), tiny.write_items(items, pairs)


@pytest.mark.long
def test_number_format_and_first_token_are_measured_against_float32(trained, tmp_path):
    checkpoint, items = trained
    methods = ("--method", "full_sentence", "--method", "own=mean(region)")
    where = (checkpoint, items, "--output", tmp_path, "--pairs", 20, *methods)
    page = run("parity", *where)
    rows = read_table(PARITY, tmp_path / "parity.parquet").to_pylist()
    compared = [REFERENCE, "transformers:bfloat16", "transformers:skip"]
    assert [row["variant"] for row in rows] == compared * 2
    assert [row["method"] for row in rows] == ["full_sentence"] * 3 + ["own"] * 3
    itself, rounded, without = rows[:3]
    assert itself["n"] + itself["skipped"] == 20
    assert itself["token_max"] == itself["flips"] == itself["unmatched"] == 0
    assert 0 < rounded["token_max"] < 0.25
    assert rounded["tokens"] == itself["tokens"]
    assert rounded["unmatched"] == 0
    # Each of the 40 sentences loses its first token, and the other tokens are scored without it.
    assert (without["first_token"], without["unmatched"]) == ("skip", 40)
    assert without["tokens"] == itself["tokens"] - 40
    assert without["sentence_max"] > 1
    for text in ("transformers:bfloat16", "## Decisions by own", "20 pairs"):
        assert text in page
    assert page.strip() == (tmp_path / "parity.md").read_text(encoding="utf-8").strip()
    before = tiny.contents(tmp_path)
    assert run("parity", *where) == page
    after = tiny.contents(tmp_path)
    changed = {name for name in before if before[name] != after[name]}
    records = {"log.txt", "manifest.json.prov.json", "parity.parquet.prov.json"}
    assert {name.rpartition("/")[2] for name in changed} <= records


def test_a_token_with_bars_stays_in_its_cell():
    rows = parity._markdown([{"variant": "transformers:first_token=token:<|end|>", "n": "1"}], 1)
    assert r"token:\<\|end\|>" in rows
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows.splitlines()} == {3}


def rows_of(output):
    return read_table(PARITY, output / "parity.parquet").to_pylist()


@pytest.mark.slow
def test_what_a_model_cannot_have_is_a_line_with_its_reason(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(variants, "REPOSITORY", tmp_path)
    monkeypatch.setattr(variants, "find_spec", lambda name: name != "vllm" or None)
    checkpoint, items = trained
    options = ("--reference", "transformers", "--variant", "kenlm", "--variant", "vllm")
    page = run("parity", checkpoint, items, "--output", tmp_path, *options)
    first, *impossible = rows_of(tmp_path)
    reasons = {
        "kenlm": "the engine kenlm runs no causal models",
        "vllm": "no Python here has the engine vllm; install it (by `bash envs/install.sh "
        "vllm-cuda` for GPUs, `make vllm` for processors), or name a Python that has it by "
        "--python vllm=PATH",
    }
    assert {row["variant"]: row["impossible"] for row in impossible} == reasons
    numbers = first.keys() - {"variant", "method", "impossible"}
    assert {row[name] for row in impossible for name in numbers} == {None}
    assert (first["impossible"], first["flips"]) == (None, 0)
    for name, reason in reasons.items():
        assert f"\n- {name} is not possible: {reason}." in page
    csv = (tmp_path / "parity.csv").read_text(encoding="utf-8")
    assert f"kenlm,,,{reasons['kenlm']},full_sentence,,," in csv
    assert f"transformers,float32,bos,,full_sentence,{first['tokens']},0," in csv


@pytest.mark.long
@pytest.mark.parametrize("architecture", sorted({*tiny.MAKERS} - {"causal"}))
def test_every_kind_of_model_has_a_report_without_further_settings(architecture, tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 60)
    checkpoint = tiny.MAKERS[architecture](corpus, tmp_path / "model" / "checkpoint.json")
    # Words of several tokens, for which the two ways to mask a word differ.
    pairs = [("the unheardof dogs see", "the unheardof dogs sees"), ("cats hear", "cats hears")]
    items = tiny.write_items(tmp_path / "items.parquet", pairs)
    page = run("parity", checkpoint, items, "--output", tmp_path / "out")
    rows = rows_of(tmp_path / "out")
    usual = comparison_of(architecture, None, None)
    assert [row["variant"] for row in rows] == [usual.reference, *usual.variants]
    assert [row["impossible"] for row in rows] == [None] * len(rows)
    assert "not possible" not in page
    assert all(row["token_max"] > 0 for row in rows[1:] if row["variant"] != "lstm:skip")
    assert rows[0]["token_max"] == 0
    assert audit(tmp_path / "out").findings == []
    if architecture == "lstm":
        # First tokens are unscored; later ones keep the scores that they have after a word.
        assert rows[1]["unmatched"] == 2 * len(pairs)
    if architecture == "ngram":
        assert rows[0]["near_tie"] == 0.0


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [
        (1, UserError, "variant 'transformers' could not be scored: blimpworks: no"),
        (2, variants.Impossible, "^no$"),
    ],
)
def test_scoring_that_breaks_off_is_no_reason(status, error, message, trained, tmp_path):
    checkpoint, items = trained
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho 'blimpworks: no'\nexit {status}\n")
    python.chmod(0o755)
    pythons = {"transformers": str(python)}
    variant = parse_variant("transformers")
    with pytest.raises(error, match=message):
        variants.score_variant(variant, items, checkpoint, tmp_path, {}, pythons)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--python", "bin/python"), "expected ENGINE=PATH"),
        (("--python", "vllm=no/python"), "'no/python' for vllm, but no such program exists"),
        (("--reference", "kenlm"), "the reference 'kenlm' is not possible: the engine kenlm runs"),
    ],
)
def test_an_impossible_report_is_refused(options, message, trained, tmp_path):
    checkpoint, items = trained
    with pytest.raises(UserError, match=message):
        run("parity", checkpoint, items, "--output", tmp_path, *options)
    assert not (tmp_path / "parity.md").exists()
