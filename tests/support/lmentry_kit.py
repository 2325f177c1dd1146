"""What the tests of Multi-LMentry share: its printed numbers, and its exhibits."""

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.registry import exhibits
from blimpworks.campaign.table_files import read_rows
from blimpworks.exhibits.render import build_exhibit
from support.print_kit import CONFIG

MODELS = {r.name: r for r in read_rows(ModelRow, CONFIG / "models.tsv") if "lmentry" in r.papers}
SIZES = {name: row.parameters for name, row in MODELS.items()}
NAMES = {name: row.label for name, row in MODELS.items()}
SPECS = {spec.name: spec for spec in exhibits().values() if spec.paper == "lmentry"}


def build(name, tables, labels, root):
    spec, cells = SPECS[name], root / f"{name}.cells.parquet"
    given = {need: tables[need] for need in spec.needs}
    return build_exhibit(spec, given, labels, cells, []), cells
