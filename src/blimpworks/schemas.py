"""The JSON Schemas in ``workflow/schemas``: generated from the models, never edited."""

from pathlib import Path

from pydantic import BaseModel

from blimpworks.catalogue import LanguageRow, ModelRow, SourceRow, TreebankRow
from blimpworks.config import Campaign, render_schema
from blimpworks.files import write_text

MODELS: dict[str, type[BaseModel]] = {
    "campaign": Campaign,
    "languages": LanguageRow,
    "treebanks": TreebankRow,
    "sources": SourceRow,
    "models": ModelRow,
}


def schema_files(directory: Path) -> dict[Path, str]:
    """The text that belongs in each schema file of ``directory``."""
    return {directory / f"{n}.schema.json": render_schema(m) for n, m in MODELS.items()}


def write_schemas(directory: Path) -> None:
    """Write all schema files into ``directory``."""
    for path, text in schema_files(directory).items():
        write_text(path, text)


def drifted(directory: Path) -> list[Path]:
    """Schema files of ``directory`` that are missing or not what the models say."""
    return [
        path
        for path, text in schema_files(directory).items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
