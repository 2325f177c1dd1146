"""What exhibits say in words: titles, captions and headings of rows, stored as data by paper."""

from functools import cached_property
from pathlib import Path
from typing import TypedDict

from blimpworks.yaml_files import read_yaml


class Description(TypedDict):
    """What an exhibit says in words, as arguments of ``Exhibit``."""

    title: str
    caption: str
    row_title: str


class Descriptions:
    """The descriptions of a paper's exhibits, by key, in a YAML file that is read when needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def entries(self) -> dict[str, dict[str, str]]:
        """The fields of ``Description`` by key, those that are not empty, without values."""
        entries: dict[str, dict[str, str]] = read_yaml(self.path, "descriptions of exhibits")
        return entries

    def __call__(self, key: str, **values: object) -> Description:
        """The description of an exhibit, or of one form of it, as a function's arguments."""
        entry = self.entries[key]
        return Description(
            title=entry["title"].format_map(values),
            caption=entry.get("caption", "").format_map(values),
            row_title=entry.get("row_title", ""),
        )
