"""All commands, by their names in records, in the workflow and on the command line."""

import importlib
from functools import cache

from blimpworks.campaign.registry import papers
from blimpworks.commands.declare import DECLARED, Declared
from blimpworks.records.commands import Command

CORE = (
    "evaluate",
    "compare",
    "progress",
    "audit",
    "sources",
    "training",
    "scoring",
    "exhibits",
    "reproduction",
    "evaluation",
    "interop",
)
"""Modules below ``blimpworks.cli`` with commands that no paper has for itself."""


@cache
def declared_commands() -> dict[str, Declared]:
    """Every command by its function's name."""
    core = (f"blimpworks.cli.{name}" for name in CORE)
    for module in (*core, *(name for paper in papers().values() for name in paper.commands)):
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

    Raises KeyError for an unknown command, and UserError for values that it does not have.
    """
    return declared_commands()[name].of(*values).code
