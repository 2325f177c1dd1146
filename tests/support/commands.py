"""Commands as people call them, in this process."""

from typer.testing import CliRunner

from blimpworks.cli import app


def run(*words):
    """What a command prints; it must succeed, and raises what it refuses."""
    done = CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output
