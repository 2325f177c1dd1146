"""Provide the measurements with models of real sizes, sentences and options."""

import json
import random
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors import safe_open
from transformers import AutoTokenizer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import scoring_kit as kit

from blimpworks.campaign.settings.scoring import ScoringOptions, VllmOptions
from blimpworks.models.encoding import TEMPLATE
from support import tiny

LLAMA = {"vocab_size": 128_256, "num_attention_heads": 32, "num_key_value_heads": 8}
SHAPES = {
    "1b": LLAMA
    | {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "tie_word_embeddings": True,
    },
    "8b": LLAMA | {"hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32},
    "tiny": {
        "vocab_size": 4096,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,  # vLLM's attention on CPUs takes heads of a width of 32
        "num_key_value_heads": 2,
    },
}
"""Shapes of Llama 3.2 1B and Llama 3.1 8B, and a tiny one to try out this benchmark."""
COUNTS = {"1b": 20_000, "8b": 4000, "tiny": 60}
"""Number of pairs whose sentences are scored, by shape."""
GPU = torch.cuda.is_available()


def synthetic(count):
    """Yield pairs of 8 to 32 random words that differ in one; they share few prefixes."""
    draw = random.Random(0)
    vocabulary = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]
    for _ in range(count):
        good = draw.choices(vocabulary, k=draw.randint(8, 32))
        bad = list(good)
        position = draw.randrange(len(bad))
        bad[position] = draw.choice([word for word in vocabulary if word != good[position]])
        yield " ".join(good), " ".join(bad)


def _tokenizer(scratch):
    """Return the checkpoint of a small model, whose tokenizer has a chat template."""
    scratch.mkdir()
    text = scratch / "text.txt"
    text.write_text("".join(f"{good}\n" for good, _ in synthetic(4000)), encoding="utf-8")
    recipe = kit.SMALL.model_copy(update={"max_steps": 1})
    small = tiny.make_transformer(text, scratch / "small" / "checkpoint.json", recipe)
    tokenizer = AutoTokenizer.from_pretrained(small.parent)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(small.parent)
    return small


def make_model(shape, directory, dtype):
    """Return the checkpoint of the model in a directory; if it is empty, make one first.

    The model has random weights, and is made on the GPU if there is one. Its vocabulary has the
    shape's size; its tokenizer is that of a small model.
    """
    if (directory / "config.json").exists():
        return tiny.describe(directory, "causal")
    directory.parent.mkdir(parents=True, exist_ok=True)
    sizes = SHAPES[shape] | {"max_position_embeddings": 2048}
    with TemporaryDirectory(dir=directory.parent) as name:
        scratch = Path(name)
        small = _tokenizer(scratch / "small")
        device = "cuda" if GPU else "cpu"
        kit.random_llama(small, scratch / "model", dtype, device, **sizes)
        (scratch / "model").rename(directory)
    return directory / "checkpoint.json"


@dataclass(frozen=True)
class Bench:
    """Settings, model and sentences of a measurement, and the file of its rows."""

    name: str
    shape: str
    dtype: str
    models: Path
    work: Path
    rounds: int

    @property
    def rows(self):
        """The file to which rows are added, one JSON object per line."""
        return self.work / f"{self.name}.jsonl"

    def emit(self, **row):
        """Add a row at once, so that it outlives this process."""
        with self.rows.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")

    @property
    def checkpoint(self):
        """The checkpoint of the shape's model, which the measurement ``models`` has made."""
        return self.models / self.shape / "checkpoint.json"

    @cached_property
    def pairs(self):
        """Good and bad sentence of each pair."""
        return list(synthetic(COUNTS[self.shape]))

    def texts(self, pairs=None):
        """Return the sentences of the first ``pairs`` pairs (None: all), good and bad in turn."""
        return [text for pair in self.pairs[:pairs] for text in pair]

    @cached_property
    def items(self):
        """Path of an items table with all pairs."""
        return tiny.write_items(self.work / f"{self.name}-items.parquet", self.pairs)

    @cached_property
    def tokens(self):
        """Number of tokens of the distinct sentences, which are scored once."""
        tokenizer = AutoTokenizer.from_pretrained(self.checkpoint.parent)
        ids = tokenizer(list(set(self.texts())), add_special_tokens=False).input_ids
        return sum(map(len, ids))

    @cached_property
    def operations(self):
        """Floating point operations per token: two for each weight that it is multiplied with.

        Attention is left out, which is small for sentences. Embeddings count if they are also the
        output layer.
        """
        weights, tied = 0, SHAPES[self.shape].get("tie_word_embeddings", False)
        for file in self.checkpoint.parent.glob("*.safetensors"):
            with safe_open(file, framework="pt") as tensors:
                names = set(tensors.keys())
                for name in names:
                    size = tensors.get_slice(name).get_shape()
                    looked_up = "embed_tokens" in name and not tied
                    if len(size) == 2 and not looked_up:
                        weights += size[0] * size[1]
        return 2 * weights

    def options(self, mode=None, **changes):
        """Return options of scoring, in the shape's number format, with a mode of vLLM."""
        vllm = VllmOptions(mode=mode or "served", kv_cache_mib=256, **changes.pop("vllm", {}))
        return ScoringOptions(**{"dtype": self.dtype, "vllm": vllm} | changes)
