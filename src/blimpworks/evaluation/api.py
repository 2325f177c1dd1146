"""The public interface for notebooks: evaluate models, load items and results as pandas tables."""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blimpworks.campaign.catalogue import load_catalogue, whole_catalogue
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.reference import groups_of_models
from blimpworks.errors import UserError
from blimpworks.evaluation.choice import check_items, parse_benchmarks, parse_languages
from blimpworks.evaluation.claim import claimed
from blimpworks.evaluation.request import (
    AUTO,
    CAMPAIGN_FILE,
    FOLDER,
    Request,
    campaign_settings,
    choose_data,
    read_template,
    write_campaign,
)
from blimpworks.evaluation.run import run_quietly, snakemake_command
from blimpworks.records.job import REPOSITORY
from blimpworks.tables import ACCURACIES, ITEMS, JUDGEMENTS, SCORES, TableSchema, read_table

if TYPE_CHECKING:
    import pandas as pd

SCORED = ["item_id", "status", "logprob_good", "logprob_bad", "tokens_good", "tokens_bad"]


@dataclass(frozen=True, slots=True)
class Results:
    """What an evaluation has measured."""

    accuracies: "pd.DataFrame"
    """One row per benchmark, model, language, phenomenon, paradigm and method, and rows ``all``
    for paradigms and phenomena; ``accuracy``, ``low`` and ``high`` (95 %) from 0 to 1, ``n``,
    ``ties``."""
    items: "pd.DataFrame"
    """One row per benchmark, model and row of the items: sentences, and their log-probabilities
    in nats (``logprob_good``, ``logprob_bad``); for prompts, the prompts alone."""
    judgements: "pd.DataFrame"
    """One row per benchmark, model, item and method: ``margin``, ``correct``, ``tie``. ``item_id``
    is that of ``items``; of items with several conditions, their column ``item``."""
    directory: Path
    """Where the evaluation lies, with ``campaign.yaml`` and the report card."""


def _command_line(options: dict[str, Any]) -> list[str]:
    """Options of the command from arguments of a function; those that are None are left out."""
    words = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            many = isinstance(value, Sequence) and not isinstance(value, str)
            words += [option, ",".join(map(str, value)) if many else str(value)]
    return words


def _run(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "blimpworks", "evaluate", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = re.split(r"^blimpworks: ", done.stderr, maxsplit=1, flags=re.MULTILINE)
        raise UserError(said[-1].strip())


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
    directory of the evaluation; further ``options`` are those of the command (``engine``,
    ``data``, ``mirror``, ``profile``, ``cores``, …). What was computed before is not computed
    again. Raises UserError for what cannot be done.
    """
    names = [models] if isinstance(models, str | Path) else models
    options = {"benchmarks": benchmarks, "languages": languages, "limit": limit, **options}
    _run([*map(str, names), "--out", str(out), *_command_line(options)])
    return load_results(out)


def _layout(directory: Path) -> Layout:
    """The layout of an evaluation's campaign. Raises UserError where there is none."""
    path = directory / CAMPAIGN_FILE
    if not path.exists():
        raise UserError(
            f"{directory} has no {CAMPAIGN_FILE}; expected the directory of an evaluation, as "
            "`blimpworks evaluate --out` makes it."
        )
    campaign = load_campaign(path)
    catalogue = load_catalogue(campaign)
    whole = whole_catalogue(campaign)
    return Layout(campaign, catalogue, whole, groups_of_models(campaign, catalogue))


def _read(schema: TableSchema, path: str, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    frame: pd.DataFrame = read_table(schema, REPOSITORY / path, columns).to_pandas()
    return frame


def _labelled(frame: "pd.DataFrame", benchmark: str, model: str, lang: str) -> "pd.DataFrame":
    """A table with the columns benchmark, model and lang before all others."""
    rest = frame.drop(columns="lang", errors="ignore")
    labels = {"benchmark": benchmark, "model": model, "lang": lang}
    return rest.assign(**labels)[[*labels, *rest]]


def _with_scores(layout: Layout, items: "pd.DataFrame", place: str) -> "pd.DataFrame":
    """Items with a model's log-probabilities, where it has scored them."""
    path = f"{layout.results}/scores/{place}"
    if not (REPOSITORY / path).exists():
        return items
    return items.merge(_read(SCORES, path, SCORED), on="item_id", how="left")


def _places(layout: Layout) -> Iterator[tuple[str, str, str]]:
    """Benchmark, model and language of everything that is judged."""
    for benchmark in layout.campaign.benchmarks:
        for model in layout.models_of(benchmark):
            for lang in layout.covered_by(model, benchmark):
                yield benchmark, model, lang


def load_results(directory: str | Path) -> Results:
    """The results of a finished evaluation.

    Raises UserError for a directory that holds none, or one that is not finished.
    """
    import pandas as pd

    folder = Path(directory)
    layout = _layout(folder)
    items, judgements = [], []
    for benchmark, model, lang in _places(layout):
        place = f"{benchmark}/{lang}/{model}.parquet"
        rows = _with_scores(layout, _read(ITEMS, layout.items_table(benchmark, lang)), place)
        items.append(_labelled(rows, benchmark, model, lang))
        judged = _read(JUDGEMENTS, f"{layout.results}/judgements/{place}")
        judgements.append(_labelled(judged, benchmark, model, lang))
    tables = [
        _read(ACCURACIES, f"{layout.results}/accuracies/{name}.parquet")
        for name in layout.campaign.benchmarks
    ]
    return Results(
        accuracies=pd.concat(tables, ignore_index=True),
        items=pd.concat(items, ignore_index=True),
        judgements=pd.concat(judgements, ignore_index=True),
        directory=folder,
    )


def load_items(
    benchmark: str, language: str, *, data: str = AUTO, mirror: str | Path | None = None
) -> "pd.DataFrame":
    """Items of a benchmark in a language, built or retrieved where they are not there yet.

    One row per pair, sentence, condition of an item, or prompt. Raises UserError for a benchmark
    or a language that cannot be had.
    """
    [benchmark] = parse_benchmarks(benchmark)
    [lang] = parse_languages(language)
    request = Request(
        data=data,
        benchmarks=(benchmark,),
        languages=(lang,),
        mirror=None if mirror is None else Path(mirror).resolve(),
    )
    kind, _ = choose_data(data, request.mirror)
    folder = Path(f"{FOLDER}/items/{kind}/{benchmark}")
    settings = campaign_settings(request, str(folder), read_template(kind), [])
    del settings["catalogue"]["models"]
    check_items(settings, benchmark, lang)
    path = str(folder / f"results/items/{benchmark}/{lang}.parquet")
    command = snakemake_command(REPOSITORY / folder / CAMPAIGN_FILE, targets=[path])
    with claimed(REPOSITORY / folder):
        write_campaign(settings, REPOSITORY / folder / CAMPAIGN_FILE)
        run_quietly(command)
    return _read(ITEMS, path)
