"""Declarations of exhibits for the Snakefile."""

import csv
from collections import Counter
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from blimpworks.errors import UserError, reading

Kind = Literal["table", "figure"]
FORMATS: dict[str, tuple[str, ...]] = {
    "table": ("csv", "md", "tex", "json", "html"),
    "figure": ("pdf", "png", "svg", "json", "html"),
}


@dataclass(frozen=True, slots=True)
class ExhibitSpec:
    """One exhibit: its tables, and the function that makes it.

    ``needs`` names kinds of tables of a campaign, such as "accuracies" or, one per language,
    "items"; ``optional`` names more that it can do without. ``published`` names kinds that
    the form made from printed numbers needs; an exhibit without ``needs`` has this form alone.
    ``facts`` names facts of campaign and catalogue, such as the languages' families. ``function``
    takes all these and returns an ``Exhibit``; several exhibits may share one, which then takes
    the ``argument`` too.
    """

    paper: str
    name: str
    kind: Kind
    title: str
    needs: tuple[str, ...]
    function: str
    facts: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    argument: str = ""
    language_fact: str = ""
    """Fact whose entry ``language`` is the only language whose tables it takes."""
    series: str = ""
    """Title of the series of exhibits that it is of."""
    member: str = ""
    """Its name in the series, which several parts share."""
    of_samples: bool = False
    """Whether it shows only models that are trained on samples."""

    @property
    def key(self) -> str:
        """Paper and name, as in the files' paths."""
        return f"{self.paper}/{self.name}"

    @property
    def alias(self) -> str:
        """Name of the Snakemake target."""
        return f"{self.paper}_{self.name}"


_COLUMNS = {field.name: field for field in fields(ExhibitSpec) if field.name != "paper"}
_REQUIRED = [name for name, field in _COLUMNS.items() if field.default is MISSING]
_FLAGS = {"": False, "yes": True}


def read_specs(path: Path, paper: str, package: str) -> tuple[ExhibitSpec, ...]:
    """Read a paper's exhibits from a tab-separated table with one row each.

    The columns are fields of ``ExhibitSpec``; those with a default may be absent. Names in a cell
    are separated by spaces, ``function`` is ``module:name`` inside ``package``, and ``of_samples``
    is "yes" or empty. Raises UserError with the line of the first wrong row.
    """
    expected = reading(path, "a paper's table of exhibits", "Add it.")
    with expected, path.open(encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        columns = reader.fieldnames or []
        if not {*_REQUIRED} <= {*columns} <= {*_COLUMNS}:
            raise UserError(
                f"{path}:1: the columns are {', '.join(columns):.100}; expected "
                f"{', '.join(_REQUIRED)}, and others only of {', '.join(_COLUMNS)}."
            )
        rows = [(f"{path}:{reader.line_num}", row) for row in reader]
    names = Counter(row["name"] for _, row in rows)
    specs = []
    for line, row in rows:
        times = names[row["name"]]
        faults = {
            "has more cells than headings": None in row,
            "has fewer cells than headings": None in row.values(),
            f"has the name {row['name']!r}, which stands in {times} rows": times != 1,
            f"has the kind {row['kind']!r}, expected one of {', '.join(get_args(Kind))}": (
                row["kind"] not in get_args(Kind)
            ),
            f"has the function {row['function']!r}, expected MODULE:NAME": (
                ":" not in str(row["function"])
                or not all(part.isidentifier() for part in str(row["function"]).split(":", 1))
            ),
            f"has {row.get('of_samples')!r} in of_samples, expected yes or nothing": (
                row.get("of_samples", "") not in _FLAGS
            ),
        }
        fault = next((fault for fault, present in faults.items() if present), None)
        if fault:
            raise UserError(f"{line}: the row of an exhibit {fault}; correct it.")
        values: dict[str, Any] = {}
        for name, cell in row.items():
            is_tuple = str(_COLUMNS[name].type).startswith("tuple")
            values[name] = tuple(cell.split()) if is_tuple else cell
        values["function"] = f"{package}.{row['function']}"
        if "of_samples" in row:
            values["of_samples"] = _FLAGS[row["of_samples"]]
        specs.append(ExhibitSpec(paper=paper, **values))
    return tuple(specs)
