"""Speed of scoring, log-probabilities beside each other, memory that runs out."""

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
    """Log-probabilities of encoded texts, a shard at a time as the store asks for them."""
    rows = []
    for a in range(0, len(encoded), 1000):
        rows += engine.logprobs(encoded[a : a + 1000])
    return rows


def timed(function):
    """Seconds on the clock, and the result."""
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def keep_rows(bench, label, engine, rows=None):
    """Log-probabilities of the first pairs, for the measurement ``parity``."""
    if rows is None:
        rows = per_shard(engine, engine.encode(bench.texts(PARITY_PAIRS)))
    if any(isinstance(row, str) for row in rows):
        raise SystemExit(f"{label}: sentences without log-probabilities")
    name = f"parity-{bench.shape}-{label}.npz"
    np.savez(bench.work / name, flat=np.concatenate(rows), lengths=[len(row) for row in rows])


def speeds(bench, label, name, options):
    """Scored tokens a second: from items to the scores table, and of the engine alone.

    Weights are loaded and the first shards scored before the clock starts.
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
    """Our engine on transformers, with prefixes shared and in padded rows."""
    for label, sharing in (("prefix tree", "always"), ("padded", "never")):
        speeds(bench, f"transformers, {label}", "transformers", bench.options(sharing=sharing))


def peers(bench):
    """The harness, minicons, and transformers a pair at a time, each on its first pairs."""
    texts = bench.texts(PEER_PAIRS[bench.shape])
    device = "cuda" if GPU else "cpu"
    directory, path = bench.checkpoint.parent, bench.work / "peer.parquet"
    how = {"device": device, "dtype": bench.dtype}
    few = texts[: max(4, len(texts) // 10 * 2)]
    contenders = {
        "lm-eval hf, batch 64": lambda: scoring_speed.harness(directory, texts, 64, path, **how),
        "minicons, lists of 64": lambda: scoring_speed.minicons(directory, texts, 64, path, **how),
        "lm-eval hf, batch 256": lambda: scoring_speed.harness(directory, texts, 256, path, **how),
        "transformers, one pair a call": lambda: scoring_speed.pair_by_pair(
            directory, few, path, **how
        ),
    }
    tokens = bench.tokens / len(set(bench.texts()))
    for label, make in contenders.items():
        try:
            go = make()
        except ImportError as error:
            bench.emit(engine=label, note=f"not installed ({error})")
            continue
        go()
        seconds, totals = timed(go)
        rate = len(totals) * tokens / seconds
        bench.emit(**{"engine": label, "tokens/s": rate, "pairs/s": len(totals) / 2 / seconds})
        del go
        if GPU:
            torch.cuda.empty_cache()


def parity(bench):
    """Log-probabilities of all ways so far beside transformers in float32, padded."""
    options = bench.options(sharing="never", dtype="float32")
    for label, sharing in (("transformers, padded", "never"), ("transformers, tree", "always")):
        engine = load_engine(
            bench.checkpoint,
            "transformers",
            options.model_copy(update={"sharing": sharing}),
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
        totals, others = (np.add.reduceat(each, starts).reshape(-1, 2) for each in (expected, rows))
        turned = (np.diff(totals) > 0) != (np.diff(others) > 0)
        bench.emit(
            **{
                "way": path.stem.partition(f"parity-{bench.shape}-")[2],
                "largest of a token": np.abs(rows - expected).max().item(),
                "mean of a token": np.abs(rows - expected).mean().item(),
                "largest of a sentence": np.abs(others - totals).max().item(),
                "other decisions": int(turned.sum()),
                "pairs": len(totals),
            }
        )


@contextmanager
def all_but(gib):
    """Hold the GPU's free memory but for some GiB, as another job would."""
    free, _ = torch.cuda.mem_get_info()
    held = torch.empty(max(0, free - int(gib * 2**30)), dtype=torch.uint8, device="cuda")
    yield
    del held
    torch.cuda.empty_cache()


def memory(bench):
    """What happens when memory runs out: batches are halved, and every sentence scored."""
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
    """What vLLM says when another job holds the GPU."""
    if not GPU:
        bench.emit(case="vLLM, GPU held by another job", note="only on a GPU")
        return
    with all_but(2):
        try:
            with closing(load_engine(bench.checkpoint, "vllm", bench.options("served"))) as engine:
                per_shard(engine, engine.encode(bench.texts(2)))
            said = "scored all the same"
        except UserError as error:
            said = str(error)
    bench.emit(case="vLLM, GPU held by another job", note=said)
