import shlex

import typer
from typer.testing import CliRunner

from blimpworks.cli import app, command_line


def run(*words):
    """Run a command, check that it succeeds and return its output; errors are raised."""
    done = CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def parse(line):
    """Parse a command line as the program does; raise for an unknown command or option."""
    command = typer.main.get_command(command_line())
    with command.make_context("blimpworks", [], resilient_parsing=True) as context:
        name, own, rest = command.resolve_command(context, shlex.split(line))
        while isinstance(own, typer.core.TyperGroup):
            group = own.make_context(name, [], parent=context, resilient_parsing=True)
            name, own, rest = own.resolve_command(group, rest)
        own.make_context(name, rest, parent=context)
