"""The Python interface, for notebooks: run evaluations, and load items and results with pandas.

results = blimpworks.evaluate("gpt2", benchmarks=["mine"], out="evaluations/gpt2")
results.accuracies  # a data frame, with a row for each model, language, phenomenon, …
"""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blimpworks.errors import UserError
from blimpworks.evaluation import request
from blimpworks.evaluation.run import folder_lock, run_quietly, snakemake_command
from blimpworks.evaluation.session import AUTO, FOLDER, Evaluation, check_settings
from blimpworks.evaluation.sides import read_side
from blimpworks.records.job import REPOSITORY
from blimpworks.tables import ACCURACIES, ITEMS, JUDGEMENTS, SCORES, read_table

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = ["item_id", "status", "logprob_good", "logprob_bad", "tokens_good", "tokens_bad"]
"""Columns of tables of scores that are added to the rows of ``Results.items``."""


@dataclass(frozen=True, slots=True)
class Results:
    """The tables of an evaluation."""

    accuracies: "pd.DataFrame"
    """A row for each model, benchmark, language, phenomenon, paradigm and method of judging.

    ``all`` as phenomenon or paradigm means all of them together. ``accuracy`` with ``low`` and
    ``high`` (95 %) is from 0 to 1, over ``n`` items with ``ties``.
    """
    items: "pd.DataFrame"
    """A row for each model and item (or condition), with log-probabilities of sentences [nats]."""
    judgements: "pd.DataFrame"
    """``correct``, ``margin`` [nats] and ``tie`` of each model, item and method of judging.

    The column ``item_id`` has the ``item_id`` of ``items``, or its ``item`` if it has conditions.
    """
    directory: Path
    """The evaluation's directory, with ``campaign.yaml`` and the report card."""


def evaluate(
    models: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    benchmarks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    limit: int | None = None,
    **options: Any,
) -> Results:
    """Evaluate models on benchmarks, as ``blimpworks evaluate`` does, and load the results.

    ``models`` are hub ids, directories, n-gram files or names of the catalogue; ``out`` is the
    evaluation's directory. ``options`` are the command's (``engine``, ``data``, ``mirror``,
    ``profile``, ``cores``, …). Raises UserError when the command fails.
    """
    names = [models] if isinstance(models, str | Path) else models
    options = {"benchmarks": benchmarks, "languages": languages, "limit": limit, **options}
    command = [sys.executable, "-m", "blimpworks", "evaluate", *map(str, names), "--out", str(out)]
    # True makes a flag (--dry-run), a list its values with commas between (--languages eng,deu).
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            command.append(option)
        elif value is not None and value is not False:
            is_list = isinstance(value, Sequence) and not isinstance(value, str)
            command += [option, ",".join(map(str, value)) if is_list else str(value)]
    process = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if process.returncode:
        # Before the error, which starts with "blimpworks: ", the command has printed progress.
        texts = re.split(r"^blimpworks: ", process.stderr, maxsplit=1, flags=re.MULTILINE)
        raise UserError(texts[-1].strip())
    return load_results(out)


def _with_labels(rows: "pd.DataFrame", labels: Mapping[str, str]) -> "pd.DataFrame":
    """Return rows with the labels as their first columns."""
    columns = rows.drop(columns="lang", errors="ignore")
    return columns.assign(**labels)[[*labels, *columns]]


def load_results(directory: str | Path) -> Results:
    """Load a finished evaluation. Raises UserError when the directory holds none."""
    import pandas as pd

    folder = Path(directory)
    if not (folder / request.CAMPAIGN_FILE).exists():
        raise UserError(
            f"{folder} has no {request.CAMPAIGN_FILE}; expected the directory of an evaluation, as "
            "`blimpworks evaluate --out` makes it."
        )
    # Find tables in the folder: the campaign of a copied evaluation has paths of the original.
    evaluation = read_side(folder)
    assert evaluation.campaign is not None  # because its file exists
    names = evaluation.campaign.benchmarks
    accuracies = [
        read_table(ACCURACIES, evaluation.results / "accuracies" / f"{name}.parquet").to_pandas()
        for name in names
    ]
    items: list[pd.DataFrame] = []
    judgements: list[pd.DataFrame] = []
    for benchmark, lang, model in evaluation.judged_tables:
        # Earlier campaigns in the directory may have left tables of other benchmarks.
        if benchmark in names:
            item_rows = read_table(ITEMS, evaluation.items(benchmark, lang, model)).to_pandas()
            scores = evaluation.table("scores", benchmark, lang, model)
            if scores.exists():
                score_rows = read_table(SCORES, scores, SCORE_COLUMNS).to_pandas()
                item_rows = item_rows.merge(score_rows, on="item_id", how="left")
            path = evaluation.judgement_table(benchmark, lang, model)
            labels = {"benchmark": benchmark, "model": model, "lang": lang}
            items.append(_with_labels(item_rows, labels))
            judgements.append(_with_labels(read_table(JUDGEMENTS, path).to_pandas(), labels))
    return Results(
        accuracies=pd.concat(accuracies, ignore_index=True),
        items=pd.concat(items, ignore_index=True),
        judgements=pd.concat(judgements, ignore_index=True),
        directory=folder,
    )


def load_items(
    benchmark: str, language: str, *, data: str = AUTO, mirror: str | Path | None = None
) -> "pd.DataFrame":
    """Load a benchmark's items in a language; build or download them first if they are missing.

    Return a row for each pair, sentence, condition or prompt. Raises UserError if there is none.
    """
    benchmarks, languages = request.parse_benchmarks(benchmark), request.parse_languages(language)
    if not len(benchmarks) == len(languages) == 1:
        raise UserError(f"{benchmark!r} in {language!r}: name one benchmark and one language.")
    [name], [lang] = benchmarks, languages
    mirror_path = None if mirror is None else Path(mirror).resolve()
    evaluation = Evaluation(data, [name], [lang], mirror=mirror_path)
    evaluation.choose_data()
    folder = Path(f"{FOLDER}/items/{evaluation.data}/{name}")
    settings = evaluation.settings(str(folder))
    if lang not in check_settings(settings).item_languages(name):
        raise UserError(
            f"{name} has no items in {lang}; name a language that it has: `blimpworks "
            "evaluate --list` shows them."
        )
    path = str(folder / f"results/items/{name}/{lang}.parquet")
    campaign_file = REPOSITORY / folder / request.CAMPAIGN_FILE
    command = snakemake_command(campaign_file, path, profile=None, dry_run=False)
    with folder_lock(REPOSITORY / folder):
        request.write_campaign(settings, campaign_file)
        run_quietly(command)
    frame: pd.DataFrame = read_table(ITEMS, REPOSITORY / path).to_pandas()
    return frame
