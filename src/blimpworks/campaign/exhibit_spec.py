"""Declarations of exhibits for the Snakefile."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from blimpworks.campaign.table_files import keyed, read_rows
from blimpworks.strict import Strict

FORMATS: dict[str, tuple[str, ...]] = {
    "table": ("csv", "md", "tex", "json", "html"),
    "figure": ("pdf", "png", "svg", "json", "html"),
}


def _split(cell: Any) -> Any:
    return tuple(cell.split()) if isinstance(cell, str) else cell


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""Names, in a table separated by spaces."""


def _flag(cell: Any) -> bool:
    if cell not in ("", "yes", False, True):
        raise ValueError("expected yes or nothing")
    return bool(cell)


Flag = Annotated[bool, BeforeValidator(_flag)]
"""``yes``, or nothing."""


class ExhibitRow(Strict):
    """A row of a paper's table of exhibits: tables, and the function that makes the exhibit.

    ``needs`` names kinds of tables of a campaign, such as "accuracies" or, one per language,
    "items"; ``optional`` names more that it can do without. ``published`` names kinds that
    the form made from printed numbers needs; an exhibit without ``needs`` has this form alone.
    ``facts`` names facts of campaign and catalogue, such as the languages' families. ``function``
    takes all these and returns an ``Exhibit``; several exhibits may share one, which then takes
    the ``argument`` too.
    """

    name: str
    kind: Literal["table", "figure"]
    title: str
    needs: Words
    function: Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*$")]
    facts: Words = ()
    optional: Words = ()
    published: Words = ()
    argument: str = ""
    language_fact: str = ""
    """Fact whose entry ``language`` is the only language whose tables it takes."""
    series: str = ""
    """Title of the series of exhibits that it is of."""
    member: str = ""
    """Its name in the series, which several parts share."""
    of_samples: Flag = False
    """Whether it shows only models that are trained on samples."""


class ExhibitSpec(ExhibitRow):
    """An exhibit of a paper."""

    paper: str

    @property
    def key(self) -> str:
        return f"{self.paper}/{self.name}"

    @property
    def alias(self) -> str:
        """Name of the Snakemake target."""
        return f"{self.paper}_{self.name}"

    @property
    def published_alias(self) -> str:
        """Name of the Snakemake target of its published form."""
        return f"{self.alias}_published"


def read_specs(path: Path, paper: str, package: str) -> tuple[ExhibitSpec, ...]:
    """Read a paper's exhibits from a tab-separated table with one row each.

    The columns are fields of ``ExhibitRow``; those with a default may be absent. ``function`` is
    ``module:name`` inside ``package``. Raises UserError with the line of the first wrong row.
    """
    rows = keyed(read_rows(ExhibitRow, path), "name", path).values()
    return tuple(
        ExhibitSpec(paper=paper, **{**dict(row), "function": f"{package}.{row.function}"})
        for row in rows
    )
