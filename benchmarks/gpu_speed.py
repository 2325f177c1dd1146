"""Scored tokens per second on a GPU, with random weights of real shapes, end to end.

python benchmarks/gpu_speed.py [--shape 1b|8b|tiny] [--pairs blimp|synthetic|ITEMS.parquet]
    [--count N] [--dtype bfloat16] [--batch-tokens N]

From pairs in an items table to the scores table, the model being loaded before the clock
starts: tokens of distinct sentences per second, in padded rows and with shared prefixes, and
the most memory that torch held. Random weights of real sizes cost what trained ones cost. The
vocabulary has the shape's size, though the tokenizer is that of the small model. Without a
GPU, ``--shape tiny`` shows that the benchmark runs.
"""

import argparse
import random
import tempfile
from pathlib import Path

import scoring_kit as kit
import torch
from transformers import AutoTokenizer

from support import tiny

SHAPES = {
    "1b": {
        "vocab_size": 128_256,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "tie_word_embeddings": True,
    },
    "8b": {
        "vocab_size": 128_256,
        "hidden_size": 4096,
        "intermediate_size": 14_336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    "tiny": {
        "vocab_size": 4096,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
}
"""Llama 3.2 1B, Llama 3.1 8B, and one for trying this out."""


def synthetic(count):
    """Pairs of 20 or so random words that differ in one: little to share, as in treebanks."""
    draw = random.Random(0)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]
    for _ in range(count):
        good = draw.choices(words, k=draw.randint(8, 32))
        bad = list(good)
        bad[draw.randrange(len(bad))] = draw.choice(words)
        yield " ".join(good), " ".join(bad)


def pairs_of(wanted, count):
    """Pairs by name or from an items table."""
    if wanted == "synthetic":
        return list(synthetic(count))
    every = kit.blimp_rows(1000) if wanted == "blimp" else kit.items_pairs(wanted)
    return kit.sample(every, count)


def vocabulary_text(pairs, directory):
    """A tokenizer's worth of training text that needs nothing but the pairs."""
    path = directory / "text.txt"
    path.write_text("".join(f"{good}\n" for good, _ in pairs[:4000]), encoding="utf-8")
    recipe = kit.SMALL.model_copy(update={"max_steps": 1})
    return tiny.make_transformer(path, directory / "small" / "checkpoint.json", recipe)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", choices=SHAPES, default="1b")
    parser.add_argument("--pairs", default="synthetic")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = pairs_of(given.pairs, given.count)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        small = vocabulary_text(pairs, directory)
        sizes = SHAPES[given.shape] | {"max_position_embeddings": 2048}
        checkpoint = kit.random_llama(small, directory / "model", given.dtype, device, **sizes)
        items = tiny.write_items(directory / "items.parquet", pairs)
        tokenizer = AutoTokenizer.from_pretrained(checkpoint.parent)
        texts = list({text for pair in pairs for text in pair})
        tokens = sum(map(len, tokenizer(texts).input_ids))
        print(f"{given.shape} in {given.dtype} on {device}, {len(pairs)} pairs, {tokens} tokens\n")
        print("| | tokens/s | pairs/s | GiB |\n|---|--:|--:|--:|")
        for label, sharing in (("padded rows", "never"), ("sharing prefixes", "auto")):
            options = {"sharing": sharing, "dtype": given.dtype, "batch_tokens": given.batch_tokens}
            go = kit.ours(checkpoint, items, **options)
            go()
            if device == "cuda":
                torch.cuda.reset_peak_memory_stats()
            seconds = min(kit.spent(go)[0] for _ in range(given.rounds))
            memory = torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else float("nan")
            cells = f"{tokens / seconds:,.0f}", f"{len(pairs) / seconds:,.0f}", f"{memory:.1f}"
            print(f"| {label} | {' | '.join(cells)} |", flush=True)
            del go
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
