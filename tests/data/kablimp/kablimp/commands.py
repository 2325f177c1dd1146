"""Commands of KabLiMP."""

from pathlib import Path

from blimpworks.commands.declare import command
from blimpworks.commands.options import option, written


@command(calls="kablimp.items:build_items", packages=("pyarrow",), notes="pairs")
def build_kablimp_items(
    output: Path = written("Items table to write."),
    pairs: int = option("Pairs of each paradigm.", min=1),
) -> None:
    """Make pairs of every subject and verb."""
