"""Titles, captions and headings of exhibits, stored as Jinja templates in YAML by paper.

Papers are loaded with this module, so it must not import pandas.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from blimpworks.yaml_files import read_yaml

if TYPE_CHECKING:  # slow to import
    from jinja2 import Environment


class Description(TypedDict):
    """Title, caption and heading of the row names, as arguments of ``Exhibit``."""

    title: str
    caption: str
    row_title: str


class Descriptions:
    """Descriptions of a paper's exhibits by key; the YAML file is read on first use.

    Captions can include the caption of another key, with the same values.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def entries(self) -> dict[str, dict[str, str]]:
        """Templates of the fields of ``Description``, by key of the exhibit."""
        entries: dict[str, dict[str, str]] = read_yaml(self.path, "descriptions of exhibits")
        return entries

    @cached_property
    def environment(self) -> "Environment":
        """Environment with the templates of captions; a missing value raises UndefinedError."""
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
