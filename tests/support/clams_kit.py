"""CLAMS's exhibits, built from the numbers that the paper prints."""

import pandas as pd

from blimpworks.campaign.catalogue import SourceRow
from blimpworks.campaign.exhibits import exhibits
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.render import build_exhibit
from blimpworks.papers.clams.analysis.wals import build_morphology
from blimpworks.papers.clams.exhibits.facts import PRINTED
from blimpworks.papers.clams.items.build import count_sets
from blimpworks.reproduction.printed import read_published
from blimpworks.reproduction.published import Paper, compare
from blimpworks.tables import ACCURACIES, EVALUATION_SETS, MORPHOLOGY, read_table
from support.mirror_kit import fetch, rows_of
from support.paths import REPOSITORY

FOLDER = REPOSITORY / "config" / "published" / "clams"
LANGUAGES = {
    "deu": "German",
    "eng": "English",
    "fra": "French",
    "heb": "Hebrew",
    "rus": "Russian",
}
LABELS = Labels(
    LANGUAGES,
    {name: name for name in PRINTED.values()},
    "printed",
    {"clams_models": {part: [name] for part, name in PRINTED.items()}},
    "published",
)


def released(mirror, directory):
    """Tables made of the mirror's WALS and released sets, for the exhibits that can use them."""
    sources = rows_of(SourceRow, "sources.tsv")
    wals = {row.name: fetch(row, mirror, directory) for row in sources if row.kind == "wals"}
    files = ("wals/raw/value.csv", "wals/raw/domainelement.csv", "wals/cldf/languages.csv")
    build_morphology(*(wals[name] for name in files), directory / "morphology")
    sets = [(r.lang, fetch(r, mirror, directory)) for r in sources if r.kind == "clams_set"]
    count_sets(sets, directory / "sets")
    return {"morphology": [directory / "morphology"], "evaluation_sets": [directory / "sets"]}


def reproduce(directory, beside, folder=FOLDER):
    """The published forms, the comparison with the print, and the tables behind both."""
    printed = sorted(folder.glob("*.csv"))
    accuracies = directory / "accuracies.parquet"
    read_published(printed, "clams", accuracies)
    tables = {"accuracies": [accuracies], "printed": printed, **beside}
    built, cells = {}, {}
    for spec in exhibits().values():
        if spec.paper == "clams" and spec.published:
            cells[spec.name] = directory / f"{spec.name}.cells.parquet"
            built[spec.name] = build_exhibit(spec, tables, LABELS, cells[spec.name], [])
    paper = Paper("clams", printed, FOLDER / "reasons.tsv", cells, accuracies)
    return built, pd.DataFrame(compare(paper)), sources(tables)


def sources(tables):
    """Tables by the name that cells have for them."""
    frames = {
        "accuracies": read_table(ACCURACIES, tables["accuracies"][0]).to_pandas(),
        "published": pd.DataFrame(
            [
                row.model_dump()
                for path in tables["printed"]
                for row in read_rows(PublishedRow, path)
            ]
        ),
    }
    for kind, schema in (("morphology", MORPHOLOGY), ("evaluation_sets", EVALUATION_SETS)):
        for path in tables.get(kind, ()):
            frames[kind] = read_table(schema, path).to_pandas()
    return frames
