"""Read titles, captions and headings of exhibits from a paper's YAML file of Jinja templates.

``describe = Descriptions(path)``; ``describe("table2", models=5)`` returns the texts of table 2,
in which ``{{ models }}`` becomes 5. All commands import this module, so it must not import pandas.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from blimpworks.yaml_files import read_yaml

if TYPE_CHECKING:  # slow to import
    from jinja2 import Environment


class Description(TypedDict):
    """Texts of an exhibit, as arguments of ``Exhibit``; ``row_title`` is above the row names."""

    title: str
    caption: str
    row_title: str


class Descriptions:
    """Descriptions of a paper's exhibits, by the exhibits' keys; reads the YAML file on first use.

    A caption can include the caption of another exhibit, which gets the same values.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def entries(self) -> dict[str, dict[str, str]]:
        """Templates of the fields of ``Description``: {key of the exhibit: {field: template}}."""
        entries: dict[str, dict[str, str]] = read_yaml(self.path, "descriptions of exhibits")
        return entries

    @cached_property
    def environment(self) -> "Environment":
        """Jinja environment with all captions; it raises UndefinedError for a missing value."""
        from jinja2 import DictLoader, Environment, StrictUndefined

        captions = {key: entry.get("caption", "") for key, entry in self.entries.items()}
        # Texts are escaped when they are written in a format.
        return Environment(loader=DictLoader(captions), undefined=StrictUndefined)  # noqa: S701

    def __call__(self, key: str, **values: object) -> Description:
        entry = self.entries[key]
        return Description(
            title=self.environment.from_string(entry["title"]).render(values),
            caption=self.environment.get_template(key).render(values),
            row_title=entry.get("row_title", ""),
        )
