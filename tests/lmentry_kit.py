"""What the tests of Multi-LMentry share: its printed numbers, and its published forms."""

from pathlib import Path

from blimpworks.catalogue import ModelRow, read_rows
from blimpworks.exhibits.build import build_exhibit
from blimpworks.exhibits.catalogue import EXHIBITS
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.lmentry.names import LANGUAGES
from blimpworks.lmentry.settings import count_prompts
from blimpworks.reproduction.accuracies import read_published

CONFIG = Path(__file__).resolve().parents[1] / "config"
PRINTED = CONFIG / "published/lmentry"
MODELS = {r.name: r for r in read_rows(ModelRow, CONFIG / "models.tsv") if "lmentry" in r.papers}
SIZES = {name: row.parameters for name, row in MODELS.items()}
NAMES = {name: row.label for name, row in MODELS.items()}
PUBLISHED = Labels({}, NAMES, "printed", {"lmentry_sizes": SIZES}, "published")
SPECS = {spec.name: spec for spec in EXHIBITS.values() if spec.paper == "lmentry"}


def tables_of(root, resources=None):
    """What published forms are made of: printed numbers, and the accuracies among them.

    Numbers of prompts by the release's settings, and by its ``resources`` where there are any.
    """
    printed = sorted(PRINTED.glob("*.csv"))
    accuracies, counts = root / "printed.parquet", root / "prompt_counts.parquet"
    read_published(printed, "lmentry", accuracies)
    packs = [CONFIG / f"lmentry/languages/{lang}.yaml" for lang in LANGUAGES]
    count_prompts(packs, CONFIG / "lmentry/tasks.yaml", resources or {}, counts)
    return {"printed": printed, "accuracies": [accuracies], "prompt_counts": [counts]}


def build(name, tables, labels, root):
    """An exhibit and its cells file."""
    spec = SPECS[name]
    needs = spec.published if labels.source == "published" else spec.needs
    cells = root / f"{name}.cells.parquet"
    return build_exhibit(spec, {need: tables[need] for need in needs}, labels, cells, []), cells
