"""Verbs that make training text and train the campaign's own models."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import BaseModel

from blimpworks.campaign.settings.parsing import parse_options
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
from blimpworks.records.job import Job

Text = Annotated[
    Path,
    typer.Argument(help="Text, one sentence per line, or dialogues, or the recipe's corpus.json."),
]
Name = Annotated[str, typer.Option(help="Name of the model in the catalogue.")]
Scope = Annotated[str, typer.Option(help="ISO 639-3 code, or multi.")]
RecipeName = Annotated[str, typer.Option(help="Name of the recipe in the campaign.")]
Recipe = Annotated[str, typer.Option(help="The recipe, as JSON.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is drawn at random.")]
Output = Annotated[Path, typer.Option(help="checkpoint.json; the model's files go beside it.")]
CorpusFile = Annotated[Path, typer.Argument(help="The corpus.json of a corpus.")]
Tokens = Annotated[Path | None, typer.Option(help="Tokens table.")]
Sentences = Annotated[Path | None, typer.Option(help="Sentences table.")]
Plain = Annotated[list[Path] | None, typer.Option(help="Plain text; may be repeated.")]
Items = Annotated[list[Path] | None, typer.Option(help="Items to hold out; repeatable.")]


def build_text(
    output: Annotated[Path, typer.Option(help="Text file to write.")],
    options: Annotated[str, typer.Option(help="Training options, as JSON.")],
    tokens: Tokens = None,
    sentences: Sentences = None,
    text: Plain = None,
    items: Items = None,
    language: Annotated[
        Path | None, typer.Option(help="Pack of UrBLiMP's rules, for its spelling.")
    ] = None,
) -> None:
    """Write training text from plain text and treebanks, without the items' sentences."""
    from blimpworks.models import text as library

    chosen = parse_options(TrainingOptions, options)
    inputs = [*filter(None, (tokens, sentences, language)), *(text or []), *(items or [])]
    params = chosen.model_dump(include={"treebank_text", "max_sentences"})
    with Job("build_text", inputs=inputs, outputs=[output], params=params) as job:
        counts = library.build_text(
            tokens, sentences, text or [], items or [], output, chosen, language
        )
        job.note(**counts)


def join_text(
    texts: Annotated[list[Path], typer.Argument(help="Training texts of languages.")],
    output: Annotated[Path, typer.Option(help="Text file to write.")],
) -> None:
    """Concatenate training texts of several languages, each sentence once."""
    from blimpworks.models import text as library

    with Job("join_text", inputs=texts, outputs=[output], params={}) as job:
        job.note(**library.join_text(texts, output))


def build_dialogues(
    practice: Annotated[list[Path], typer.Argument(help="Prompts with other arguments.")],
    items: Annotated[list[Path], typer.Option(help="The benchmark's prompts, to be left out.")],
    pack: Annotated[list[Path], typer.Option(help="Pack of each language.")],
    output: Annotated[Path, typer.Option(help="Dialogues to write, as JSON Lines.")],
    seed: Seed,
    per_template: Annotated[int, typer.Option(min=1, help="At most so many of each template.")],
) -> None:
    """Make dialogues of Multi-LMentry's prompts, to train a model that follows instructions."""
    from blimpworks.papers.lmentry.items import dialogues as library

    inputs, params = [*practice, *items, *pack], {"seed": seed, "per_template": per_template}
    with Job("build_dialogues", inputs=inputs, outputs=[output], params=params) as job:
        job.note(**library.build_dialogues(practice, items, pack, output, **params))


def build_corpus(
    output: Annotated[Path, typer.Option(help="corpus.json; the files go beside it.")],
    options: Annotated[str, typer.Option(help="Options of the corpus, as JSON.")],
    lang: Annotated[str, typer.Option(help="ISO 639-3 code of the language.")],
    tokens: Tokens = None,
    sentences: Sentences = None,
    text: Plain = None,
    items: Items = None,
    released: Annotated[
        list[Path] | None,
        typer.Option(help="train.txt, valid.txt, test.txt, vocab.txt of a released corpus."),
    ] = None,
    treebank_text: Annotated[bool, typer.Option(help="Take the treebank's sentences.")] = True,
) -> None:
    """Build a corpus to train LSTMs on, or take over a released one as it is."""
    from blimpworks.models import corpus, corpus_build

    chosen = parse_options(CorpusOptions, options)
    inputs = [*filter(None, (tokens, sentences)), *(text or []), *(items or [])]
    inputs += released or []
    params = {"lang": lang, "treebank_text": treebank_text, **chosen.model_dump()}
    outputs = [output, output.parent]
    with Job("build_corpus", inputs=inputs, outputs=outputs, params=params) as job:
        if released:
            made = corpus.take_released({path.stem: path for path in released}, output)
        else:
            given = (tokens, sentences, text or [], items or [], output, chosen)
            made = corpus_build.build_corpus(*given, lang=lang, treebank_text=treebank_text)
        job.note(**made.counts)


def join_corpora(
    corpora: Annotated[list[Path], typer.Argument(help="corpus.json of each language.")],
    output: Annotated[Path, typer.Option(help="corpus.json; the files go beside it.")],
) -> None:
    """Concatenate corpora of several languages into one, and unite their vocabularies."""
    from blimpworks.models import corpus

    inputs = [path for each in corpora for path in corpus.files_of(each)]
    outputs = [output, output.parent]
    with Job("join_corpora", inputs=inputs, outputs=outputs, params={}) as job:
        job.note(**corpus.join_corpora(corpora, output).counts)


def sample_corpus(
    corpus: CorpusFile,
    output: Annotated[Path, typer.Option(help="corpus.json; the files go beside it.")],
    tokens: Annotated[int, typer.Option(help="Words of training text.", min=1)],
    seed: Seed,
) -> None:
    """Draw a random sample of a corpus's training text; all else stays as it is."""
    from blimpworks.models import corpus_sample
    from blimpworks.models.corpus import files_of

    inputs, outputs = files_of(corpus), [output, output.parent]
    params = {"tokens": tokens, "seed": seed}
    with Job("sample_corpus", inputs=inputs, outputs=outputs, params=params) as job:
        job.note(**corpus_sample.sample_corpus(corpus, output, tokens=tokens, seed=seed).counts)


def train_lstm(
    corpus: CorpusFile,
    name: Name,
    scope: Scope,
    recipe_name: RecipeName,
    recipe: Recipe,
    seed: Seed,
    output: Output,
) -> None:
    """Train an LSTM language model from scratch."""
    from blimpworks.models import lstm
    from blimpworks.models.corpus import files_of

    settings = parse_options(LstmRecipe, recipe)
    params = {"name": name, "scope": scope, "recipe": recipe_name, "seed": seed}
    params |= settings.model_dump(exclude=HOW_MANY)
    names = {"name": name, "scope": scope, "recipe_name": recipe_name}
    inputs, outputs = files_of(corpus), [output, output.parent]
    with Job("train_lstm", inputs=inputs, outputs=outputs, params=params) as job:
        trained = lstm.train_lstm(corpus, output, recipe=settings, seed=seed, **names)
        job.note(test_perplexity=round(trained.perplexity, 4), device=trained.device)


def measure_perplexity(
    checkpoint: Annotated[Path, typer.Argument(help="checkpoint.json of an LSTM.")],
    corpus: Annotated[Path, typer.Option(help="The corpus.json of the language's corpus.")],
    lang: Annotated[str, typer.Option(help="ISO 639-3 code of the language.")],
    output: Annotated[Path, typer.Option(help="Table of perplexities.")],
) -> None:
    """Measure an LSTM's perplexity on the test text of a corpus."""
    from blimpworks.models import perplexity
    from blimpworks.models.corpus import files_of

    inputs, outputs = [checkpoint, checkpoint.parent, *files_of(corpus)], [output]
    with Job("measure_perplexity", inputs=inputs, outputs=outputs, params={"lang": lang}) as job:
        row = perplexity.measure_perplexity(checkpoint, corpus, lang, output)
        job.note(perplexity=round(row["perplexity"], 4))


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
    "train_instruct": Network(
        InstructRecipe, "instruct", "Train a small model that follows instructions on dialogues."
    ),
}


def _trainer(verb: str, network: Network) -> Callable[..., None]:
    """The verb that trains a kind of network."""

    def train(
        text: Text,
        name: Name,
        scope: Scope,
        recipe_name: RecipeName,
        recipe: Recipe,
        seed: Seed,
        output: Output,
    ) -> None:
        """Train the network; the command's help says which."""
        from blimpworks.models.corpus import files_of

        settings = parse_options(network.recipe, recipe)
        params = {"name": name, "scope": scope, "recipe": recipe_name, "seed": seed}
        params |= settings.model_dump(exclude=HOW_MANY)
        function = getattr(import_module(f"blimpworks.models.{network.module}"), verb)
        names = {"name": name, "scope": scope, "recipe_name": recipe_name}
        # One that knows the words of a corpus is trained on that.
        inputs = files_of(text) if getattr(settings, "corpus", None) else [text]
        with Job(verb, inputs=inputs, outputs=[output, output.parent], params=params):
            function(text, output, recipe=settings, seed=seed, **names)

    return train


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    texts, corpora = (
        (build_text, join_text, build_dialogues),
        (build_corpus, join_corpora, sample_corpus),
    )
    for verb in (*texts, *corpora, train_ngram, train_lstm, measure_perplexity):
        app.command()(verb)
    for name, network in NETWORKS.items():
        app.command(name.replace("_", "-"), help=network.help)(_trainer(name, network))
