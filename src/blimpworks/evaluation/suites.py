"""Settings of a suite: benchmarks that together give one table of numbers, beside printed numbers.

A shared task or a leaderboard is a suite. Its file, ``config/suites/NAME.yaml``, lists tasks:

    label: Challenge 2026
    tasks:
      - {benchmark: agreement, label: Agreement, printed: {Baseline: 71.2}}
      - {benchmark: wordorder, label: Word order, measure: correlation}

``blimpworks evaluate --suite NAME`` reads it with ``read_suite``. The workflow imports this module
on each start, so it must not import heavy packages.
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
ColumnNames = Annotated[tuple[str, ...], Field(min_length=1)]


class Regression(Strict):
    """Regressions that predict people's reading times from a model's surprisals.

    Each field names a column of the items (``keep`` in the benchmark's declaration), or an effect.
    An effect is a sum of surprisals that the benchmark declares.
    """

    outcomes: ColumnNames
    """Columns of times; the task's number is the mean over them."""
    predictor: str
    """Effect that is added to the controls; the share of variance that it explains is measured."""
    controls: ColumnNames
    """Other predictors; all products of two of these columns are predictors as well."""
    groups: str
    """Column with equal values in rows that depend on each other, such as the word's sentence."""

    @model_validator(mode="after")
    def _check_columns(self) -> "Regression":
        names = (*self.outcomes, *self.controls, self.predictor)
        if len({*names}) < len(names):
            raise ValueError("outcomes, controls and predictor must name distinct columns")
        return self


class Acquisition(Strict):
    """Ages at which children, and models in training, learn words.

    The share of children who know a word makes a curve over age; the word's surprisal makes a curve
    over checkpoints. Values are names of columns of the items (``keep``), and of an effect.
    """

    word: str
    """Column of the word."""
    surprisal: str
    """Effect with the word's surprisal in a context."""
    ages: Annotated[tuple[int, ...], Field(min_length=3)]
    """Ages of children [months], each the name of a column with the share who know the word."""
    chance: float
    """Surprisal of a word that a model does not know at all [nats]."""
    shortest: int = Field(1, ge=1)
    """Fewest characters of a word; shorter words are left out."""


class Predictions(Strict):
    """A file with a model's predictions on a task, in the form that the shared task asks for."""

    folder: Within
    """Folder in the path of the file ({folder} in ``Submission.file``)."""
    section: str = ""
    """Key of the task in a single file with all tasks; empty if no such file has it."""
    answer: str = Field("{sentence}", pattern=r"^ ?\{(sentence|option)\}$")
    """Text of a prediction: the preferred sentence, or its critical region (``option``)."""
    numbers: Mapping[str, str] = Field(default={})
    """Names of effects, by key in the file, if it has surprisals instead of texts."""
    groups: Mapping[str, str] = Field(default={})
    """Names of groups in the file, by paradigm; a paradigm that is left out names its group."""


class Submission(Strict):
    """The files with which a model is submitted to the shared task."""

    file: str
    """Path of a task's predictions, with {model}, {revision}, {backend} and {folder}."""
    backends: Mapping[str, str]
    """Text in place of {backend}, by way of scoring: "causal"; for other architectures, with the
    setting ``scoring.masked.pll`` or ``scoring.seq2seq.form``: "masked original"."""
    curves: str = ""
    """Path of words' surprisals at all checkpoints, with {model} and {backend}; empty: none."""
    more: Mapping[Label, str] = Field(default={})
    """Paths, by label, of files that blimpworks does not write; like ``file``, without {folder}."""
    checkpoints: Mapping[Label, tuple[str, ...]] = Field(default={})
    """Revisions of a model that each track of the shared task asks for."""


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
    """Groups of items with equal weight, the widest first: ``[phenomenon, paradigm]`` is the mean
    over phenomena of the means over their paradigms."""
    lang: str | None = None
    """Language (ISO 639-3) of the task in a suite of several languages. If the user names languages
    (``--languages``), only tasks of these languages are run. null: the task is always run."""
    printed: Mapping[str, float] = Field(default={})
    """Printed numbers by model: accuracies and shares in percent, or correlations."""
    local: PathComponent | None = None
    """Folder with the task's files in the user's copy of the data; null: the benchmark's own files.
    The benchmark's declaration is ``SUITE/BENCHMARK/benchmark.yaml``, beside the suite's file."""
    source: Label = ""
    """Address of the data of a task with ``local``."""
    predictions: Predictions | None = None
    """File of the task's predictions in a submission; null: they cannot be exported."""

    @model_validator(mode="after")
    def _check_measure(self) -> "Task":
        for measure, settings in (("variance", "regression"), ("acquisition", "acquisition")):
            has_settings = getattr(self, settings) is not None
            if has_settings != (self.measure == measure):
                raise ValueError(f"measure {measure!r} and {settings} need each other")
        if self.measure != "accuracy" and self.mean != ("paradigm",):
            raise ValueError(f"measure {self.measure!r} has no mean over groups; leave 'mean' out")
        levels_without_lang = [level for level in self.mean if level != "lang"]
        if levels_without_lang == ["paradigm", "phenomenon"]:
            raise ValueError("mean has paradigm before phenomenon; put the wider group first")
        is_percent = self.measure in ("accuracy", "variance")
        lowest, highest = (0, 100) if is_percent else (-1, 1)
        for model, number in self.printed.items():
            if not lowest <= number <= highest:
                expected = f"expected a number from {lowest} to {highest}"
                raise ValueError(f"printed {model!r} is {number:g}; {expected}")
        return self


class Suite(Strict):
    """Benchmarks that together give a table of numbers, and the numbers that are printed."""

    label: Label = Field(min_length=1)
    names: tuple[str, ...] = ()
    """Other names of the suite, besides the name of its file."""
    address: str = Field("", pattern=r"^(https?://[^\s\"'<>]+)?$")
    """Address of the printed numbers."""
    first_token: FirstToken | None = None
    """First-token policy of causal models; null: the one that suits each model."""
    tasks: Annotated[tuple[Task, ...], Field(min_length=1)]
    missing: Mapping[str, Label] = Field(default={})
    """Tasks of the original that are not run here, with the reason."""
    submission: Submission | None = None
    """Files of a submission; null: models cannot be submitted."""

    @model_validator(mode="after")
    def _check_labels(self) -> "Suite":
        labels = [task.label for task in self.tasks]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"two tasks have the label {label!r}; expected distinct ones")
        return self


def suite_file(name: str) -> Path:
    """Return the path of a suite's file.

    ``name`` is the file's name without .yaml, one of the suite's other ``names``, or a path that
    ends in .yaml. Raises UserError if there is no such suite.
    """
    path = Path(name) if name.endswith(".yaml") else Path(FOLDER, f"{name}.yaml")
    # Relative paths are looked up in the current directory, then in the repository.
    path = path if path.is_file() else REPOSITORY / path
    files = sorted((REPOSITORY / FOLDER).glob("*.yaml"))
    if not path.is_file():
        files_of_name = [file for file in files if name in parse_yaml(Suite, file, KIND).names]
        path = files_of_name[0] if files_of_name else path
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
