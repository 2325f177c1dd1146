"""Define commands that read treebanks, make training text and train the campaign's models.

``commands/declare.py`` explains the arguments of ``@command``, and the jobs (``NAME.job``).
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from blimpworks.campaign.settings import training
from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.commands import shared
from blimpworks.commands.declare import READ, WITH_FOLDER, Use, command, spread
from blimpworks.commands.options import argument, option, settings, written

MODELS = "blimpworks.models"
NETWORKS = ("numpy", "torch", "transformers", "tokenizers", "safetensors")
"""Packages of commands that train transformers."""


def _files_of(corpus: Path) -> list[Path]:
    from blimpworks.models.corpus import files_of

    return files_of(corpus)


def _files_of_text(text: Path, arguments: Mapping[str, Any]) -> Iterable[Path]:
    # Recipes with a corpus train on the files of its corpus.json, others on a text file.
    return _files_of(text) if getattr(arguments["recipe"], "corpus", None) else [text]


CORPUS = Use(inputs_from=lambda corpus, _: _files_of(corpus))
"""Use of a corpus.json: the job reads all files of the corpus."""
RECIPE = spread(exclude=training.HOW_MANY)
"""Use of a recipe: all settings are recorded that decide the content of a model."""
TEXT_ARGUMENT = argument(
    "Text, one sentence per line, or dialogues, or the recipe's corpus.json.",
    use=Use(inputs_from=_files_of_text),
)
NAME = option("Name of the model in the catalogue.")
SCOPE = option("ISO 639-3 code, or multi.")
RECIPE_NAME = option(
    "Name of the recipe in the campaign.", use=Use(parameters_from=lambda _, name: {"recipe": name})
)
SEED = option("Seed of all that is drawn at random.")
CHECKPOINT = option("checkpoint.json; the model's files go beside it.", "--output", use=WITH_FOLDER)
CORPUS_FILE = argument("The corpus.json of a corpus.", use=CORPUS)
NEW_CORPUS = option("corpus.json; the files go beside it.", "--output", use=WITH_FOLDER)
NEW_TEXT = written("Text file to write.")
TOKENS = option("Tokens table.")
SENTENCES = option("Sentences table.")
TEXT_OPTION = option("Plain text; may be repeated.", "--text", default=list)
ITEMS = option("Items to hold out; repeatable.", default=list)


def _treebanks(files: Sequence[Path]) -> list[str]:
    # The directory of a file is called after its treebank.
    return [path.absolute().parent.name for path in files]


@command(
    recorded="blimpworks.linguistics.treebanks:build_tokens",
    packages=("conllu", "pyarrow"),
    pandas=False,
)
def build_tokens(
    files: list[Path] = argument(
        "CoNLL-U files of one language; the directory of each names its treebank.",
        metavar="FILE...",
        use=Use(
            inputs_from=READ.inputs_from,
            parameters_from=lambda _, files: {"treebanks": _treebanks(files)},
        ),
    ),
    tokens: Path = written("The tokens table to write."),
    sentences: Path = written("The sentences table to write."),
    malformed: Path = written("The report to write of sentences left out."),
    options: TreebankOptions = settings(
        TreebankOptions, "The treebanks section of a campaign, as JSON."
    ),
) -> Mapping[str, Any]:
    """Read the treebanks of a language into tables of tokens and sentences."""
    from blimpworks.linguistics.treebanks import build_tokens as build

    treebank_files = [*zip(_treebanks(files), files, strict=True)]
    counts = build(treebank_files, tokens, sentences, malformed, options)
    logging.info("build-tokens: %s", ", ".join(f"{n} {noun}" for noun, n in counts.items()))
    return counts


@command(calls=f"{MODELS}.text:build_text", packages=shared.ARROW, pandas=False)
def build_text(
    output: Path = NEW_TEXT,
    options: training.TrainingOptions = settings(
        training.TrainingOptions,
        "Training options, as JSON.",
        use=spread(include={"treebank_text", "max_sentences"}),
    ),
    tokens: Path | None = TOKENS,
    sentences: Path | None = SENTENCES,
    language: Path | None = option("Pack that says how the language is spelled."),
    text_files: list[Path] = TEXT_OPTION,
    items: list[Path] = ITEMS,
) -> None:
    """Write training text from plain text and treebanks, without the items' sentences."""


@command(calls=f"{MODELS}.text:join_text")
def join_text(
    texts: list[Path] = argument("Training texts of languages."), output: Path = NEW_TEXT
) -> None:
    """Concatenate training texts of several languages, each sentence once."""


@command(
    recorded=(f"{MODELS}.corpus:build_corpus", f"{MODELS}.corpus:take_released"),
    packages=shared.ARROW,
)
def build_corpus(
    output: Path = NEW_CORPUS,
    options: training.CorpusOptions = settings(
        training.CorpusOptions, "Options of the corpus, as JSON.", use=spread()
    ),
    lang: str = shared.LANG,
    tokens: Path | None = TOKENS,
    sentences: Path | None = SENTENCES,
    text: list[Path] = TEXT_OPTION,
    items: list[Path] = ITEMS,
    released: list[Path] = option(
        "train.txt, valid.txt, test.txt, vocab.txt of a released corpus.", default=list
    ),
    treebank_text: bool = option("Take the treebank's sentences.", default=True),
) -> Mapping[str, Any]:
    """Build a corpus to train LSTMs on, or copy a released one."""
    from blimpworks.models import corpus as library

    if released:
        return library.take_released({path.stem: path for path in released}, output).counts
    arguments = (tokens, sentences, text, items, output, options)
    return library.build_corpus(*arguments, lang=lang, treebank_text=treebank_text).counts


@command(calls=f"{MODELS}.corpus:join_corpora", packages=("numpy",), notes=attrgetter("counts"))
def join_corpora(
    corpora: list[Path] = argument(
        "corpus.json of each language.",
        use=Use(
            inputs_from=lambda corpora, _: [
                path for corpus in corpora for path in _files_of(corpus)
            ]
        ),
    ),
    joined: Path = NEW_CORPUS,
) -> None:
    """Concatenate corpora of several languages into one, and unite their vocabularies."""


@command(calls=f"{MODELS}.corpus:sample_corpus", packages=("numpy",), notes=attrgetter("counts"))
def sample_corpus(
    corpus: Path = CORPUS_FILE,
    sample: Path = NEW_CORPUS,
    tokens: int = option("Words of training text.", min=1),
    seed: int = SEED,
) -> None:
    """Draw a random sample of a corpus's training text; other files stay unchanged."""


@command(
    calls=f"{MODELS}.lstm:train_lstm",
    packages=("numpy", "torch", "safetensors"),
    notes=lambda trained: {
        "test_perplexity": round(trained.perplexity, 4),
        "device": trained.device,
    },
)
def train_lstm(
    corpus: Path = CORPUS_FILE,
    name: str = NAME,
    scope: str = SCOPE,
    recipe_name: str = RECIPE_NAME,
    recipe: training.LstmRecipe = settings(training.LstmRecipe, "The recipe, as JSON.", use=RECIPE),
    seed: int = SEED,
    checkpoint: Path = CHECKPOINT,
) -> None:
    """Train an LSTM language model from scratch."""


@command(
    calls=f"{MODELS}.lstm:measure_perplexity",
    packages=("numpy", "pyarrow", "torch"),
    notes=lambda row: {"perplexity": round(row["perplexity"], 4)},
)
def measure_perplexity(
    checkpoint: Path = argument(
        "checkpoint.json of an LSTM.",
        use=Use(inputs_from=lambda checkpoint, _: [checkpoint, checkpoint.parent]),
    ),
    corpus: Path = option("The corpus.json of the language's corpus.", use=CORPUS),
    lang: str = shared.LANG,
    output: Path = written("Table of perplexities."),
) -> None:
    """Measure an LSTM's perplexity on the test text of a corpus."""


@command(recorded=f"{MODELS}.ngram:train_ngram", packages=("kenlm",), pandas=False)
def train_ngram(
    text: Path = TEXT_ARGUMENT,
    name: str = NAME,
    scope: str = SCOPE,
    recipe_name: str = RECIPE_NAME,
    recipe: training.NgramRecipe = settings(
        training.NgramRecipe, "The recipe, as JSON.", use=spread()
    ),
    output: Path = CHECKPOINT,
) -> Mapping[str, Any]:
    """Estimate an n-gram model with KenLM."""
    from blimpworks.models import ngram

    ngram.train_ngram(text, output, name=name, scope=scope, recipe_name=recipe_name, recipe=recipe)
    return {"programs": ngram.program_digests()}


def _declare_trainer(trainer: str, recipe_class: type[BaseModel], help_text: str) -> None:
    """Declare the command ``trainer``, which calls ``models.transformer.<trainer>``."""

    def train(
        text: Path = TEXT_ARGUMENT,
        name: str = NAME,
        scope: str = SCOPE,
        recipe_name: str = RECIPE_NAME,
        recipe: BaseModel = settings(recipe_class, "The recipe, as JSON.", use=RECIPE),
        seed: int = SEED,
        checkpoint: Path = CHECKPOINT,
    ) -> None: ...

    train.__doc__ = help_text
    command(calls=f"{MODELS}.transformer:{trainer}", packages=NETWORKS, name=trainer)(train)


for command_name, recipe_class, model_trained in (
    ("train_transformer", training.TransformerRecipe, "causal language model from scratch"),
    ("train_masked", training.MaskedRecipe, "masked language model from scratch"),
    ("train_encoder_decoder", training.EncoderDecoderRecipe, "encoder-decoder from scratch"),
    ("train_instruct", training.InstructRecipe, "model that follows instructions on dialogues"),
):
    _declare_trainer(command_name, recipe_class, f"Train a small {model_trained}.")
