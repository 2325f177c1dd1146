"""Compare LSTMs with and without shared prefixes, in computed tokens, time and scores.

python benchmarks/prefixes.py [FILE ...] [--vocabulary N ...] [--units N ...] [--llama] [--shards N]

FILE has sentences, or lines ``True<TAB>sentence`` and ``False<TAB>sentence`` as CLAMS releases
them. It may be compressed. By default, three large sets of the mirror are read. Models are LSTMs of
two layers with random weights (time does not depend on them), those of ``--checkpoint``, or a small
random Llama (``--llama``).

The naive way pads batches of sentences of similar lengths, 8,192 tokens each, through torch's LSTM,
with one softmax per token. For a Llama, it is the engine without sharing. Both ways score the
distinct sentences of a file in shards of a thousand, each in its best order, on one thread. Times
are processor seconds. ``--shards`` measures this number of evenly spread shards; tokens are counted
in all shards.
"""

import argparse
import json
import lzma
import tempfile
from pathlib import Path

import numpy as np
import scoring_kit as kit
import torch
from safetensors.torch import save_file

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.models.corpus import END, UNKNOWN
from blimpworks.models.fitting import single_thread
from blimpworks.models.lstm import END_ID, LstmModel, LstmSettings, load_lstm
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.hub_loading import target_logprobs
from blimpworks.scoring.passes import make_batches, plan_rows
from blimpworks.scoring.transformers_engine import ROW_TOKENS
from blimpworks.scoring.trie import build_trie
from support import tiny

SETS = ("fr_evalset/subj_rel", "en_evalset/obj_rel_across_anim", "en_evalset/prep_anim")
SHARD = 1000


def read_set(path):
    """Return a file's sentences, and its pairs: each wrong sentence with the last right one."""
    open_text = lzma.open if path.suffix == ".xz" else open
    sentences, pairs, right = [], [], None
    with open_text(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            label, tab, text = line.rstrip("\n").partition("\t")
            sentences.append(text if tab else label)
            if tab and label == "True":
                right = text
            elif tab and right is not None:
                pairs.append((right, text))
    return sentences, pairs


def random_lstm(directory, vocabulary, units, texts):
    """Make an LSTM with random weights and the words of ``texts``; return its checkpoint."""
    directory.mkdir()
    entries = sorted({word for text in texts for word in text.split()})
    entries = [UNKNOWN, END, *entries, *(f"filler{n}" for n in range(vocabulary))][:vocabulary]
    shape = {"layers": 2, "hidden": units, "embedding": units}
    settings = LstmSettings(words="whitespace", vocabulary=vocabulary, **shape)
    torch.manual_seed(0)
    save_file(LstmModel(settings).state_dict(), directory / "model.safetensors")
    (directory / "vocabulary.txt").write_text("".join(f"{word}\n" for word in entries))
    (directory / "config.json").write_text(json.dumps(settings.model_dump()))
    return tiny.describe(directory, "lstm")


@single_thread()
@torch.inference_mode()
def padded(model, rows, batch_tokens=8192):
    """Return the log-probabilities of each row's ids after the first, scored with padding."""
    logprobs = [None] * len(rows)
    lengths = list(map(len, rows))
    order = sorted(range(len(rows)), key=lengths.__getitem__)
    for group in make_batches(lengths, order, batch_tokens):
        tensors = [torch.from_numpy(rows[number]) for number in group]
        ids = torch.nn.utils.rnn.pad_sequence(tensors)
        counts = np.array([len(tensor) - 1 for tensor in tensors])
        real = torch.from_numpy(np.arange(len(ids) - 1) < counts[:, None])
        hidden = model(ids[:-1])[0].transpose(0, 1)[real]
        flat = target_logprobs(hidden, model.head, ids[1:].t()[real].long()).numpy()
        for number, row in zip(group, np.split(flat, np.cumsum(counts)[:-1]), strict=True):
            logprobs[number] = row
    return logprobs


class Ways:
    """A model that scores in the naive way and with shared prefixes."""

    def __init__(self, name, checkpoint, model_type):
        self.name, self.lstm = name, model_type == "lstm"
        first = "eos" if self.lstm else "bos"
        options = {
            sharing: ScoringOptions(sharing=sharing, first_token=first)
            for sharing in ("always", "never")
        }
        self.shared = load_engine(checkpoint, model_type, options["always"])
        self._model = load_lstm(checkpoint.parent)[0] if self.lstm else None
        self._alone = None if self.lstm else load_engine(checkpoint, model_type, options["never"])

    def naive(self, encoded):
        if self._alone is not None:
            return self._alone.logprobs(encoded)
        return padded(self._model, [np.append([END_ID], e.ids).astype(np.int32) for e in encoded])

    def counts(self, encoded):
        """Return numbers of computed tokens: naive, shared, and shared if no end were scored."""
        naive = computed = without_end = 0
        for shard in cut(encoded):
            rows = [np.append([END_ID], e.ids).astype(np.int32) for e in shard]
            naive += sum(len(row) - 1 for row in rows)
            computed += self._computed(rows)
            without_end += self._computed([row[:-1] for row in rows]) if self.lstm else 0
        return naive, computed, without_end

    def _computed(self, rows):
        trie = build_trie(np.concatenate(rows), np.array(list(map(len, rows))))
        plan = plan_rows(trie, ROW_TOKENS["cpu"])
        return int(plan.read.sum()) if self.lstm else plan.node.size


def cut(sequence):
    """Return the shards of a sequence, a thousand elements each."""
    return [sequence[start : start + SHARD] for start in range(0, len(sequence), SHARD)]


def by_shards(score, encoded, order):
    """Return the processor seconds of shards in an order, and log-probabilities by number."""
    logprobs = [None] * len(encoded)

    def go():
        for shard in cut(order):
            rows = score([encoded[number] for number in shard])
            for number, row in zip(shard, rows, strict=True):
                logprobs[number] = row

    return kit.spent(go)[1], logprobs


def measure(ways, label, sentences, pairs, shards):
    """Return the cells of the table's row for a set and a model."""
    texts = sorted(set(sentences))
    encoded = ways.shared.encode(texts)
    naive, computed, without_end = ways.counts(encoded)
    all_shards = cut(range(len(texts)))
    count = min(shards or len(all_shards), len(all_shards))
    chosen = np.linspace(0, len(all_shards) - 1, count).astype(int)
    numbers = [number for shard in sorted({*chosen.tolist()}) for number in all_shards[shard]]
    texts, encoded = [texts[n] for n in numbers], [encoded[n] for n in numbers]
    ways.shared.logprobs(encoded[:2])  # the first call loads the weights
    by_length = sorted(range(len(texts)), key=lambda number: len(encoded[number].ids))
    naive_time, plain = by_shards(ways.naive, encoded, by_length)
    shared_time, shared = by_shards(ways.shared.logprobs, encoded, range(len(texts)))
    gap = max(np.nanmax(np.abs(a - b)) for a, b in zip(plain, shared, strict=True))
    end = -1 if ways.lstm else None  # as CLAMS, whose sums omit the end symbol
    sums = [
        {text: np.nansum(row[:end], dtype=float) for text, row in zip(texts, rows, strict=True)}
        for rows in (plain, shared)
    ]
    scored_pairs = [pair for pair in pairs if all(text in sums[0] for text in pair)]
    changed = sum(len({total[a] >= total[b] for total in sums}) > 1 for a, b in scored_pairs)
    cells = [f"{count:,}" for count in (len(sentences), naive, computed)]
    cells += [f"{computed / naive:.3f}", f"{without_end:,}" if without_end else "–"]
    cells += [f"{naive_time:.1f}", f"{shared_time:.1f}", f"{naive_time / shared_time:.1f}"]
    return [label, ways.name, *cells, f"{changed} of {len(scored_pairs):,}", f"{gap:.0e}"]


COLUMNS = (
    "set",
    "model",
    "sentences",
    "tokens",
    "computed tokens",
    "computed / tokens",
    "computed if no end is scored",
    "naive, s",
    "shared, s",
    "naive / shared",
    "different decisions",
    "largest difference, nats",
)


def models(options, texts, directory):
    """Yield the models to measure, made in a directory if they are random."""
    for checkpoint in options.checkpoint:
        yield Ways(checkpoint.parent.name, checkpoint, "lstm")
    for units in options.units:
        for vocabulary in options.vocabulary:
            path = random_lstm(directory / f"{vocabulary}-{units}", vocabulary, units, texts)
            yield Ways(f"LSTM, {vocabulary:,} words, 2 x {units}", path, "lstm")
    if options.llama:
        small = kit.train_small(directory)
        sizes = {"hidden_size": 256, "intermediate_size": 1024, "num_hidden_layers": 6}
        sizes |= {"num_attention_heads": 4, "vocab_size": 32_000}
        path = kit.random_llama(small, directory / "llama", **sizes)
        yield Ways("Llama, 32,000 tokens, 6 x 256", path, "transformers")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--mirror", type=Path, default=kit.MIRROR)
    parser.add_argument("--checkpoint", nargs="*", type=Path, default=[])
    parser.add_argument("--vocabulary", nargs="*", type=int, default=[10_000, 50_000])
    parser.add_argument("--units", nargs="*", type=int, default=[200, 650])
    parser.add_argument("--llama", action="store_true")
    parser.add_argument("--shards", type=int, default=0, help="shards of a set; 0: all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    files = options.files or [options.mirror / "clams" / f"{name}.txt.xz" for name in SETS]
    sets = {path.name.partition(".")[0]: read_set(path) for path in files}
    texts = [text for sentences, _ in sets.values() for text in sentences]
    print(f"| {' | '.join(COLUMNS)} |\n|---|---{'|--:' * (len(COLUMNS) - 2)}|")
    with tempfile.TemporaryDirectory() as name:
        for ways in models(options, texts, Path(name)):
            for label, (sentences, pairs) in sets.items():
                row = measure(ways, label, sentences, pairs, options.shards)
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
