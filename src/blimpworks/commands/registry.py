"""Find commands by their names in records, in the workflow and on the command line."""

import importlib
from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from blimpworks.commands.declare import DECLARED, Declared
from blimpworks.records.job import Command

CORE = (
    "retrieval",
    "audit",
    "evaluate",
    "progress",
    "training",
    "scoring",
    "reproduction",
    "interop",
)
"""Modules of ``blimpworks.cli`` with the commands of no single paper."""
PACKAGE = Path(__file__).parents[1]


@cache
def declared_commands() -> dict[str, Declared]:
    """Return every command by its function's name."""
    from blimpworks.campaign.registry import papers

    core = (f"blimpworks.cli.{name}" for name in CORE)
    for module in (*core, *(name for paper in papers().values() for name in paper.commands)):
        importlib.import_module(module)
    return DECLARED


def called_commands(arguments: Sequence[str]) -> list[Declared]:
    """Return the command that a command line calls, with few imports.

    For a group of commands, return all: any may be in the group.
    """
    # Text is searched, because to import all modules takes longer than most commands.
    definition = f"\ndef {''.join(arguments[:1]).replace('-', '_')}("
    files = chain(PACKAGE.glob("cli/*.py"), PACKAGE.glob("papers/*/commands.py"))
    for path in (*sorted(files), PACKAGE / "benchmarks/commands.py"):
        if definition in path.read_text(encoding="utf-8"):
            module = path.relative_to(PACKAGE).with_suffix("")
            importlib.import_module(".".join(("blimpworks", *module.parts)))
    called = [command for command in DECLARED.values() if command.is_called(arguments)]
    return called or [
        command for command in declared_commands().values() if command.is_called(arguments)
    ]


def recorded_commands() -> dict[str, Command]:
    """Return every command that keeps records, by its name in them."""
    return {
        name: command
        for declared in declared_commands().values()
        for name, command in declared.commands.items()
    }


def find_command(name: str) -> Command | None:
    """Find the command that records call ``name``; None without."""
    declared = declared_commands().get(name.partition(" ")[0])
    return declared.commands.get(name) if declared else None


def code_of(name: str, *values: str) -> str:
    """Return the digest of a command's code, with ``values`` that decide it (``score``, ``vllm``).

    Raises KeyError for an unknown command, UserError for unknown values.
    """
    return declared_commands()[name].of(*values).code
