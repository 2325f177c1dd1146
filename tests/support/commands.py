"""Commands as people call them, in this process."""

import shlex

import typer
from typer.testing import CliRunner

from blimpworks.cli import app, command_line


def run(*words):
    """What a command prints; it must succeed, and raises what it refuses."""
    done = CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def parse(line):
    """Read a command line as the program does, which there must be with these options."""
    command = typer.main.get_command(command_line())
    with command.make_context("blimpworks", [], resilient_parsing=True) as context:
        name, own, rest = command.resolve_command(context, shlex.split(line))
        while isinstance(own, typer.core.TyperGroup):
            group = own.make_context(name, [], parent=context, resilient_parsing=True)
            name, own, rest = own.resolve_command(group, rest)
        own.make_context(name, rest, parent=context)
