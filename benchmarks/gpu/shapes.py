"""What is measured with: models of real sizes with random weights, sentences, options."""

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
"""Llama 3.2 1B, Llama 3.1 8B, and one for trying this out."""
COUNTS = {"1b": 20_000, "8b": 4000, "tiny": 60}
"""Pairs whose sentences are scored."""
GPU = torch.cuda.is_available()


def synthetic(count):
    """Pairs of 20 or so random words that differ in one: little to share, as in treebanks."""
    draw = random.Random(0)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]
    for _ in range(count):
        good = draw.choices(words, k=draw.randint(8, 32))
        bad = list(good)
        place = draw.randrange(len(bad))
        bad[place] = draw.choice([word for word in words if word != good[place]])
        yield " ".join(good), " ".join(bad)


def _tokenizer(scratch):
    """A small model that lends its tokenizer, with a chat template."""
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
    """Seal the model in ``directory``; where there is none, make one with random weights.

    It is made on the GPU where there is one. Its vocabulary has the shape's size, though its
    tokenizer is that of a small model.
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
    """What a measurement is done with, and where its rows go."""

    name: str
    shape: str
    dtype: str
    models: Path
    work: Path
    rounds: int

    @property
    def rows(self):
        """The file that rows are added to, one JSON object a line."""
        return self.work / f"{self.name}.jsonl"

    def emit(self, **row):
        """Add a row at once, so that it outlives this process."""
        with self.rows.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")

    @property
    def checkpoint(self):
        """Of the shape's model, which the measurement ``models`` has made."""
        return self.models / self.shape / "checkpoint.json"

    @cached_property
    def pairs(self):
        """Pairs of sentences."""
        return list(synthetic(COUNTS[self.shape]))

    def texts(self, pairs=None):
        """Sentences of some pairs, good and bad in turn."""
        return [text for pair in self.pairs[:pairs] for text in pair]

    @cached_property
    def items(self):
        """An items table of all pairs."""
        return tiny.write_items(self.work / f"{self.name}-items.parquet", self.pairs)

    @cached_property
    def tokens(self):
        """Tokens of the distinct sentences, which are scored once."""
        tokenizer = AutoTokenizer.from_pretrained(self.checkpoint.parent)
        ids = tokenizer(list(set(self.texts())), add_special_tokens=False).input_ids
        return sum(map(len, ids))

    @cached_property
    def operations(self):
        """Floating point operations of a token: two for each weight that it is multiplied with.

        Attention is left out, which for sentences is next to nothing. Embeddings count where they
        are the output layer too.
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
        """Options of scoring; with ``mode``, of vLLM."""
        vllm = VllmOptions(mode=mode or "served", kv_cache_mib=256, **changes.pop("vllm", {}))
        return ScoringOptions(**{"dtype": self.dtype, "vllm": vllm} | changes)
