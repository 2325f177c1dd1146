"""All commands, by their names in records, in the workflow and on the command line."""

import importlib
import shlex
from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from blimpworks.commands.declare import DECLARED, Declared
from blimpworks.errors import UserError
from blimpworks.records.commands import Command

CORE = (
    "retrieval",
    "audit",
    "evaluate",
    "progress",
    "sources",
    "training",
    "scoring",
    "exhibits",
    "reproduction",
    "interop",
)
"""Modules below ``blimpworks.cli`` with commands that no paper has for itself."""
IN_TURN = "in-turn"
"""The command that runs several, each of them one argument."""
PACKAGE = Path(__file__).parents[1]


@cache
def declared_commands() -> dict[str, Declared]:
    """Every command by its function's name."""
    from blimpworks.campaign.registry import papers

    core = (f"blimpworks.cli.{name}" for name in CORE)
    for module in (*core, *(name for paper in papers().values() for name in paper.commands)):
        importlib.import_module(module)
    return DECLARED


def called_commands(arguments: Sequence[str]) -> list[Declared]:
    """The command that a command line calls, if any; imports no more modules than it must.

    For commands of a group these are all, because any of them can be in it.
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


def command_lines(arguments: Sequence[str]) -> list[list[str]]:
    """The command lines that one stands for: itself, or those that ``in-turn`` runs.

    Raises UserError for one of these that cannot be split into words.
    """
    if [*arguments[:1]] != [IN_TURN]:
        return [[*arguments]]
    lines = []
    for line in arguments[1:]:
        try:
            lines.append(shlex.split(line))
        except ValueError as error:
            raise UserError(
                f"{IN_TURN}: {line!r} is no command line ({error}); quote it as for a shell."
            ) from error
    return lines


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
