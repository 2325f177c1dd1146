"""Make tiny real models and tables for several test files."""

import json
import random
import shutil
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from blimpworks.campaign.settings import training
from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.models import transformer
from blimpworks.models.checkpoint import Checkpoint, Retrieved, seal
from blimpworks.models.corpus import build_corpus
from blimpworks.models.fitting import single_thread
from blimpworks.models.lstm import train_lstm
from blimpworks.models.ngram import train_ngram
from blimpworks.models.text import training_sentences
from blimpworks.scoring.store import Request, encode_requests, score_shard
from blimpworks.tables import ITEMS, write_table

SHAPE = {"vocabulary": 320, "hidden": 32, "layers": 2, "heads": 2, "context": 48}
SHAPE |= {"epochs": 2, "batch_tokens": 400, "checkpoint_steps": 3}
RECIPE = training.TransformerRecipe(kind="transformer", **SHAPE)
MASKED = training.MaskedRecipe(kind="masked", **SHAPE)
SEQ2SEQ = training.EncoderDecoderRecipe(kind="encoder-decoder", **SHAPE)
INSTRUCT = training.InstructRecipe(kind="instruct", **SHAPE)
CELLS = {"layers": 2, "hidden": 24, "embedding": 16}
LSTM = training.LstmRecipe(kind="lstm", batch=4, bptt=7, epochs=3, checkpoint_steps=5, **CELLS)
CORPUS = training.CorpusOptions(min_count=2, unknown_share=1)
NGRAM = training.NgramRecipe(kind="ngram", order=3)
NOUNS = ["dog", "cat", "nurse", "bird", "teacher", "Pferd", "água", "कुत्ता"]
VERBS = ["sees", "hears", "likes", "finds", "calls"]


def sentences(count, seed=0):
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


def maker(train, name, usual):
    def make(text, checkpoint, recipe=usual, seed=0):
        names = {"name": name, "scope": "eng", "recipe_name": name}
        train(text, checkpoint, recipe=recipe, seed=seed, **names)
        return checkpoint

    return make


make_transformer = maker(transformer.train_transformer, "tiny", RECIPE)
make_masked = maker(transformer.train_masked, "masked", MASKED)
make_seq2seq = maker(transformer.train_encoder_decoder, "seq2seq", SEQ2SEQ)


def make_with_muon(text, checkpoint):
    recipe = RECIPE.model_copy(update={"optimiser": "muon"})
    return make_transformer(text, checkpoint, recipe)


def make_instruct(text, checkpoint, recipe=INSTRUCT, seed=0):
    """Train a model to answer with the last word of the prompt."""
    prompts = [sentence.split()[:2] for sentence in training_sentences(text)]
    lines = [{"system": "S", "prompt": " ".join(two), "answer": two[-1]} for two in prompts]
    dialogues = text.with_name(f"{text.stem}.jsonl")
    dialogues.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    names = {"name": "instruct", "scope": "eng", "recipe_name": "instruct"}
    transformer.train_instruct(dialogues, checkpoint, recipe=recipe, seed=seed, **names)
    return checkpoint


def corpus_of(text, options=CORPUS):
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


MAKERS = {"causal": make_transformer, "encoder-decoder": make_seq2seq, "lstm": make_lstm}
MAKERS |= {"masked": make_masked, "ngram": make_ngram}


def pairs(count, seed=1):
    """Return pairs of random sentences; the good ones are no better than the bad."""
    texts = sentences(2 * count, seed=seed)
    return list(zip(texts[::2], texts[1::2], strict=True))


def copied(checkpoint, directory, **changes):
    shutil.copytree(checkpoint.parent, directory, dirs_exist_ok=True)
    described = json.loads(checkpoint.read_text()) | changes
    (directory / checkpoint.name).write_text(json.dumps(described))
    return directory / checkpoint.name


def unsealed(checkpoint, directory):
    """Copy a model in Hugging Face's layout, without the product's seal; return its folder."""
    copied(checkpoint, directory).unlink()
    return directory


def score_words(items, checkpoint, engine, folder, settings="{}"):
    named = {"checkpoint": checkpoint, "engine": engine, "options": settings}
    named |= {"store": folder / "shards", "manifest": folder / "manifest.json"}
    options = (word for name, value in named.items() for word in (f"--{name}", str(value)))
    return ["score", str(items), *options]


def retrieve_words(output, address, revision="", architecture="causal", scope="multi"):
    named = {"name": "tiny", "scope": scope, "hf-id": address, "revision": revision}
    named |= {"architecture": architecture, "dtype": "float32", "first-token": "bos"}
    named |= {"output": output}
    return ["retrieve-model", *(f"--{name}={value}" for name, value in named.items())]


def describe(directory, architecture):
    source = Retrieved(hf_id="some/model", revision="0" * 40)
    facts = {"architecture": architecture, "dtype": "float32", "first_token": "bos"}
    described = Checkpoint(name="some", scope="multi", source=source, **facts)
    seal(directory / "checkpoint.json", described)
    return directory / "checkpoint.json"


def items_table(pairs, **columns):
    """Return an items table of (good, bad) pairs; the critical region is the second word."""
    n = len(pairs)
    good, bad = zip(*pairs, strict=True) if pairs else ((), ())
    starts = [s.find(" ") + 1 for s in good], [s.find(" ") + 1 for s in bad]
    ends = tuple(
        [(s + " ").find(" ", start) for s, start in zip(side, begin, strict=True)]
        for side, begin in zip((good, bad), starts, strict=True)
    )
    data = dict.fromkeys(ITEMS.names, [None] * n)
    data |= {"lang": ["eng"] * n, "phenomenon": ["sv#"] * n, "paradigm": ["SG"] * n}
    data |= {"item_id": [f"i{i}" for i in range(n)], "good": list(good), "bad": list(bad)}
    names = ("good_start", "bad_start", "good_end", "bad_end")
    data |= dict(zip(names, starts + ends, strict=True))
    return pa.table(data | columns, schema=ITEMS.arrow())


def write_items(path, pairs, **columns):
    write_table(items_table(pairs, **columns), ITEMS, path)
    return path


def contents(directory):
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def naive(checkpoint):
    """Return a function that scores one text a pass with a causal model, in float32."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint.parent)
    model = AutoModelForCausalLM.from_pretrained(checkpoint.parent, dtype=torch.float32)

    @single_thread()
    @torch.inference_mode()
    def score(text, first):
        lead = [] if first == "skip" else [getattr(tokenizer, f"{first}_token_id")]
        ids = torch.tensor([lead + tokenizer(text, add_special_tokens=False)["input_ids"]])
        if ids.shape[1] < 2:
            return np.empty(0, dtype=np.float32)
        table = model(ids).logits[0, :-1].log_softmax(-1)
        return table.gather(1, ids[0, 1:, None])[:, 0].numpy()

    return score


def shard_of(engine, texts):
    """Return the shard that an engine's scores of whole texts make."""
    requests = [Request(text) for text in texts]
    keys = {request: f"key {number}" for number, request in enumerate(requests)}
    return score_shard(engine, keys, encode_requests(engine, requests))


@contextmanager
def torch_threads(count):
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def write_treebank(folder, *sentences):
    """Write tables of tokens and sentences from text like ``1:Da+ 2:.``; ``+`` means no space."""
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
    """Yield log-probabilities by an engine on one thread and on three, as bytes."""
    for count in (1, 3):
        with torch_threads(count):
            engine = open_engine()
            yield [row.tobytes() for row in engine.logprobs(engine.encode(texts))]
