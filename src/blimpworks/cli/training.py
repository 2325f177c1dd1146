"""Verbs that make training text and train the campaign's own models."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import BaseModel

from blimpworks.config import (
    EncoderDecoderRecipe,
    LstmRecipe,
    MaskedRecipe,
    NgramRecipe,
    TrainingOptions,
    TransformerRecipe,
    parse_options,
)
from blimpworks.provenance.record import Job

Text = Annotated[Path, typer.Argument(help="Training text, one sentence per line.")]
Name = Annotated[str, typer.Option(help="Name of the model in the catalogue.")]
Scope = Annotated[str, typer.Option(help="ISO 639-3 code, or multi.")]
RecipeName = Annotated[str, typer.Option(help="Name of the recipe in the campaign.")]
Recipe = Annotated[str, typer.Option(help="The recipe, as JSON.")]
Output = Annotated[Path, typer.Option(help="checkpoint.json; the model's files go beside it.")]


def build_text(
    output: Annotated[Path, typer.Option(help="Text file to write.")],
    options: Annotated[str, typer.Option(help="Training options, as JSON.")],
    tokens: Annotated[Path | None, typer.Option(help="Tokens table.")] = None,
    sentences: Annotated[Path | None, typer.Option(help="Sentences table.")] = None,
    text: Annotated[list[Path] | None, typer.Option(help="Plain text; may be repeated.")] = None,
    items: Annotated[list[Path] | None, typer.Option(help="Items to hold out; repeatable.")] = None,
) -> None:
    """Write training text from plain text and treebanks, without the items' sentences."""
    from blimpworks.models import text as library

    chosen = parse_options(TrainingOptions, options)
    inputs = [*filter(None, (tokens, sentences)), *(text or []), *(items or [])]
    params = chosen.model_dump(include={"treebank_text", "max_sentences"})
    with Job("build_text", inputs=inputs, outputs=[output], params=params) as job:
        counts = library.build_text(tokens, sentences, text or [], items or [], output, chosen)
        job.note(**counts)


def train_ngram(
    text: Text, name: Name, scope: Scope, recipe_name: RecipeName, recipe: Recipe, output: Output
) -> None:
    """Estimate an n-gram model with KenLM."""
    from blimpworks.models import ngram

    settings = parse_options(NgramRecipe, recipe)
    params = {"name": name, "scope": scope, "recipe": recipe_name, **settings.model_dump()}
    outputs = [output, output.parent]
    with Job("train_ngram", inputs=[text], outputs=outputs, params=params) as job:
        ngram.train_ngram(
            text, output, name=name, scope=scope, recipe_name=recipe_name, recipe=settings
        )
        job.note(programs=ngram.program_digests())


class Network(NamedTuple):
    """A kind of network that a verb of its own trains."""

    recipe: type[BaseModel]
    module: str
    """Below ``blimpworks.models``; it has a function of the verb's name."""
    help: str


NETWORKS = {
    "train_transformer": Network(
        TransformerRecipe, "transformer", "Train a small causal language model from scratch."
    ),
    "train_masked": Network(
        MaskedRecipe, "masked", "Train a small masked language model from scratch."
    ),
    "train_encoder_decoder": Network(
        EncoderDecoderRecipe, "encoder_decoder", "Train a small encoder-decoder from scratch."
    ),
    "train_lstm": Network(LstmRecipe, "lstm", "Train an LSTM language model from scratch."),
}


def _trainer(verb: str, network: Network) -> Callable[..., None]:
    """The verb that trains a kind of network."""

    def train(
        text: Text,
        name: Name,
        scope: Scope,
        recipe_name: RecipeName,
        recipe: Recipe,
        seed: Annotated[int, typer.Option(help="Seed of all that is drawn at random.")],
        output: Output,
    ) -> None:
        """Train the network; the command's help says which."""
        settings = parse_options(network.recipe, recipe)
        params = {"name": name, "scope": scope, "recipe": recipe_name, "seed": seed}
        params |= settings.model_dump()
        function = getattr(import_module(f"blimpworks.models.{network.module}"), verb)
        names = {"name": name, "scope": scope, "recipe_name": recipe_name}
        with Job(verb, inputs=[text], outputs=[output, output.parent], params=params):
            function(text, output, recipe=settings, seed=seed, **names)

    return train


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (build_text, train_ngram):
        app.command()(verb)
    for name, network in NETWORKS.items():
        app.command(name.replace("_", "-"), help=network.help)(_trainer(name, network))
