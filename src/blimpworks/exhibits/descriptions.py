"""Titles, captions and headings of exhibits, stored as YAML by paper.

Papers are loaded with this module, so it must not import pandas.
"""

from functools import cached_property
from pathlib import Path
from typing import TypedDict

from blimpworks.yaml_files import read_yaml


class Description(TypedDict):
    """Title, caption and heading of the row names, as arguments of ``Exhibit``."""

    title: str
    caption: str
    row_title: str


class Descriptions:
    """Descriptions of a paper's exhibits by key; the YAML file is read on first use."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def entries(self) -> dict[str, dict[str, str]]:
        """Templates of the fields of ``Description``, by key of the exhibit."""
        entries: dict[str, dict[str, str]] = read_yaml(self.path, "descriptions of exhibits")
        return entries

    def __call__(self, key: str, **values: object) -> Description:
        entry = self.entries[key]
        return Description(
            title=entry["title"].format_map(values),
            caption=entry.get("caption", "").format_map(values),
            row_title=entry.get("row_title", ""),
        )
