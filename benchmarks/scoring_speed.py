"""Compare the speed of scoring with that of peers, in pairs per second from pairs to Parquet.

python benchmarks/scoring_speed.py [--pairs blimp|clams|ITEMS.parquet] [--count N]
    [--model demo|small|large|CHECKPOINT.json] [--threads N] [--rounds N] [--quick]

Model and pairs are the same for all; the slowest contenders score a fifth of the pairs. The model
is loaded before time is taken. All contenders run once in each round, so that other load of
the machine affects all; the best round counts. Differences are to transformers with one pair a
call, in the pairs that it scores. ``demo`` is the demo campaign's transformer (0.3 million
parameters), ``small`` has 1.3 million; both are trained by the benchmark. ``large`` has random
weights, 12 layers of width 768 and a vocabulary of 32,000. A checkpoint is that of a real model,
such as those below ``resources/models`` of an evaluation. All contenders put its BOS before
sentences.

Contenders are blimpworks in padded rows, and with shared prefixes by default (``sharing: auto``);
minicons' ``sequence_score`` on lists of several sizes, in the order of the pairs, as in its
documentation; lm-evaluation-harness' ``hf`` model; and transformers with one call for each pair (as
MultiBLiMP's authors call minicons). The last line is the share of the processor's peak speed of
matrix products that blimpworks reaches.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scoring_kit as kit
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForCausalLM, AutoTokenizer

from support import tiny

LARGE = {
    "vocab_size": 32_000,
    "hidden_size": 768,
    "intermediate_size": 2048,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_key_value_heads": 12,
    "max_position_embeddings": 512,
}


def batches(texts, size):
    """Return lists of ``size`` texts, in order."""
    return [texts[a : a + size] for a in range(0, len(texts), size)]


def write(totals, path):
    """Write a peer's log-probabilities of good and bad sentences to a Parquet file."""
    pq.write_table(pa.table({"good": totals[::2], "bad": totals[1::2]}), path)


def minicons(directory, texts, size, path, device="cpu", dtype="float32"):
    """Return a function that scores texts with minicons, on lists of ``size`` sentences."""
    from minicons.scorer import IncrementalLMScorer

    scorer = IncrementalLMScorer(str(directory), device, dtype=getattr(torch, dtype))

    def total(logprobs):
        return logprobs.sum(0).item()

    def go():
        totals = []
        for batch in batches(texts, size):
            totals += scorer.sequence_score(batch, reduction=total, bos_token=True)
        write(totals, path)
        return totals

    return go


def harness(directory, texts, size, path, device="cpu", dtype="float32"):
    """Return a function that scores texts by lm-evaluation-harness, ``size`` in a batch."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=str(directory), device=device, batch_size=size, dtype=dtype)
    if model.prefix_token_id != model.tokenizer.bos_token_id:
        raise SystemExit(
            f"{directory}: lm-eval conditions on another token than BOS; use another model"
        )
    requests = [Instance("loglikelihood", {}, ("", text), i) for i, text in enumerate(texts)]

    def go():
        totals = [total for total, _ in model.loglikelihood(requests, disable_tqdm=True)]
        write(totals, path)
        return totals

    return go


def pair_by_pair(directory, texts, path, device="cpu", dtype="float32"):
    """Return a function that scores texts with a forward pass of transformers for each pair."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=getattr(torch, dtype))
    model = model.to(device).eval()

    @torch.no_grad()
    def go():
        totals = []
        for pair in batches([tokenizer.bos_token + text for text in texts], 2):
            inputs = tokenizer(pair, return_tensors="pt", padding=True, add_special_tokens=False)
            inputs = inputs.to(device)
            inputs.pop("token_type_ids", None)
            table = model(**inputs).logits[:, :-1].float().log_softmax(-1)
            chosen = table.gather(2, inputs.input_ids[:, 1:, None])[..., 0]
            totals += (chosen * inputs.attention_mask[:, 1:]).sum(1).tolist()
        write(totals, path)
        return totals

    return go


def totals_of(table):
    """Return the log-probabilities of a scores table, good and bad sentences in turn."""
    columns = (table[f"logprob_{side}"].to_numpy() for side in ("good", "bad"))
    return np.column_stack(list(columns)).ravel()


def contenders(checkpoint, items, texts, path, *, quick):
    """Yield name and function of each contender; the slowest get a fifth of the pairs."""
    directory = checkpoint.parent
    few = texts[: len(texts) // 10 * 2]
    for label, sharing in (("padded rows", "never"), ("sharing prefixes", "auto")):
        go = kit.ours(checkpoint, items, sharing=sharing, first_token="bos")
        yield f"blimpworks, {label}", lambda go=go: totals_of(go())
    for size in (2, 64) if quick else (1, 2, 10, 20, 64, 128):
        chosen = few if size < 10 else texts
        yield f"minicons, lists of {size}", minicons(directory, chosen, size, path)
    for size in (64, 128) if quick else (1, 16, 32, 64, 128, 256):
        chosen = few if size < 10 else texts
        yield f"lm-eval hf, batch {size}", harness(directory, chosen, size, path)
    yield "transformers, one pair a call", pair_by_pair(directory, few, path)


def measure(named, rounds):
    """Return least wall and processor seconds [2], and log-probabilities, by contender."""
    seconds, totals = {}, {}
    for _ in range(rounds):
        for name, go in named.items():
            times = kit.spent(lambda name=name, go=go: totals.update({name: np.array(go())}))
            seconds[name] = np.minimum(seconds.get(name, times), times)
    return seconds, totals


def report(seconds, totals):
    """Print the speed of each contender, and ours divided by the best of each peer."""
    expected = totals["transformers, one pair a call"]
    columns = "pairs/s", "processor ms per pair", "largest difference, nats", "different decisions"
    print(f"| contender | {' | '.join(columns)} |")
    print("|---|--:|--:|--:|--:|")
    speed = {}
    for name, (clock, processor) in seconds.items():
        pairs = len(totals[name]) / 2
        speed[name] = pairs / clock
        compared = totals[name][: len(expected)]
        gap = np.abs(compared - expected).max()
        changed = (np.diff(compared.reshape(-1, 2)) > 0) != (np.diff(expected.reshape(-1, 2)) > 0)
        cells = f"{speed[name]:,.0f}", f"{processor / pairs * 1e3:.2f}", f"{gap:.0e}"
        print(f"| {name} | {' | '.join(cells)} | {changed.sum()} |")
    print("\n| blimpworks is times as fast as | padded rows | sharing prefixes |\n|---|--:|--:|")
    names = list(speed)
    for label, beginning in (
        ("minicons, a pair in a list, as documented", "minicons, lists of 2!"),
        ("minicons, best list", "minicons"),
        ("lm-eval hf, best batch", "lm-eval"),
        ("one pair a call", "transformers, one"),
    ):
        best = max((s for n, s in speed.items() if f"{n}!".startswith(beginning)), default=np.nan)
        ratios = " | ".join(f"{speed[name] / best:.1f}" for name in names[:2])
        print(f"| {label} | {ratios} |")


def matrix_share(checkpoint, items, seconds, threads):
    """Print the speed of blimpworks' matrix products, and its share of the processor's peak."""
    # The counter counts operations of one thread.
    with tiny.torch_threads(1), FlopCounterMode(display=False) as counter:
        kit.ours(checkpoint, items, first_token="bos")()
    matrix = torch.rand(2048, 2048)
    times = [kit.spent(lambda: matrix @ matrix)[0] for _ in range(10)]
    peak, reached = 2 * 2048**3 / min(times), counter.get_total_flops() / seconds
    print(
        f"\nSharing prefixes, {counter.get_total_flops() / 1e9:.1f} GFLOP of matrix products at "
        f"{reached / 1e9:.0f} GFLOP/s: {reached / peak:.0%} of the {peak / 1e9:.0f} that one of "
        f"2,048 by 2,048 reaches on {threads} thread{'s' * (threads > 1)}."
    )


def pairs_of(benchmark, count):
    """Return ``count`` pairs of a benchmark (blimp or clams) or of an items table."""
    if benchmark == "blimp":
        return kit.sample(kit.blimp_rows(1000), count)
    if benchmark == "clams":
        return kit.sample(kit.clams_pairs("en"), count)
    return kit.sample(kit.items_pairs(benchmark), count)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", default="blimp")
    parser.add_argument("--count", type=int, default=2500)
    parser.add_argument("--model", default="small")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="only the peers' likely best sizes")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    pairs = pairs_of(options.pairs, options.count)
    texts = [text for pair in pairs for text in pair]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        if options.model.endswith(".json"):
            checkpoint = Path(options.model)
        else:
            recipe = kit.DEMO if options.model == "demo" else kit.SMALL
            checkpoint = kit.train_small(directory, recipe)
        if options.model == "large":
            checkpoint = kit.random_llama(checkpoint, directory / "large", **LARGE)
        items = tiny.write_items(directory / "items.parquet", pairs)
        tokens = sum(map(len, AutoTokenizer.from_pretrained(checkpoint.parent)(texts).input_ids))
        print(f"{len(pairs)} pairs ({options.pairs}), {tokens} tokens, {options.threads} threads\n")
        named = dict(
            contenders(checkpoint, items, texts, directory / "peer.parquet", quick=options.quick)
        )
        seconds, totals = measure(named, options.rounds)
        report(seconds, totals)
        ours = seconds["blimpworks, sharing prefixes"][0]
        matrix_share(checkpoint, items, ours, options.threads)


if __name__ == "__main__":
    main()
