"""Tiny real models and tables that several test files use."""

import json
import random
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.campaign.settings.training import (
    CorpusOptions,
    EncoderDecoderRecipe,
    InstructRecipe,
    LstmRecipe,
    MaskedRecipe,
    NgramRecipe,
    TransformerRecipe,
)
from blimpworks.models.checkpoint import Checkpoint, Retrieved, seal
from blimpworks.models.corpus import build_corpus
from blimpworks.models.instruct import train_instruct
from blimpworks.models.lstm import train_lstm
from blimpworks.models.ngram import train_ngram
from blimpworks.models.text import training_sentences
from blimpworks.models.transformer import train_encoder_decoder, train_masked, train_transformer
from blimpworks.scoring.store import Request, encode_requests, score_shard
from blimpworks.tables import ITEMS, write_table

RECIPE = TransformerRecipe(
    kind="transformer",
    vocabulary=320,
    hidden=32,
    layers=2,
    heads=2,
    context=48,
    epochs=2,
    batch_tokens=400,
    checkpoint_steps=3,
)
SHAPE = RECIPE.model_dump(exclude={"kind", "corpus", "tokens"})
MASKED = MaskedRecipe(kind="masked", **SHAPE)
SEQ2SEQ = EncoderDecoderRecipe(kind="encoder-decoder", **SHAPE)
INSTRUCT = InstructRecipe(kind="instruct", **SHAPE)
LSTM = LstmRecipe(
    kind="lstm",
    layers=2,
    hidden=24,
    embedding=16,
    batch=4,
    bptt=7,
    epochs=3,
    checkpoint_steps=5,
)
CORPUS = CorpusOptions(min_count=2, unknown_share=1)
NGRAM = NgramRecipe(kind="ngram", order=3)
NOUNS = ["dog", "cat", "nurse", "bird", "teacher", "Pferd", "água", "कुत्ता"]
VERBS = ["sees", "hears", "likes", "finds", "calls"]


def sentences(count, seed=0):
    """Distinct-looking sentences of 3 to 11 words."""
    draw = random.Random(seed)
    noun, verb = lambda: draw.choice(NOUNS), lambda: draw.choice(VERBS)
    texts = []
    for _ in range(count):
        words = ["the", noun(), verb(), "the", noun()]
        for _ in range(draw.randrange(3)):
            words += ["that", verb()]
        texts.append(" ".join(words) + draw.choice([".", "!", ""]))
    return texts


def write_corpus(path, count=240):
    path.write_text("".join(f"{s}\n" for s in sentences(count)), encoding="utf-8")
    return path


def make_transformer(text, checkpoint, recipe=RECIPE, seed=0):
    train_transformer(
        text, checkpoint, name="tiny", scope="eng", recipe_name="tiny", recipe=recipe, seed=seed
    )
    return checkpoint


def make_with_muon(text, checkpoint):
    recipe = RECIPE.model_copy(update={"optimiser": "muon"})
    return make_transformer(text, checkpoint, recipe)


def make_masked(text, checkpoint, recipe=MASKED, seed=0):
    names = {"name": "masked", "scope": "eng", "recipe_name": "masked"}
    train_masked(text, checkpoint, recipe=recipe, seed=seed, **names)
    return checkpoint


def make_seq2seq(text, checkpoint, recipe=SEQ2SEQ, seed=0):
    names = {"name": "seq2seq", "scope": "eng", "recipe_name": "seq2seq"}
    train_encoder_decoder(text, checkpoint, recipe=recipe, seed=seed, **names)
    return checkpoint


def make_instruct(text, checkpoint, recipe=INSTRUCT, seed=0):
    """A model that is taught to say the last word of what it is told."""
    prompts = [sentence.split()[:2] for sentence in training_sentences(text)]
    lines = [{"system": "S", "prompt": " ".join(two), "answer": two[-1]} for two in prompts]
    dialogues = text.with_name(f"{text.stem}.jsonl")
    dialogues.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    names = {"name": "instruct", "scope": "eng", "recipe_name": "instruct"}
    train_instruct(dialogues, checkpoint, recipe=recipe, seed=seed, **names)
    return checkpoint


def corpus_of(text, options=CORPUS):
    """A corpus of a training text, beside it."""
    corpus = text.with_name(f"{text.stem}-corpus") / "corpus.json"
    build_corpus(None, None, [text], [], corpus, options)
    return corpus


def make_lstm(text, checkpoint, recipe=LSTM, seed=0, options=CORPUS):
    names = {"name": "lstm", "scope": "eng", "recipe_name": "lstm"}
    train_lstm(corpus_of(text, options), checkpoint, recipe=recipe, seed=seed, **names)
    return checkpoint


def make_ngram(text, checkpoint, recipe=NGRAM):
    train_ngram(text, checkpoint, name="grams", scope="eng", recipe_name="g", recipe=recipe)
    return checkpoint


def describe(directory, architecture):
    """A checkpoint of whatever model lies in ``directory``."""
    described = Checkpoint(
        name="some",
        scope="multi",
        architecture=architecture,
        dtype="float32",
        first_token="bos",
        source=Retrieved(hf_id="some/model", revision="0" * 40),
    )
    seal(directory / "checkpoint.json", described)
    return directory / "checkpoint.json"


def items_table(pairs, **columns):
    """An items table of (good, bad) pairs; the critical region is the second word."""
    n = len(pairs)
    good, bad = zip(*pairs, strict=True) if pairs else ((), ())
    starts = [s.find(" ") + 1 for s in good], [s.find(" ") + 1 for s in bad]
    ends = [
        [(s + " ").find(" ", start) for s, start in zip(side, begin, strict=True)]
        for side, begin in zip((good, bad), starts, strict=True)
    ]
    data = {
        "item_id": [f"i{i}" for i in range(n)],
        "lang": ["eng"] * n,
        "phenomenon": ["sv#"] * n,
        "paradigm": ["SG"] * n,
        "good": list(good),
        "bad": list(bad),
        "good_start": starts[0],
        "good_end": ends[0],
        "bad_start": starts[1],
        "bad_end": ends[1],
        "treebank": [None] * n,
        "file": [None] * n,
        "sent_id": [None] * n,
    } | columns
    return pa.table(data, schema=ITEMS.arrow())


def write_items(path, pairs, **columns):
    write_table(items_table(pairs, **columns), ITEMS, path)
    return path


def contents(directory):
    """Bytes of all files below a directory, by relative path."""
    return {
        p.relative_to(directory).as_posix(): p.read_bytes()
        for p in directory.rglob("*")
        if p.is_file()
    }


def shard_of(engine, texts):
    """The shard that an engine's scores of whole texts would make."""
    requests = [Request(text) for text in texts]
    keys = {request: f"key {number}" for number, request in enumerate(requests)}
    return score_shard(engine, keys, encode_requests(engine, requests))


@contextmanager
def torch_threads(count):
    """Let torch have so many threads, as a job with so many processors has."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def write_treebank(folder, *sentences):
    """Tables of tokens and sentences, from text such as ``1:Da+ 2:.``; no space follows a ``+``."""
    from blimpworks.linguistics.treebanks import build_tokens  # vLLM's environment lacks conllu

    lines = []
    for number, sentence in enumerate(sentences):
        lines.append(f"# sent_id = s{number}")
        for token in sentence.split():
            ident, form = token.split(":", 1)
            head = {"1": "0"}.get(ident, "1" if ident.isdigit() else "_")
            misc = "SpaceAfter=No" if form.endswith("+") else "_"
            cells = (ident, form.removesuffix("+"), *"____", head, "root", "_", misc)
            lines.append("\t".join(cells))
        lines.append("")
    source = folder / "a.conllu"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    tables = folder / "tokens.parquet", folder / "sentences.parquet"
    build_tokens([("UD_X", source)], *tables, folder / "malformed.tsv", TreebankOptions())
    return tables


def bytes_by_threads(open_engine, texts):
    """Log-probabilities by an engine on one thread and on three, as bytes."""
    for count in (1, 3):
        with torch_threads(count):
            engine = open_engine()
            yield [row.tobytes() for row in engine.logprobs(engine.encode(texts))]


def read_shard(path):
    return pq.read_table(path)
