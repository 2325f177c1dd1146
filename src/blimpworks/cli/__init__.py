"""The ``blimpworks`` command: one thin command per rule, and those of auditors.

A command translates its arguments, opens a ``Job`` so that its products carry their record,
and calls one library function (``blimpworks.commands``). It has no defaults of its own: a
default that decides a number lives in the campaign's settings.
"""

import atexit
import contextvars
import errno
import gc
import logging
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from blimpworks.cli.encoding import write_any_character
from blimpworks.commands.declare import (
    AUDIT,
    AUTHOR,
    EVALUATE,
    GROUPS,
    REPRODUCE,
    Declared,
)
from blimpworks.commands.registry import called_commands, command_lines, declared_commands
from blimpworks.errors import OutOfTime, TransientError, UserError

WORKFLOW = "workflow"
"""Group of the commands that the workflow runs, which need not be named before them."""
ELSEWHERE = "Other programs, and the workflow"
PANELS = (EVALUATE, REPRODUCE, AUDIT, AUTHOR, "")
"""Headings of the help, in order."""
DISK_ERRORS = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
}


def _group(help_text: str | None, **how: Any) -> typer.Typer:
    return typer.Typer(help=help_text, no_args_is_help=True, **how)


def _add(app: typer.Typer, declared: Declared, *, hidden: bool = False) -> None:
    """Add a command, with its example below its help."""
    app.command(
        declared.words[-1],
        hidden=hidden,
        rich_help_panel=declared.panel or None,
        epilog=f"Example: blimpworks {declared.example}" if declared.example else None,
    )(declared.callback)


def _place(panel: str) -> int:
    """Where a heading stands in the help; unknown ones last."""
    return PANELS.index(panel) if panel in PANELS else len(PANELS)


def _one_of_many() -> None:
    """Let an app of one command expect its name, as one of many does."""


def command_line(commands: Iterable[Declared] | None = None) -> typer.Typer:
    """The ``blimpworks`` command with some commands, by default with all."""
    app = _group(
        "Minimal pairs: evaluate models, rebuild the papers' tables and figures, audit numbers.",
        name="blimpworks",
        callback=_one_of_many,
        pretty_exceptions_enable=False,
    )
    chosen = [*(declared_commands().values() if commands is None else commands)]
    groups = {name: _group(GROUPS[name]) for name in dict.fromkeys(c.group for c in chosen) if name}
    for declared in sorted(chosen, key=lambda each: _place(each.panel)):
        _add(groups.get(declared.group, app), declared, hidden=declared.by_workflow)
    for name, group in groups.items():
        app.add_typer(group, name=name, rich_help_panel=ELSEWHERE)
    if commands is None:
        app.add_typer(_workflow(chosen), name=WORKFLOW, rich_help_panel=ELSEWHERE)
    return app


def _workflow(commands: Iterable[Declared]) -> typer.Typer:
    """The commands that the workflow runs, as a group."""
    group = _group("Commands that the workflow runs, a job each.")
    for declared in commands:
        if declared.by_workflow:
            _add(group, declared)
    return group


def run_here(arguments: Sequence[str]) -> None:
    """Run a command in this process; errors are raised as they are."""
    from blimpworks.records.job import record_arguments

    def run() -> None:
        """Run it, with the records' context of its own."""
        record_arguments(arguments)
        command = typer.main.get_command(command_line(called_commands(arguments) or None))
        command.main([*arguments], "blimpworks", standalone_mode=False)

    contextvars.copy_context().run(run)


def __getattr__(name: str) -> typer.Typer:
    """``app``: the whole command line, made on first use."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return command_line()


class _NoPandas:
    """An import hook for which pandas is not installed."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Refuse pandas, leave the rest to others."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out for speed", name=fullname)


def _log_of(arguments: Sequence[str]) -> Path | None:
    """The log that a command of scoring or generation names; its attempts are entered beside it."""
    if arguments[:1] not in (["score"], ["answer"]) or "--log" not in arguments[:-1]:
        return None
    return Path(arguments[arguments.index("--log") + 1])


def _attempt(arguments: Sequence[str]) -> None:
    """Run a command of scoring or generation as a child process, and record how it ended.

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


def _close_input() -> None:
    """Let standard input be empty: what decides a product is in its record, and nothing else.

    So no library can ask a question, such as whether to run a model's own code, and get what
    happens to be typed or piped for an answer.
    """
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)


def _share() -> Mapping[str, Any]:
    """The job, node and GPUs that SLURM has given this process, for the records of products."""
    from blimpworks.cluster.allocation import find_allocation

    return find_allocation().place()


def _needs_one_thread(declared: Declared) -> bool:
    """Whether a command computes so little that threads of numpy's own would only wait.

    They do so busily, from its import on: a fifth of what a small job takes.
    """
    commands = declared.commands.values()
    return bool(commands) and not any("torch" in each.packages for each in commands)


def _commands(arguments: Sequence[str]) -> Iterable[Declared] | None:
    """The command that a command line calls, with this process prepared to run it.

    None for all, where it names none.
    """
    commands = [each for line in command_lines(arguments) for each in called_commands(line)]
    if any(each.runs for each in commands):
        from blimpworks.records.job import record_arguments, record_share

        record_share(_share)
        record_arguments(arguments)
        _close_input()
    # Pyarrow imports pandas, a second in every job, as soon as it converts anything to numpy.
    # It does without where pandas is not installed, and so do some commands.
    if commands and not any(each.pandas for each in commands):
        sys.meta_path.insert(0, _NoPandas())
    if commands and all(map(_needs_one_thread, commands)):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return called_commands(arguments) or None


def main() -> None:
    """Run the command line; a user's mistake ends in one sentence and exit code 2.

    Work that stopped because its allocation is nearly over ends in exit code 75, and a fault that
    another attempt may not meet in 1.
    """
    write_any_character()
    # Importing libraries makes objects that stay: to look for garbage among them every 700, as
    # Python does, takes a sixth of the start.
    gc.set_threshold(20_000)
    # Memory goes with the process: to look for garbage first would take a quarter of a small job.
    atexit.register(gc.freeze)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    for client in ("httpx", "httpx2"):  # a line for each request to the hub, with signatures
        logging.getLogger(client).setLevel(logging.WARNING)
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # fifty lines for a font of a PDF
    if sys.argv[1:2] == [WORKFLOW] and sys.argv[2:] and not sys.argv[2].startswith("-"):
        del sys.argv[1]
    try:
        _attempt(sys.argv[1:])
        command_line(_commands(sys.argv[1:]))()
    except TransientError as error:
        print(f"blimpworks (attempt): {error}", file=sys.stderr)
        sys.exit(1)
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
        sys.exit(2)
    except OutOfTime as pause:
        print(f"blimpworks (attempt): {pause}", file=sys.stderr)
        sys.exit(os.EX_TEMPFAIL)
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        # A failing copy names its source first.
        place = error.filename2 or error.filename
        where = f"{place}: " if place else ""
        print(
            f"blimpworks: {where}{os.strerror(error.errno).lower()}; nothing half-written is "
            "left, free some room or give yourself the permission and run the same again.",
            file=sys.stderr,
        )
        sys.exit(2)
