"""Test engines of all architectures: options, batches, and sums of minicons and the harness."""

import json
import logging

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from blimpworks.analysis.scoring_variants import parse_variant
from blimpworks.campaign.engines import default_engine, find_scorer
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.items import APART
from blimpworks.judging.judge import Side, totals
from blimpworks.models.checkpoint import read_checkpoint, seal
from blimpworks.scoring.engine import Encoded, load_engine
from support import tiny

FORMATS, STARTS = ("float32", "bfloat16", "float16"), ("bos", "eos", "skip", "token:</s>")


def open_engine(checkpoint, **settings):
    architecture = read_checkpoint(checkpoint).architecture
    name = default_engine(architecture).name
    return load_engine(checkpoint, name, ScoringOptions(**settings))


TEXTS = ["the dog sees the cat.", "the nurse hears the birds", "teachers like the água!", "dog"]
PSEUDO_LIKELIHOODS = ("original", "within_word_l2r", "next_token")
SEQ2SEQ_FORMS = ("masked", "target", "copy", "masked_after_bos", "continued")
FORMS = [
    ("lstm", {}),
    *(("masked", {"masked": {"pll": pll}}) for pll in PSEUDO_LIKELIHOODS),
    *(("encoder-decoder", {"seq2seq": {"form": form}}) for form in SEQ2SEQ_FORMS),
]


@pytest.mark.parametrize(("architecture", "form"), FORMS)
def test_neither_threads_nor_batches_nor_their_order_change_a_score(trained, architecture, form):
    def engine_of(most):
        return open_engine(trained(architecture), batch_tokens=most, **form)

    one, several = tiny.bytes_by_threads(lambda: engine_of(40), TEXTS)
    assert one == several
    rows = []
    for most in (1, 40, 8192):
        engine = engine_of(most)
        encoded = engine.encode(TEXTS)
        rows.append(np.concatenate(engine.logprobs(encoded)))
        backwards = np.concatenate(engine.logprobs(encoded[::-1])[::-1])
        assert rows[-1].tolist() == backwards.tolist()
    assert rows[0] == pytest.approx(rows[2], abs=1e-5)
    assert rows[1] == pytest.approx(rows[2], abs=1e-5)


@pytest.mark.parametrize(
    ("architecture", "options", "statuses"),
    [
        # The end of an empty text can be scored if a token precedes it.
        ("lstm", {}, ["ok"] * 4),
        ("lstm", {"first_token": "skip"}, ["ok", "empty", "empty", "ok"]),
        ("masked", {}, ["too_long", "empty", "empty", "ok"]),
        *(("encoder-decoder", {"seq2seq": {"form": form}}, ["ok", "empty", "ok", "ok"])
          for form in SEQ2SEQ_FORMS),
    ],
)  # fmt: skip
def test_long_and_empty_texts(trained, architecture, options, statuses):
    engine = open_engine(trained(architecture), **options)
    table = tiny.shard_of(engine, ["dog " * 100, "", " ", "dog"])
    assert table["status"].to_pylist() == statuses
    assert np.isfinite(table["logprobs"][3].as_py()[-1])


def test_what_moves_a_number_is_part_of_the_key(trained):
    sharing = [{"sharing": sharing} for sharing in ("auto", "always", "never")]
    options = [
        *((name, form | {"batch_tokens": most}) for name, form in FORMS for most in (100, 200)),
        *((name, some) for name in ("causal", "lstm") for some in sharing),
        *(("lstm", option) for option in ({"first_token": "skip"}, {"shard": 10})),
    ]
    keys = {open_engine(trained(architecture), **some).key for architecture, some in options}
    assert len(keys) == len(options)


@pytest.mark.parametrize(
    ("architecture", "pass_of"), [("masked", "_score_rows"), ("encoder-decoder", "_decode")]
)
def test_a_pass_too_big_for_memory_is_made_in_halves(trained, monkeypatch, architecture, pass_of):
    engine = open_engine(trained(architecture), seq2seq={"form": "target"})
    whole = engine.logprobs(engine.encode(TEXTS))
    compute = getattr(engine, pass_of)

    def small_memory(rows):
        if len(rows) > 2 or len(getattr(rows[0], "encoded", rows[0]).ids) == 1:
            raise torch.OutOfMemoryError
        return compute(rows)

    monkeypatch.setattr(engine, pass_of, small_memory)
    halved = engine.logprobs(engine.encode(TEXTS))
    assert halved[3] == "out_of_memory"
    for row, other in zip(whole[:3], halved[:3], strict=True):
        assert row == pytest.approx(other, abs=1e-5)


@pytest.mark.parametrize("architecture", ["masked", "encoder-decoder"])
def test_only_the_tokens_of_a_region_are_scored(trained, architecture):
    engine = open_engine(trained(architecture))
    assert engine.regional
    [encoded] = engine.encode(TEXTS[:1])
    wanted = np.isin(np.arange(len(encoded.ids)), [1, 4])
    every, some = engine.logprobs([encoded, Encoded(encoded.ids, encoded.ends, wanted)])
    assert np.isfinite(some).tolist() == wanted.tolist()
    assert some[wanted] == pytest.approx(every[wanted], abs=1e-5)


def test_outputs_of_a_decoder_are_scored_whole(trained):
    assert not open_engine(trained("encoder-decoder"), seq2seq={"form": "target"}).regional


@pytest.mark.slow
@pytest.mark.parametrize("architecture", tiny.MAKERS)
def test_an_engine_takes_what_it_leaves_open_and_refuses_the_rest(trained, architecture, tmp_path):
    """The table and the engines agree: the engine refuses a description that the table excludes."""
    checkpoint = tiny.copied(trained(architecture), tmp_path)
    described = read_checkpoint(checkpoint)
    possible = default_engine(architecture).scorers[architecture]
    for dtype in FORMATS:
        for first in STARTS:
            seal(checkpoint, described.model_copy(update={"dtype": dtype, "first_token": first}))
            if dtype in possible.dtype and first.partition(":")[0] in possible.first_token:
                assert f"|{dtype}|" in open_engine(checkpoint).key
                continue
            with pytest.raises(UserError, match=f"(dtype is {dtype}|first_token is {first}), but"):
                open_engine(checkpoint)


@pytest.mark.parametrize("architecture", tiny.MAKERS)
def test_one_switch_sets_what_can_be_set_and_says_where_it_cannot(trained, architecture, caplog):
    described = read_checkpoint(trained(architecture))
    possible = default_engine(architecture).scorers[architecture]
    caplog.set_level(logging.INFO)
    key = open_engine(trained(architecture), dtype="bfloat16", first_token="skip").key
    for setting, value in (("dtype", "bfloat16"), ("first_token", "skip")):
        own = getattr(described, setting)
        follows = value in getattr(possible, setting)
        assert (value if follows else own) in key.split("|")
        assert follows or value not in key
        message = f"{described.name}: {setting} is {value}, but the engine"
        assert (message in caplog.text) == (not follows)
        assert follows or f"it stays {own}" in caplog.text


@pytest.mark.parametrize("after", ["", " ", " \u3000\n"])
@pytest.mark.parametrize("architecture", ["ngram", "lstm"])
def test_the_end_takes_no_character_and_white_space_before_it_neither(trained, architecture, after):
    texts = ["the dog sees." + after, after]
    table = tiny.shard_of(open_engine(trained(architecture)), texts)
    assert table["ends"].to_pylist() == [[3, 7, 12, 13, 13], [0]]
    none = np.array([-1, -1])
    columns = (table[name].combine_chunks() for name in ("logprobs", "ends", "ids"))
    logprobs, ends, ids = columns
    side = Side(pa.array(texts), logprobs, ends, ids, np.zeros(2), none, none)
    sums = totals(find_method("without_end"), side)
    assert sums[0] == pytest.approx(sum(logprobs[0].as_py()[:4]))
    assert np.isnan(sums[1])


def test_near_ties_of_a_campaign_follow_the_format_that_a_model_is_run_in():
    near = ScoringOptions().near_tie
    run = find_scorer("kenlm", "ngram").settle("dtype", "float32", "bfloat16")
    assert (run, near.of("kenlm", run)) == ("float32", 0.0)
    run = find_scorer("transformers", "causal").settle("dtype", "float32", "bfloat16")
    assert (run, near.of("transformers", run)) == ("bfloat16", near.bfloat16)

    # An engine's values replace those of the format.
    options = ScoringOptions(near_tie={"float32": 0.5, "engines": {"vllm": {"bfloat16": 0.4}}})
    near = options.near_tie
    assert [near.of(*pair) for pair in (("vllm", "bfloat16"), ("vllm", "float32"))] == [0.4, 0.5]
    assert near.of("transformers", "bfloat16") == 0.25


@pytest.mark.parametrize(
    ("variant", "architecture", "reason"),
    [
        ("transformers:skip", "masked", "first_token is skip, but the engine transformers scores"),
        ("transformers:eos", "encoder-decoder", "encoder-decoder models with bos only"),
        ("kenlm:bfloat16", "ngram", "dtype is bfloat16, but the engine kenlm scores ngram models"),
        ("lstm:bos", "lstm", "first_token is bos, but the engine lstm scores lstm models with eos"),
        ("vllm", "masked", "the engine vllm runs no masked models"),
        ("transformers:bfloat16:skip", "causal", None),
        ("lstm:skip", "lstm", None),
    ],
)
def test_a_variant_asks_for_what_its_name_says(variant, architecture, reason):
    result = parse_variant(variant).why_impossible(architecture, {})
    assert result is None if reason is None else reason in result


WORDS = [("the nurse", "sees"), ("the dog sees the", "unwatchable,"), ("a", "cat.")]
WORDS += [("the", "água")]


def scored(checkpoint, name, texts):
    return tiny.shard_of(load_engine(checkpoint, name, ScoringOptions()), texts).to_pylist()


@torch.no_grad()
def step_by_step(checkpoint, architecture, context, word):
    """Return the sum over the word's tokens, each after the context and the decoded tokens."""
    loaders = {"causal": AutoModelForCausalLM, "masked": AutoModelForMaskedLM}
    model = loaders[architecture].from_pretrained(checkpoint.parent).eval()
    tokenizer = AutoTokenizer.from_pretrained(checkpoint.parent)
    masks = tokenizer.mask_token * 3 if architecture == "masked" else ""
    total, text = 0.0, context
    for number, token in enumerate(tokenizer(word, add_special_tokens=False)["input_ids"]):
        decoded = tokenizer.decode(token)
        again = tokenizer(decoded, add_special_tokens=False)["input_ids"]
        ids = tokenizer(text + masks)["input_ids"]
        position = ids.index(tokenizer.mask_token_id) if masks else len(ids) - 1
        logits = model(torch.tensor([ids])).logits[0, position]
        total += float(logits.log_softmax(-1)[again[0] if number else token])
        text += decoded
    return total


@pytest.mark.parametrize("architecture", ["causal", "masked"])
def test_a_word_apart_is_the_sum_over_its_tokens(trained, tmp_path, architecture):
    first = {"first_token": "encoded"} if architecture == "causal" else {}
    checkpoint = tiny.copied(trained(architecture), tmp_path / "m", **first)
    rows = scored(checkpoint, "transformers", [f"{a}{APART}{b}" for a, b in WORDS])
    counts = []
    for row, (context, word) in zip(rows, WORDS, strict=True):
        assert np.nansum(row["logprobs"]) == pytest.approx(
            step_by_step(checkpoint, architecture, context, word), abs=1e-4
        )
        starts = [0, *row["ends"][:-1]]
        inside = [start >= len(context) for start in starts]
        assert inside == [not np.isnan(value) for value in row["logprobs"]]
        assert row["ends"][-1] == len(row["text"])
        counts.append(sum(inside))
    assert max(counts) > 1


@pytest.mark.parametrize("architecture", ["ngram", "lstm"])
def test_to_a_model_of_words_a_word_apart_is_a_word(trained, architecture):
    engine = {"ngram": "kenlm", "lstm": "lstm"}[architecture]
    apart, spaced = scored(trained(architecture), engine, [f"the dog{APART}sees", "the dog sees"])
    assert apart["logprobs"] == spaced["logprobs"]
    assert apart["ends"] == spaced["ends"]


def test_an_engine_that_does_not_know_words_apart_refuses_them(trained, monkeypatch):
    monkeypatch.setattr("blimpworks.scoring.kenlm_engine.KenlmEngine.encodes_apart", False)
    with pytest.raises(UserError, match=r"'the\|dog' has a word that is encoded apart .* Kenlm"):
        scored(trained("ngram"), "kenlm", [f"the{APART}dog"])


def test_a_step_too_long_for_the_model_makes_the_word_too_long(trained):
    (row,) = scored(trained("causal"), "transformers", [f"{'the dog ' * 400}{APART}sees"])
    assert row["status"] == "too_long"
    assert np.isnan(row["logprobs"]).all()


SENTENCES = tiny.sentences(60, seed=5)
CLOSE = 1e-4
HARNESS_TASKS = {
    # Fields and delimiters of the harness' own templates.
    "blimp": {},
    "multiblimp": {"target_delimiter": ""},
}


@pytest.fixture(scope="module")
def checkpoint(trained):
    return trained("causal")


def sums_of(checkpoint, texts=SENTENCES, first="bos"):
    engine = load_engine(checkpoint, "transformers", ScoringOptions(first_token=first))
    return np.array([np.nansum(row, dtype=float) for row in engine.logprobs(engine.encode(texts))])


def decisions(values):
    return (values[::2] > values[1::2]).tolist()


def minicons(checkpoint, **options):
    reason = "minicons is not installed (envs/dev.in)"
    scorer = pytest.importorskip("minicons.scorer", reason=reason)
    model = scorer.IncrementalLMScorer(str(checkpoint.parent), "cpu")
    sums = model.sequence_score(SENTENCES, reduction=lambda each: each.sum(0).item(), **options)
    return np.array(sums)


@pytest.fixture
def harness(checkpoint):
    reason = "lm-evaluation-harness is not installed (envs/dev.in)"
    library = pytest.importorskip("lm_eval.models.huggingface", reason=reason)
    return library.HFLM(str(checkpoint.parent), device="cpu", batch_size=16, dtype="float32")


def test_minicons_with_bos_gives_the_same_scores_and_decisions(checkpoint):
    ours, theirs = sums_of(checkpoint), minicons(checkpoint, bos_token=True)
    np.testing.assert_allclose(theirs, ours, atol=CLOSE)
    assert decisions(theirs) == decisions(ours)


def test_minicons_by_default_leaves_the_first_token_unscored(checkpoint):
    theirs = minicons(checkpoint)
    np.testing.assert_allclose(theirs, sums_of(checkpoint, first="skip"), atol=CLOSE)
    # It lacks the first token, and the second is not conditioned on BOS.
    assert (np.abs(theirs - sums_of(checkpoint)) > 0.1).all()


def test_the_harness_gives_the_same_scores_and_decisions(checkpoint, harness):
    from lm_eval.api.instance import Instance

    requests = [Instance("loglikelihood", {}, ("", text), i) for i, text in enumerate(SENTENCES)]
    answers = harness.loglikelihood(requests, disable_tqdm=True)
    ours, theirs = sums_of(checkpoint), np.array([total for total, _ in answers])
    np.testing.assert_allclose(theirs, ours, atol=CLOSE)
    assert decisions(theirs) == decisions(ours)


def evaluate(model, name, directory, pairs):
    """Return scores of all choices and the accuracy, by the harness' evaluator."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    data = directory / "data.jsonl"
    lines = [json.dumps({"good": good, "bad": bad}) for good, bad in pairs]
    data.write_text("\n".join(lines), encoding="utf-8")
    where = {"data_files": {"test": str(data)}, "cache_dir": str(directory / "cache")}
    task = {"task": f"local_{name}", "dataset_path": "json", "dataset_kwargs": where}
    task |= {"output_type": "multiple_choice", "test_split": "test", "doc_to_text": ""}
    task |= {"doc_to_target": 0, "doc_to_choice": "{{[good, bad]}}", **HARNESS_TASKS[name]}
    metric = {"metric": "acc", "aggregation": "mean", "higher_is_better": True}
    tasks, manager = [task | {"metric_list": [metric]}], TaskManager(include_defaults=False)
    result = simple_evaluate(model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0)
    samples = result["samples"][f"local_{name}"]
    samples.sort(key=lambda sample: sample["doc_id"])
    scores = [choice[0] for sample in samples for choice in sample["filtered_resps"]]
    return np.array(scores), result["results"][f"local_{name}"]["acc,none"]


@pytest.mark.slow
@pytest.mark.parametrize("name", HARNESS_TASKS)
def test_the_harness_puts_a_space_before_sentences_of_blimp(checkpoint, harness, tmp_path, name):
    pairs = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))
    theirs, accuracy = evaluate(harness, name, tmp_path, pairs)
    ours, spaced = sums_of(checkpoint), sums_of(checkpoint, [f" {text}" for text in SENTENCES])
    equal = spaced if name == "blimp" else ours
    np.testing.assert_allclose(theirs, equal, atol=CLOSE)
    assert accuracy == pytest.approx(np.mean(decisions(equal)))
    assert (np.abs(spaced - ours) > 0.01).any()
