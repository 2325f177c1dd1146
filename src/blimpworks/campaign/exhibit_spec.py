"""What the Snakefile knows of an exhibit: where it stands, what it needs, who makes it."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["table", "figure"]
FORMATS: dict[str, tuple[str, ...]] = {
    "table": ("csv", "md", "tex", "html"),
    "figure": ("pdf", "png", "svg", "html"),
}


@dataclass(frozen=True, slots=True)
class ExhibitSpec:
    """One exhibit: where it stands, what it is made of, and the function that makes it.

    ``needs`` names tables of the campaign: "accuracies", or one table per language such as
    "items"; without any, there is a published form alone. ``function`` takes them and returns
    an ``Exhibit``. ``facts`` names what it wants to know of the campaign and its catalogue,
    such as the languages' families.
    ``optional`` names tables that it can do without where the campaign has none; with
    ``published``, the tables it needs there, it can be built from what the paper prints; one
    that ``needs`` nothing has that form alone. Several exhibits can share a function, which
    then takes the ``argument`` too.
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
    """The fact that names, under ``language``, the one language whose tables it is made of."""
    of_samples: bool = False
    """Whether it shows models that are trained on samples, and no others."""

    @property
    def key(self) -> str:
        """Paper and name, as in the path of the files."""
        return f"{self.paper}/{self.name}"

    @property
    def alias(self) -> str:
        """The Snakemake target's name."""
        return f"{self.paper}_{self.name}"
