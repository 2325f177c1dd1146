"""The ``blimpworks`` command: one thin verb per rule, and the audit commands.

A verb translates its arguments, opens a ``Job`` so that its products carry their record,
and calls one library function. Heavy imports happen inside the verbs, so that ``--help``
and light verbs start quickly. Verbs have no defaults of their own: a default that decides
a number lives in ``config.py``.
"""

import errno
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path

import typer

from blimpworks.errors import OutOfTime, UserError

MODULES = (
    "cli.sources",
    "cli.treebanks",
    "papers.multiblimp.commands",
    "papers.blimp.commands",
    "papers.clams.commands",
    "papers.lmentry.commands",
    "papers.urblimp.commands",
    "papers.lmentry.annotation_commands",
    "cli.training",
    "cli.scoring",
    "cli.answering",
    "cli.cluster",
    "cli.parity",
    "cli.analysis",
    "cli.exhibits",
    "cli.reproduction",
    "cli.report",
    "cli.interop",
    "cli.audit",
    "cli.progress",
)
# Settings and their checks take a fifth of a second to import, and auditors need none.
AUDITS = {"explain", "check", "diff"}


def command_line(modules: Sequence[str] = MODULES) -> typer.Typer:
    """The ``blimpworks`` command with the verbs of some modules."""
    app = typer.Typer(
        name="blimpworks",
        help=__doc__.splitlines()[0] if __doc__ else None,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name in modules:
        importlib.import_module(f"blimpworks.{name}").register(app)
    return app


def run_here(arguments: Sequence[str]) -> None:
    """Run a command in this process; errors are raised as they are."""
    command = typer.main.get_command(command_line())
    command.main([*arguments], "blimpworks", standalone_mode=False)


def __getattr__(name: str) -> typer.Typer:
    """``app``: the whole command line, made when it is asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return command_line()


DISK_ERRORS = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
}
# Pyarrow imports pandas, a second in every job, as soon as it converts anything to numpy.
# It does without where pandas is not installed, and so do these verbs.
WITHOUT_PANDAS = {
    "retrieve",
    "build-tokens",
    "build-lexicon",
    "find-candidates",
    "measure-agreement",
    "build-pairs",
    "sample-items",
    "build-text",
    "build-dialogues",
    "train-ngram",
    "collect-scores",
    "collect-answers",
    "validation-lists",
    "judge",
}


class _NoPandas(MetaPathFinder):
    """An import hook for which pandas is not installed."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Refuse pandas, leave the rest to others."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out for speed", name=fullname)


def _log_of(arguments: Sequence[str]) -> Path | None:
    """The log that a scoring or answering command names, its attempts are entered beside it."""
    if arguments[:1] not in (["score"], ["answer"]) or "--log" not in arguments[:-1]:
        return None
    return Path(arguments[arguments.index("--log") + 1])


def _attempt(arguments: Sequence[str]) -> None:
    """Run a scoring command as a child of this process, which stays to say how that ended.

    In that child, only make sure that it ends with its parent.
    """
    log = _log_of(arguments)
    if log is None:
        return
    from blimpworks.cluster.attempt import die_with_parent, is_attempt, run_attempt

    if is_attempt():
        die_with_parent()
    else:
        sys.exit(run_attempt([sys.executable, "-m", "blimpworks", *arguments], log))


def main() -> None:
    """Run the command line; a user's mistake ends in one sentence and exit code 2.

    Work that stopped because its allocation is nearly over ends in exit code 75.
    """
    if WITHOUT_PANDAS & {*sys.argv[1:2]}:
        sys.meta_path.insert(0, _NoPandas())
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        _attempt(sys.argv[1:])
        command_line(("cli.audit",) if AUDITS & {*sys.argv[1:2]} else MODULES)()
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
        sys.exit(2)
    except OutOfTime as pause:
        print(f"blimpworks: {pause}", file=sys.stderr)
        sys.exit(os.EX_TEMPFAIL)
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        where = f"{error.filename}: " if error.filename else ""
        print(
            f"blimpworks: {where}{os.strerror(error.errno).lower()}; nothing half-written is "
            "left, free some room or give yourself the permission and run the same again.",
            file=sys.stderr,
        )
        sys.exit(2)
