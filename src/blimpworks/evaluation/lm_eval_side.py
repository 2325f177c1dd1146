"""What lm-evaluation-harness logged of a model, as a side of a comparison.

Source of the layout: what lm-eval 0.4.13 writes with ``--log_samples``. A line has the document,
the two texts whose log-probabilities were asked (context and continuation), and these. Items are
those of the other side that have the same two sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.registry import benchmarks
from blimpworks.errors import UserError
from blimpworks.evaluation.sides import COLUMNS, LABELS, Side
from blimpworks.interop.lm_eval_export import METRICS
from blimpworks.interop.lm_eval_import import sentences_of
from blimpworks.json_files import load_json
from blimpworks.tables import ITEMS, read_table

if TYPE_CHECKING:
    import pandas as pd

FILES = "samples_*.jsonl"


@dataclass(frozen=True, slots=True)
class Sample:
    """A pair as the harness judged it."""

    correct: Mapping[str, float]
    """1 or 0 by method."""
    margin: float
    """Log-probability of the good sentence minus that of the bad one, in nats."""
    before: frozenset[str]
    """What stood before the sentences, behind the token that conditions the first one."""


def _sample(line: str) -> tuple[tuple[str, str], Sample]:
    """The sentences of a line and what it says of them. Raises ValueError or LookupError."""
    value = load_json(line)
    pair = sentences_of(value["doc"])
    if str(value["target"]) != "0":
        raise ValueError(f"target is {value['target']!r}, expected 0, the good sentence")
    asked = value["arguments"]
    texts = [[*each.values()] for each in asked.values()] if isinstance(asked, dict) else asked
    wholes = ["".join(text[:2]) for text in texts]
    if len(wholes) != 2 or not all(map(str.endswith, wholes, pair)):
        raise ValueError(f"arguments are {asked!r}, expected texts that end in the two sentences")
    before = {whole.removesuffix(text) for whole, text in zip(wholes, pair, strict=True)}
    good, bad = (float(number) for number, _ in value["filtered_resps"])
    correct = {method: float(value[name]) for method, name in METRICS.items() if name in value}
    return pair, Sample(correct, good - bad, frozenset(before))


def _lines(files: Sequence[Path]) -> Iterator[tuple[tuple[str, str], Sample]]:
    """Pairs of samples files. Raises UserError for a line that is no sample of a pair."""
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            try:
                if line.strip():
                    yield _sample(line)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise UserError(
                    f"{path}:{number}: is no sample of lm-eval on a pair of sentences ({error}); "
                    "log samples (--log_samples) of a task with a good and a bad sentence."
                ) from error


@dataclass(frozen=True)
class SamplesSide(Side):
    """Samples of one model."""

    other: Side
    """Whose items they are of."""
    model: str
    samples: Mapping[tuple[str, str], Sample]
    """By good and bad sentence."""

    @cached_property
    def accuracies(self) -> "pd.DataFrame":
        """Accuracies on the other side's items that there are samples of.

        Raises UserError where there is no such item.
        """
        import pandas as pd

        rows = []
        tables = {each for model in self.other.models for each in self.other.judged(model)}
        pairs = {name for name, each in benchmarks().items() if each.judge == "judge"}
        for benchmark, lang in sorted(each for each in tables if each[0] in pairs):
            judged = self.judgements(benchmark, lang, self.model)
            for phenomenon, group in [(ALL, judged), *judged.groupby("phenomenon")]:
                for method, values in group.groupby("method")["correct"]:
                    labels = (benchmark, self.model, lang, phenomenon, ALL, method)
                    rows.append([*labels, values.mean()])
        if not rows:
            raise UserError(
                f"{self.folder} has no sample of a pair that {self.other.folder} has judged; "
                "compare results on the same sentences."
            )
        return pd.DataFrame(rows, columns=[*LABELS, "accuracy"])

    def judgements(self, benchmark: str, lang: str, model: str) -> "pd.DataFrame":
        """The harness's verdicts, with the ids of the other side's items."""
        import pandas as pd

        names = ["item_id", "paradigm", "phenomenon", "good", "bad"]
        items = read_table(ITEMS, self.items(benchmark, lang, model), names)
        rows = []
        for *item, good, bad in zip(*(column.to_pylist() for column in items), strict=True):
            if sample := self.samples.get((good, bad)):
                for method, correct in sample.correct.items():
                    margin = sample.margin if method == "full_sentence" else None
                    rows.append([*item, method, correct, margin])
        return pd.DataFrame(rows, columns=COLUMNS).astype({"margin": float})

    def items(self, benchmark: str, lang: str, model: str) -> Path:
        """The other side's items."""
        models = self.other.models
        judged = next(each for each in models if (benchmark, lang) in self.other.judged(each))
        return self.other.items(benchmark, lang, judged)

    def explanation(self, flipped: int, both: int) -> str:
        """Why decisions differ, in a sentence; empty where the harness read the sentences alone.

        ``flipped`` of ``both`` decisions that both sides have made are others.
        """
        before = {text for sample in self.samples.values() for text in sample.before}
        if before == {""}:
            return ""
        texts = ", ".join(map(repr, sorted(before)))
        return (
            f"lm-eval put {texts} before a sentence (its task's context and target_delimiter), "
            "blimpworks nothing, so that the model reads other tokens; "
            f"{flipped:,} of {both:,} decisions turn, with all else that differs"
        )


def read_samples(folder: Path, other: Side) -> SamplesSide | None:
    """The samples below a directory of the harness's results; None where there are none.

    Raises UserError for samples of several models or runs, or of anything but pairs.
    """
    files = sorted(folder.rglob(FILES))
    if not files:
        return None
    folders = {path.parent for path in files}
    if len(folders) > 1:
        raise UserError(
            f"{folder} has samples of several models ({', '.join(sorted(map(str, folders)))}); "
            "name the directory of one."
        )
    samples: dict[tuple[str, str], Sample] = {}
    for pair, sample in _lines(files):
        if samples.setdefault(pair, sample) != sample:
            raise UserError(
                f"{folder} has two samples of {pair[0]!r} with other numbers, of two runs or "
                "filters; leave the files of one."
            )
    name = files[0].parent.name
    return SamplesSide(folder, folder, None, other, name, samples)
