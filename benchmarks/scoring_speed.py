"""Compare the speed of scoring with peers, in pairs per second from pairs to Parquet.

python benchmarks/scoring_speed.py [--pairs blimp|clams|ITEMS.parquet] [--count N]
    [--model demo|small|large|CHECKPOINT.json] [--threads N] [--rounds N] [--quick]

Model and pairs are the same for all contenders. The model is loaded before time is taken. All
contenders score all pairs once in each round, so that other load of the machine affects all; the
best round counts. ``demo`` is the demo campaign's transformer (0.3 million parameters), ``small``
has 1.3 million; both are trained by the benchmark. ``large`` has random weights, 12 layers of width
768 and a vocabulary of 32,000. A checkpoint is that of a real model, such as those below
``resources/models`` of an evaluation. All contenders put its BOS before sentences.

Contenders: ours in padded rows, and with shared prefixes by default (``sharing: auto``); minicons'
``sequence_score`` on lists of several sizes, in the order of the pairs, as in its documentation;
lm-evaluation-harness' ``hf`` model; and transformers with one call for each pair (as for
MultiBLiMP, whose authors call minicons with one pair at a time). The last line is the share of the
processor's peak speed of matrix products that we reach.
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
    """Return lists of this number of texts, in order."""
    return [texts[a : a + size] for a in range(0, len(texts), size)]


def write(totals, path):
    """Write the result of peers: the log-probability of each sentence."""
    pq.write_table(pa.table({"good": totals[::2], "bad": totals[1::2]}), path)


def minicons(directory, texts, size, path, device="cpu", dtype="float32"):
    """Return a function that scores with minicons, on lists of ``size`` sentences."""
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
    """Return a function that runs lm-evaluation-harness' loglikelihood requests in batches."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=str(directory), device=device, batch_size=size, dtype=dtype)
    if model.prefix_token_id != model.tokenizer.bos_token_id:
        raise SystemExit("the harness conditions on another token than BOS")
    requests = [Instance("loglikelihood", {}, ("", text), i) for i, text in enumerate(texts)]

    def go():
        totals = [total for total, _ in model.loglikelihood(requests, disable_tqdm=True)]
        write(totals, path)
        return totals

    return go


def pair_by_pair(directory, texts, path, device="cpu", dtype="float32"):
    """Return a function that scores with one forward pass of transformers for each pair."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=getattr(torch, dtype))
    model = model.to(device).eval()

    @torch.no_grad()
    def go():
        totals = []
        for pair in batches([tokenizer.bos_token + text for text in texts], 2):
            given = tokenizer(pair, return_tensors="pt", padding=True, add_special_tokens=False)
            given = given.to(device)
            given.pop("token_type_ids", None)
            table = model(**given).logits[:, :-1].float().log_softmax(-1)
            chosen = table.gather(2, given.input_ids[:, 1:, None])[..., 0]
            totals += (chosen * given.attention_mask[:, 1:]).sum(1).tolist()
        write(totals, path)
        return totals

    return go


def totals_of(table):
    """Return log-probabilities, alternating between good and bad sentences."""
    columns = (table[f"logprob_{side}"].to_numpy() for side in ("good", "bad"))
    return np.column_stack(list(columns)).ravel()


def contenders(checkpoint, items, texts, path, *, quick):
    """Return name and function of each contender; the slowest get a fifth of the pairs."""
    directory = checkpoint.parent
    few = texts[: len(texts) // 10 * 2]
    for label, sharing in (("padded rows", "never"), ("sharing prefixes", "auto")):
        go = kit.ours(checkpoint, items, sharing=sharing, first_token="bos")
        yield f"blimpworks, {label}", lambda go=go: totals_of(go())
    for size in (2, 64) if quick else (1, 2, 10, 20, 64, 128):
        given = few if size < 10 else texts
        yield f"minicons, lists of {size}", minicons(directory, given, size, path)
    for size in (64, 128) if quick else (1, 16, 32, 64, 128, 256):
        given = few if size < 10 else texts
        yield f"lm-eval hf, batch {size}", harness(directory, given, size, path)
    yield "transformers, one pair a call", pair_by_pair(directory, few, path)


def measure(named, rounds):
    """Return the best wall and processor seconds, and log-probabilities, of each contender."""
    seconds, totals = {}, {}
    for _ in range(rounds):
        for name, go in named.items():
            times = kit.spent(lambda name=name, go=go: totals.update({name: np.array(go())}))
            seconds[name] = np.minimum(seconds.get(name, times), times)
    return seconds, totals


def report(seconds, totals):
    """Print the table, and our speed divided by that of each type of peer."""
    expected = totals["transformers, one pair a call"]
    columns = "pairs/s", "processor ms per pair", "largest difference, nats", "other decisions"
    print(f"| contender | {' | '.join(columns)} |")
    print("|---|--:|--:|--:|--:|")
    speed = {}
    for name, (clock, processor) in seconds.items():
        pairs = len(totals[name]) / 2
        speed[name] = pairs / clock
        own = totals[name][: len(expected)]
        apart = np.abs(own - expected).max()
        turned = (np.diff(own.reshape(-1, 2)) > 0) != (np.diff(expected.reshape(-1, 2)) > 0)
        cells = f"{speed[name]:,.0f}", f"{processor / pairs * 1e3:.2f}", f"{apart:.0e}"
        print(f"| {name} | {' | '.join(cells)} | {turned.sum()} |")
    print("\n| times as fast as | padded rows | sharing prefixes |\n|---|--:|--:|")
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
    """Print the share of the processor's peak speed of matrix products that ours reaches."""
    # The counter sees one thread alone.
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
    """Return pairs by the name of a benchmark or from an items table."""
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
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    pairs = pairs_of(given.pairs, given.count)
    texts = [text for pair in pairs for text in pair]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        if given.model.endswith(".json"):
            checkpoint = Path(given.model)
        else:
            recipe = kit.DEMO if given.model == "demo" else kit.SMALL
            checkpoint = kit.train_small(directory, recipe)
        if given.model == "large":
            checkpoint = kit.random_llama(checkpoint, directory / "large", **LARGE)
        items = tiny.write_items(directory / "items.parquet", pairs)
        tokens = sum(map(len, AutoTokenizer.from_pretrained(checkpoint.parent)(texts).input_ids))
        print(f"{len(pairs)} pairs ({given.pairs}), {tokens} tokens, {given.threads} threads\n")
        named = dict(
            contenders(checkpoint, items, texts, directory / "peer.parquet", quick=given.quick)
        )
        seconds, totals = measure(named, given.rounds)
        report(seconds, totals)
        ours = seconds["blimpworks, sharing prefixes"][0]
        matrix_share(checkpoint, items, ours, given.threads)


if __name__ == "__main__":
    main()
