"""What the tests of Multi-LMentry share: its printed numbers, and its published forms."""

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.registry import exhibits
from blimpworks.campaign.table_files import read_rows
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.render import build_exhibit
from blimpworks.papers.lmentry.items.prompts import count_prompts
from blimpworks.papers.lmentry.tasks import LANGUAGES
from blimpworks.reproduction.printed import read_published
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"
PRINTED = CONFIG / "published/lmentry"
MODELS = {r.name: r for r in read_rows(ModelRow, CONFIG / "models.tsv") if "lmentry" in r.papers}
SIZES = {name: row.parameters for name, row in MODELS.items()}
NAMES = {name: row.label for name, row in MODELS.items()}
FACTS = {"lmentry_sizes": SIZES, "lmentry_variant": "published"}
PUBLISHED = Labels({}, NAMES, "printed", FACTS, "published")
PACKS = [CONFIG / f"lmentry/languages/{lang}.yaml" for lang in LANGUAGES]
SPECS = {spec.name: spec for spec in exhibits().values() if spec.paper == "lmentry"}


def tables_of(root, resources=None):
    """What published forms are made of: printed numbers, accuracies among them, language packs.

    Numbers of prompts by the release's settings, and by its ``resources`` where there are any.
    """
    printed = sorted(PRINTED.glob("*.csv"))
    accuracies, counts = root / "printed.parquet", root / "prompt_counts.parquet"
    read_published(printed, "lmentry", accuracies)
    count_prompts(PACKS, CONFIG / "lmentry/tasks.yaml", resources or [], counts)
    sources = {"accuracies": [accuracies], "prompt_counts": [counts]}
    return {"printed": printed, "packs": PACKS, **sources}


def build(name, tables, labels, root):
    spec = SPECS[name]
    needs = spec.published if labels.source == "published" else spec.needs
    cells = root / f"{name}.cells.parquet"
    return build_exhibit(spec, {need: tables[need] for need in needs}, labels, cells, []), cells
