"""Measure the speed of scoring, differences of log-probabilities, and lack of memory."""

import math
import tempfile
import time
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import scoring_speed
import torch
from shapes import GPU, kit

from blimpworks.errors import UserError
from blimpworks.scoring.engine import load_engine

PARITY_PAIRS = 1000
PEER_PAIRS = {"1b": 2000, "8b": 500, "tiny": 20}


def per_shard(engine, encoded):
    """Return log-probabilities of encoded texts, scored by the thousand as in a scoring job."""
    rows = []
    for a in range(0, len(encoded), 1000):
        rows += engine.logprobs(encoded[a : a + 1000])
    return rows


def timed(function):
    """Return the wall seconds of a call, and its result."""
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def keep_rows(bench, label, engine, rows=None):
    """Keep the log-probabilities of the first pairs for the measurement ``parity``."""
    if rows is None:
        rows = per_shard(engine, engine.encode(bench.texts(PARITY_PAIRS)))
    if any(isinstance(row, str) for row in rows):
        raise SystemExit(f"{label}: sentences without log-probabilities")
    name = f"parity-{bench.shape}-{label}.npz"
    np.savez(bench.work / name, flat=np.concatenate(rows), lengths=[len(row) for row in rows])


def speeds(bench, label, name, options):
    """Measure scored tokens per second: from items to the scores table, and of the engine alone.

    Weights are loaded, and two shards scored, before the clock starts. The best round counts for
    the former; the latter is measured once.
    """
    with closing(load_engine(bench.checkpoint, name, options)) as engine:
        encoded = engine.encode(bench.texts())
        load, _ = timed(lambda: engine.logprobs(encoded[:8]))
        per_shard(engine, encoded[:2000])
        if GPU:
            torch.cuda.reset_peak_memory_stats()
        seconds = math.inf
        for _ in range(bench.rounds):
            with tempfile.TemporaryDirectory(dir=bench.work) as scratch:
                score = (engine, bench.checkpoint, bench.items, options, Path(scratch))
                seconds = min(seconds, timed(lambda score=score: kit.score(*score))[0])
        memory = torch.cuda.max_memory_allocated() / 2**30 if GPU and name != "vllm" else None
        alone, rows = timed(lambda: per_shard(engine, encoded))
        keep_rows(bench, f"{label}, {options.dtype}", engine, rows[: 2 * PARITY_PAIRS])
    bench.emit(
        **{
            "engine": label,
            "tokens/s": bench.tokens / seconds,
            "pairs/s": len(bench.pairs) / seconds,
            "engine alone, tokens/s": sum(map(len, rows)) / alone,
            "teraflops": bench.operations * bench.tokens / seconds / 1e12,
            "load, s": load,
            "GiB": memory,
        }
    )


def transformers(bench):
    """Measure the speed of scoring with transformers, with shared prefixes and in padded rows."""
    for label, sharing in (("prefix tree", "always"), ("padded", "never")):
        speeds(bench, f"transformers, {label}", "transformers", bench.options(sharing=sharing))


def peers(bench):
    """Measure the speed of lm-evaluation-harness, minicons, and transformers with a pair a call."""
    texts = bench.texts(PEER_PAIRS[bench.shape])
    device = "cuda" if GPU else "cpu"
    model, path = bench.checkpoint.parent, bench.work / "peer.parquet"
    options = {"device": device, "dtype": bench.dtype}
    few = texts[: max(4, len(texts) // 10 * 2)]
    contenders = {
        "lm-eval hf, batch 64": lambda: scoring_speed.harness(model, texts, 64, path, **options),
        "minicons, lists of 64": lambda: scoring_speed.minicons(model, texts, 64, path, **options),
        "lm-eval hf, batch 256": lambda: scoring_speed.harness(model, texts, 256, path, **options),
        "transformers, one pair a call": lambda: scoring_speed.pair_by_pair(
            model, few, path, **options
        ),
    }
    tokens = bench.tokens / len(set(bench.texts()))
    for label, make in contenders.items():
        try:
            score = make()
        except ImportError as error:
            bench.emit(engine=label, note=f"not installed ({error})")
            continue
        score()
        seconds, totals = timed(score)
        rate = len(totals) * tokens / seconds
        bench.emit(**{"engine": label, "tokens/s": rate, "pairs/s": len(totals) / 2 / seconds})
        del score
        if GPU:
            torch.cuda.empty_cache()


def parity(bench):
    """Compare all kept log-probabilities (nats) with transformers in float32, with padding."""
    options = bench.options(sharing="never", dtype="float32")
    for label, sharing in (("transformers, padded", "never"), ("transformers, tree", "always")):
        engine = load_engine(
            bench.checkpoint, "transformers", options.model_copy(update={"sharing": sharing})
        )
        with closing(engine):
            keep_rows(bench, f"{label}, float32", engine)
        del engine
        if GPU:
            torch.cuda.empty_cache()
    reference = bench.work / f"parity-{bench.shape}-transformers, padded, float32.npz"
    with np.load(reference) as tables:
        expected, lengths = tables["flat"], tables["lengths"]
    starts = np.cumsum(lengths) - lengths
    for path in sorted(bench.work.glob(f"parity-{bench.shape}-*.npz")):
        if path == reference:
            continue
        with np.load(path) as tables:
            rows = tables["flat"]
        totals, compared = (np.add.reduceat(x, starts).reshape(-1, 2) for x in (expected, rows))
        changed = (np.diff(totals) > 0) != (np.diff(compared) > 0)
        bench.emit(
            **{
                "way": path.stem.partition(f"parity-{bench.shape}-")[2],
                "largest of a token": np.abs(rows - expected).max().item(),
                "mean of a token": np.abs(rows - expected).mean().item(),
                "largest of a sentence": np.abs(compared - totals).max().item(),
                "other decisions": int(changed.sum()),
                "pairs": len(totals),
            }
        )


@contextmanager
def all_but(gib):
    """Hold the GPU's free memory except ``gib`` GiB, as another job would."""
    free, _ = torch.cuda.mem_get_info()
    held = torch.empty(max(0, free - int(gib * 2**30)), dtype=torch.uint8, device="cuda")
    yield
    del held
    torch.cuda.empty_cache()


def memory(bench):
    """Score batches that do not fit the GPU's memory; count them and sentences without scores."""
    texts, options = bench.texts(2000), bench.options(sharing="never")
    with closing(load_engine(bench.checkpoint, "transformers", options)) as engine:
        expected = per_shard(engine, engine.encode(texts))
    if not GPU:
        bench.emit(case="transformers, memory for a part of a batch", note="only on a GPU")
        return
    del engine
    torch.cuda.empty_cache()
    large = options.model_copy(update={"batch_tokens": 2**22, "shard": 1000})
    with closing(load_engine(bench.checkpoint, "transformers", large)) as engine:
        encoded = engine.encode(texts)
        engine.logprobs(encoded[:8])
        with all_but(0.5):
            seconds, rows = timed(lambda: per_shard(engine, encoded))
    lost = [row for row in rows if isinstance(row, str)]
    pairs = zip(rows, expected, strict=True)
    largest = max(np.abs(a - b).max().item() for a, b in pairs if not isinstance(a, str))
    bench.emit(
        **{
            "case": "transformers, half a GiB for a batch of 1,000 sentences",
            "batches that did not fit": torch.cuda.memory_stats().get("num_ooms", 0),
            "sentences": len(rows),
            "without scores": len(lost),
            "largest difference of a token": largest,
            "seconds": seconds,
        }
    )


def crowded(bench):
    """Score with vLLM while another job holds the GPU's memory; report its message if it fails."""
    if not GPU:
        bench.emit(case="vLLM, GPU held by another job", note="only on a GPU")
        return
    with all_but(2):
        try:
            with closing(load_engine(bench.checkpoint, "vllm", bench.options("served"))) as engine:
                per_shard(engine, engine.encode(bench.texts(2)))
            note = "scored all the same"
        except UserError as error:
            note = str(error)
    bench.emit(case="vLLM, GPU held by another job", note=note)
