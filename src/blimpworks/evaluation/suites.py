"""Read suites, ``config/suites/NAME.yaml``: benchmarks that together give a table of numbers.

The workflow loads this module, so it has no heavy imports.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from blimpworks.campaign.settings.base import parse_yaml
from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY
from blimpworks.strict import Label, PathComponent, Strict, Within

FOLDER = "config/suites"
KIND = "suite of benchmarks"
"""Phrase for a suite in messages about its file."""
Names = Annotated[tuple[str, ...], Field(min_length=1)]


class Regression(Strict):
    """Regressions of people's times on what the items and a model's surprisals say.

    Names are those of columns of items (``keep``) and of effects.
    """

    outcomes: Names
    """Times; the number is the mean over them."""
    predictor: str
    """Effect whose share of the variance is measured."""
    controls: Names
    """Other predictors; all their products of two are predictors as well."""
    groups: str
    """Column with equal values in dependent rows, such as the sentence of a word."""

    @model_validator(mode="after")
    def _distinct(self) -> "Regression":
        names = (*self.outcomes, *self.controls, self.predictor)
        if len({*names}) < len(names):
            raise ValueError("outcomes, controls and predictor must name distinct columns")
        return self


class Acquisition(Strict):
    """Curves of the surprisals of words over checkpoints, and of children who know them.

    Names are those of columns of items (``keep``), and of an effect.
    """

    word: str
    """Column of the word."""
    surprisal: str
    """Effect with the word's surprisal in a context."""
    ages: Annotated[tuple[int, ...], Field(min_length=3)]
    """Ages [months] of children, which are names of columns with shares of them who know a word."""
    chance: float
    """Surprisal of a word that a model does not know at all [nats]."""
    shortest: int = Field(1, ge=1)
    """Number of characters of the shortest words that count."""


class Predictions(Strict):
    """A file with a model's predictions on a task, as other programs read and write it."""

    folder: Within
    """Folder in the path of the file (``Submission.file``)."""
    section: str = ""
    """Key of the task in a file with all tasks; empty if there is none."""
    answer: str = Field("{sentence}", pattern=r"^ ?\{(sentence|option)\}$")
    """Text of a prediction: the preferred one, or its critical region (``option``)."""
    numbers: Mapping[str, str] = Field(default={})
    """Effects by key in the file, for surprisals in place of texts."""
    groups: Mapping[str, str] = Field(default={})
    """Names of the groups of predictions by paradigm, where these are not the paradigms' own."""


class Submission(Strict):
    """Files that together are a submission of a model to the printed table."""

    file: str
    """Path of a task's predictions, with {model}, {revision}, {backend} and {folder}."""
    backends: Mapping[str, str]
    """Names of the ways of scoring that can be submitted: an architecture, and of masked models
    and encoder-decoders ``scoring.masked.pll`` or ``scoring.seq2seq.form`` after it."""
    curves: str = ""
    """Path of words' surprisals at all checkpoints, with {model} and {backend}; empty: none."""
    more: Mapping[Label, str] = Field(default={})
    """Paths of files that are not made here, as ``file`` without {folder}."""
    checkpoints: Mapping[Label, tuple[str, ...]] = Field(default={})
    """Revisions that each track wants; without any, the final model is enough."""


class Task(Strict):
    """A benchmark of a suite, and how its results make one number."""

    benchmark: str
    label: Label = Field(min_length=1)
    """Name in the suite's table."""
    measure: Literal["accuracy", "correlation", "variance", "acquisition"] = "accuracy"
    """``accuracy``: mean of accuracies. ``correlation``: Spearman's correlation of the items'
    margins with people's ratings. ``variance``: share of the variance of people's times that a
    ``regression`` explains by surprisal alone. ``acquisition``: Pearson's correlation of models'
    and children's ages of ``acquisition``, over the checkpoints of an evaluation."""
    regression: Regression | None = None
    """Regression of the measure ``variance``."""
    acquisition: Acquisition | None = None
    """Curves of the measure ``acquisition``."""
    mean: Annotated[tuple[Literal["lang", "phenomenon", "paradigm"], ...], Field(min_length=1)] = (
        "paradigm",
    )
    """Groups of items that count alike, the widest first: ``[phenomenon, paradigm]`` is the mean
    over phenomena of the means over their paradigms."""
    lang: str | None = None
    """Language, ISO 639-3, in a suite of several: the task is run where the user names it."""
    printed: Mapping[str, float] = Field(default={})
    """Printed numbers by model: accuracies and shares in percent, or correlations."""
    local: PathComponent | None = None
    """Folder with the task's files in the user's copy of the data; null: the benchmark's own files.
    The declaration is in ``SUITE/BENCHMARK/benchmark.yaml`` beside the suite's file."""
    source: Label = ""
    """Address of the data of a task with ``local``."""
    predictions: Predictions | None = None
    """File with predictions in a submission; null: they cannot be exported."""

    @model_validator(mode="after")
    def _has_settings(self) -> "Task":
        for measure, settings in (("variance", "regression"), ("acquisition", "acquisition")):
            if (self.measure == measure) != (getattr(self, settings) is not None):
                raise ValueError(f"measure {measure!r} and {settings} need each other")
        return self


class Suite(Strict):
    """Benchmarks that together give a table of numbers, as a shared task prints it."""

    label: Label = Field(min_length=1)
    names: tuple[str, ...] = ()
    """Further names of the suite, besides that of its file."""
    address: str = Field("", pattern=r"^(https?://[^\s\"'<>]+)?$")
    """Address of the printed numbers."""
    first_token: FirstToken | None = None
    """First-token policy of causal models; null: the one that suits each model."""
    tasks: Annotated[tuple[Task, ...], Field(min_length=1)]
    missing: Mapping[str, Label] = Field(default={})
    """Tasks of the original that are not run here, with the reason."""
    submission: Submission | None = None
    """Files of a submission; null: the printed table takes none."""

    @model_validator(mode="after")
    def _once_each(self) -> "Suite":
        labels = [task.label for task in self.tasks]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ValueError(f"two tasks have the label {twice!r}; expected distinct ones")
        return self


def suite_file(name: str) -> Path:
    """Return the file of a suite, by its name or path. Raises UserError for an unknown one."""
    path = Path(name) if name.endswith(".yaml") else Path(FOLDER, f"{name}.yaml")
    # Relative paths are looked up in the current directory, then in the repository.
    path = path if path.is_file() else REPOSITORY / path
    files = sorted((REPOSITORY / FOLDER).glob("*.yaml"))
    if not path.is_file():
        named = [file for file in files if name in parse_yaml(Suite, file, KIND).names]
        path = next(iter(named), path)
    if not path.is_file():
        names = sorted(file.stem for file in files)
        close = get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"Did you mean {close[0]!r}?" if close else "Correct it."
        raise UserError(
            f"suite {name!r} is no file ({path}); expected {', '.join(names)}, or the path of a "
            f"file that ends in .yaml. {hint}"
        )
    return path


def read_suite(name: str) -> Suite:
    """Read a suite by its name or the path of its file. Raises UserError as ``suite_file``."""
    return parse_yaml(Suite, suite_file(name), KIND)
