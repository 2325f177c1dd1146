"""Commands that make training text and train the campaign's own models."""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from blimpworks.campaign.settings.training import (
    HOW_MANY,
    CorpusOptions,
    EncoderDecoderRecipe,
    InstructRecipe,
    LstmRecipe,
    MaskedRecipe,
    NgramRecipe,
    TrainingOptions,
    TransformerRecipe,
)
from blimpworks.commands.declare import WITH_FOLDER, WRITTEN, Use, calls, recorded, spread
from blimpworks.commands.options import TABLES, IsoOfLanguage, optional, settings

MODELS = "blimpworks.models"
NETWORKS = ("numpy", "torch", "transformers", "tokenizers", "safetensors")
"""Packages of the commands that train transformers."""


def _files_of(corpus: Path) -> list[Path]:
    from blimpworks.models.corpus import files_of

    return files_of(corpus)


def _read_by(text: Path, given: Mapping[str, Any]) -> Iterable[Path]:
    """What a recipe is trained on: one that knows the words of a corpus reads that."""
    return _files_of(text) if getattr(given["recipe"], "corpus", None) else [text]


def _recipe(model: type[BaseModel]) -> dict[str, Any]:
    return {"help": "The recipe, as JSON.", **settings(model)}


CORPUS = Use(reads=lambda corpus, _: _files_of(corpus))
LEARNT = spread(exclude=HOW_MANY)
"""Records what of a recipe decides the model."""
Text = Annotated[
    Path,
    typer.Argument(help="Text, one sentence per line, or dialogues, or the recipe's corpus.json."),
    Use(reads=_read_by),
]
Name = Annotated[str, typer.Option(help="Name of the model in the catalogue.")]
Scope = Annotated[str, typer.Option(help="ISO 639-3 code, or multi.")]
RecipeName = Annotated[
    str,
    typer.Option(help="Name of the recipe in the campaign."),
    Use(records=lambda _, name: {"recipe": name}),
]
Seed = Annotated[int, typer.Option(help="Seed of all that is drawn at random.")]
Checkpoint = Annotated[
    Path,
    typer.Option("--output", help="checkpoint.json; the model's files go beside it."),
    WITH_FOLDER,
]
CorpusFile = Annotated[Path, typer.Argument(help="The corpus.json of a corpus."), CORPUS]
NewCorpus = Annotated[
    Path, typer.Option("--output", help="corpus.json; the files go beside it."), WITH_FOLDER
]
NewText = Annotated[Path, typer.Option(help="Text file to write."), WRITTEN]
Tokens = Annotated[Path | None, typer.Option(help="Tokens table.")]
Sentences = Annotated[Path | None, typer.Option(help="Sentences table.")]
Plain = Annotated[
    list[Path], typer.Option("--text", help="Plain text; may be repeated.", **optional())
]
Items = Annotated[list[Path], typer.Option(help="Items to hold out; repeatable.", **optional())]


@calls(f"{MODELS}.text:build_text", packages=TABLES, pandas=False)
def build_text(
    output: NewText,
    options: Annotated[
        TrainingOptions,
        typer.Option(help="Training options, as JSON.", **settings(TrainingOptions)),
        spread(include={"treebank_text", "max_sentences"}),
    ],
    *,
    tokens: Tokens = None,
    sentences: Sentences = None,
    language: Annotated[
        Path | None, typer.Option(help="Pack of UrBLiMP's rules, for its spelling.")
    ] = None,
    text_files: Plain,
    items: Items,
) -> None:
    """Write training text from plain text and treebanks, without the items' sentences."""


@calls(f"{MODELS}.text:join_text")
def join_text(
    texts: Annotated[list[Path], typer.Argument(help="Training texts of languages.")],
    output: NewText,
) -> None:
    """Concatenate training texts of several languages, each sentence once."""


@recorded(
    (f"{MODELS}.corpus_build:build_corpus", f"{MODELS}.corpus:take_released"), packages=TABLES
)
def build_corpus(
    output: NewCorpus,
    options: Annotated[
        CorpusOptions,
        typer.Option(help="Options of the corpus, as JSON.", **settings(CorpusOptions)),
        spread(),
    ],
    lang: IsoOfLanguage,
    *,
    tokens: Tokens = None,
    sentences: Sentences = None,
    text: Plain,
    items: Items,
    released: Annotated[
        list[Path],
        typer.Option(
            help="train.txt, valid.txt, test.txt, vocab.txt of a released corpus.", **optional()
        ),
    ],
    treebank_text: Annotated[bool, typer.Option(help="Take the treebank's sentences.")] = True,
) -> Mapping[str, Any]:
    """Build a corpus to train LSTMs on, or take over a released one as it is."""
    from blimpworks.models import corpus, corpus_build

    if released:
        return corpus.take_released({path.stem: path for path in released}, output).counts
    given = (tokens, sentences, text, items, output, options)
    return corpus_build.build_corpus(*given, lang=lang, treebank_text=treebank_text).counts


@calls(f"{MODELS}.corpus:join_corpora", packages=("numpy",), notes=attrgetter("counts"))
def join_corpora(
    corpora: Annotated[
        list[Path],
        typer.Argument(help="corpus.json of each language."),
        Use(reads=lambda corpora, _: [path for each in corpora for path in _files_of(each)]),
    ],
    joined: NewCorpus,
) -> None:
    """Concatenate corpora of several languages into one, and unite their vocabularies."""


@calls(f"{MODELS}.corpus_sample:sample_corpus", packages=("numpy",), notes=attrgetter("counts"))
def sample_corpus(
    corpus: CorpusFile,
    sample: NewCorpus,
    tokens: Annotated[int, typer.Option(help="Words of training text.", min=1)],
    seed: Seed,
) -> None:
    """Draw a random sample of a corpus's training text; all else stays as it is."""


@calls(
    f"{MODELS}.lstm:train_lstm",
    packages=("numpy", "torch", "safetensors"),
    notes=lambda trained: {
        "test_perplexity": round(trained.perplexity, 4),
        "device": trained.device,
    },
)
def train_lstm(
    corpus: CorpusFile,
    name: Name,
    scope: Scope,
    recipe_name: RecipeName,
    recipe: Annotated[LstmRecipe, typer.Option(**_recipe(LstmRecipe)), LEARNT],
    seed: Seed,
    checkpoint: Checkpoint,
) -> None:
    """Train an LSTM language model from scratch."""


@calls(
    f"{MODELS}.perplexity:measure_perplexity",
    packages=("numpy", "pyarrow", "torch"),
    notes=lambda row: {"perplexity": round(row["perplexity"], 4)},
)
def measure_perplexity(
    checkpoint: Annotated[
        Path,
        typer.Argument(help="checkpoint.json of an LSTM."),
        Use(reads=lambda checkpoint, _: [checkpoint, checkpoint.parent]),
    ],
    corpus: Annotated[Path, typer.Option(help="The corpus.json of the language's corpus."), CORPUS],
    lang: IsoOfLanguage,
    output: Annotated[Path, typer.Option(help="Table of perplexities."), WRITTEN],
) -> None:
    """Measure an LSTM's perplexity on the test text of a corpus."""


@recorded(f"{MODELS}.ngram:train_ngram", packages=("kenlm",), pandas=False)
def train_ngram(
    text: Text,
    name: Name,
    scope: Scope,
    recipe_name: RecipeName,
    recipe: Annotated[NgramRecipe, typer.Option(**_recipe(NgramRecipe)), spread()],
    output: Checkpoint,
) -> Mapping[str, Any]:
    """Estimate an n-gram model with KenLM."""
    from blimpworks.models import ngram

    ngram.train_ngram(text, output, name=name, scope=scope, recipe_name=recipe_name, recipe=recipe)
    return {"programs": ngram.program_digests()}


def _trainer(model: type[BaseModel], help_text: str) -> Callable[..., None]:
    """The signature and help of a command that trains a transformer."""

    def train(
        text: Text,
        name: Name,
        scope: Scope,
        recipe_name: RecipeName,
        recipe: Annotated[BaseModel, typer.Option(**_recipe(model)), LEARNT],
        seed: Seed,
        checkpoint: Checkpoint,
    ) -> None: ...

    train.__doc__ = help_text
    return train


for _kind, _model, _help in (
    ("transformer", TransformerRecipe, "Train a small causal language model from scratch."),
    ("masked", MaskedRecipe, "Train a small masked language model from scratch."),
    ("encoder_decoder", EncoderDecoderRecipe, "Train a small encoder-decoder from scratch."),
    ("instruct", InstructRecipe, "Train a small model that follows instructions on dialogues."),
):
    _trains = calls(f"{MODELS}.{_kind}:train_{_kind}", packages=NETWORKS, name=f"train_{_kind}")
    _trains(_trainer(_model, _help))
