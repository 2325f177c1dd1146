"""Compare the speed of vLLM served, vLLM in process, and transformers, in pairs per second.

.vllm/bin/python benchmarks/vllm_speed.py [--pairs 1000] [--layers 4] [--hidden 128] [--repeat 5]

All engines score the same sentences. The benchmark measures the time from texts to
log-probabilities in shards of 1,000 sentences, by the engines of `blimpworks score`. A small model
is trained for some steps on generated sentences. All engines run once in each round, so that other
load of the machine affects all. The first round is not counted; the best of the others counts.
Times to load a model or to start a server, with the first sentence, are printed separately.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path

import numpy as np

from blimpworks.campaign.settings.scoring import ScoringOptions, VllmOptions
from blimpworks.campaign.settings.training import TransformerRecipe
from blimpworks.models.transformer import train_transformer
from blimpworks.scoring.engine import load_engine

NOUNS = ["dog", "cat", "nurse", "bird", "teacher", "pilot", "farmer", "child", "author", "guard"]
VERBS = ["sees", "hears", "likes", "finds", "calls", "helps", "meets", "knows"]


def sentence(draw):
    tokens = ["the", draw.choice(NOUNS), draw.choice(VERBS), "the", draw.choice(NOUNS)]
    for _ in range(draw.randrange(4)):
        tokens += ["that", "the", draw.choice(NOUNS), draw.choice(VERBS)]
    return " ".join(tokens) + "."


def train(directory, layers, hidden):
    draw = random.Random(0)
    text, checkpoint = directory / "text.txt", directory / "model" / "checkpoint.json"
    text.write_text("".join(f"{sentence(draw)}\n" for _ in range(2000)), encoding="utf-8")
    recipe = TransformerRecipe(
        kind="transformer",
        vocabulary=1200,
        hidden=hidden,
        layers=layers,
        heads=hidden // 32,
        max_steps=20,
    )
    train_transformer(
        text, checkpoint, name="small", scope="eng", recipe_name="small", recipe=recipe, seed=0
    )
    return checkpoint


def score(engine, texts):
    """Return log-probabilities of all texts, in shards of 1,000 sentences as in a scoring job."""
    logprobs = []
    for a in range(0, len(texts), 1000):
        logprobs += engine.logprobs(engine.encode(texts[a : a + 1000]))
    return logprobs


def seconds(run):
    started = time.perf_counter()
    result = run()
    return time.perf_counter() - started, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()

    draw = random.Random(1)
    texts = sorted((sentence(draw) for _ in range(2 * arguments.pairs)), key=len)
    modes = {f"vLLM {mode.replace('_', ' ')}": mode for mode in ("in_process", "served")}
    with tempfile.TemporaryDirectory() as directory:
        checkpoint = train(Path(directory), arguments.layers, arguments.hidden)
        engines = {"transformers": load_engine(checkpoint, "transformers", ScoringOptions())}
        for name, mode in modes.items():
            options = ScoringOptions(vllm=VllmOptions(mode=mode, kv_cache_mib=256))
            engines[name] = load_engine(checkpoint, "vllm", options)
        starts = {name: seconds(lambda e=e: score(e, texts[:1]))[0] for name, e in engines.items()}
        spent = {name: [] for name in engines}
        for _ in range(arguments.repeat + 1):
            rows = {}
            for name, engine in engines.items():
                wall, rows[name] = seconds(lambda e=engine: score(e, texts))
                spent[name].append(wall)
        for engine in engines.values():
            engine.close()

    flat = {name: np.concatenate(logprobs) for name, logprobs in rows.items()}
    tokens = len(flat["transformers"])
    best = {name: min(times[1:]) for name, times in spent.items()}
    print(f"{arguments.pairs:,} pairs, {tokens:,} tokens, best of {arguments.repeat}\n")
    print("| engine | pairs/s | µs/token | in process = 1 | start, s | largest difference, nats |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, wall in best.items():
        ratio = best["vLLM in process"] / wall
        difference = np.abs(flat[name] - flat["transformers"]).max()
        print(
            f"| {name} | {arguments.pairs / wall:,.0f} | {wall / tokens * 1e6:.0f} | {ratio:.2f} "
            f"| {starts[name]:.0f} | {difference:.0e} |"
        )


if __name__ == "__main__":
    main()
