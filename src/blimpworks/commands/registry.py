"""All commands, by the names that records, the workflow and the command line know them by."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

import blimpworks.papers
from blimpworks.commands.declare import DECLARED, Declared
from blimpworks.records.commands import Command

CORE = (
    "sources",
    "treebanks",
    "training",
    "scoring",
    "answering",
    "parity",
    "exhibits",
    "reproduction",
    "report",
    "interop",
    "audit",
    "progress",
)
"""Modules below ``blimpworks.cli`` with commands that no paper has for itself."""


def _of_papers() -> Iterator[str]:
    """Modules with commands of the papers: ``commands`` and ``…_commands`` in each one's room."""
    for folder in blimpworks.papers.__path__:
        for room in pkgutil.iter_modules([folder]):
            for module in pkgutil.iter_modules([f"{folder}/{room.name}"]):
                if module.name == "commands" or module.name.endswith("_commands"):
                    yield f"{blimpworks.papers.__name__}.{room.name}.{module.name}"


@cache
def declared_commands() -> dict[str, Declared]:
    """Every command by its function's name."""
    for module in (*(f"blimpworks.cli.{name}" for name in CORE), *_of_papers()):
        importlib.import_module(module)
    return DECLARED


def recorded_commands() -> dict[str, Command]:
    """Every command of which there can be records, by its name in them."""
    return {
        name: command
        for declared in declared_commands().values()
        for name, command in declared.commands.items()
    }


def find_command(name: str) -> Command | None:
    """The command that records call ``name``, None if there is none of that name."""
    declared = declared_commands().get(name.partition(" ")[0])
    return declared.commands.get(name) if declared else None


def code_of(name: str, *values: str) -> str:
    """Digest of a command's code, with ``values`` where these decide it (``score``, ``vllm``, …).

    Raises KeyError for a command that there isn't.
    """
    return declared_commands()[name].of(*values).code
