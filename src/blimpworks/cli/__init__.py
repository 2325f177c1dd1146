"""Build and run the ``blimpworks`` command line, such as ``blimpworks judge --items …``.

``main`` is the program. The modules here declare the commands (``blimpworks.commands.declare``). A
command converts its arguments, opens a ``Job``, which writes the provenance record of its products,
and calls one library function. Defaults that decide a number are settings of the campaign.
"""

import argparse
import atexit
import codecs
import contextvars
import errno
import gc
import io
import locale
import logging
import os
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import typer

from blimpworks.commands import declare
from blimpworks.commands.declare import Declared
from blimpworks.errors import OutOfTime, TransientError, UserError

WORKFLOW = "workflow"
"""Group of the workflow's commands: ``blimpworks workflow judge`` is ``blimpworks judge``."""
ELSEWHERE = "Other programs, and the workflow"
PANELS = (declare.EVALUATE, declare.REPRODUCE, declare.AUDIT, declare.AUTHOR, "")
"""Headings of the help, in order; commands of the workflow have none."""
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS}
SUBSTITUTES = str.maketrans(
    {"−": "-", "–": "-", "…": "...", "→": "->", "←": "<-", "▶": ">", "✓": "+", "✗": "x"}
)
"""Replacements of characters that a terminal's encoding lacks; others become code points."""


def command_line(commands: Iterable[Declared] | None = None) -> typer.Typer:
    """Build the command line with some commands, by default with all.

    Commands of the workflow are hidden in the help, except below ``blimpworks workflow --help``.
    """
    app = typer.Typer(
        help="Test what language models know of grammar: evaluate models, reproduce papers, "
        "audit numbers.",
        no_args_is_help=True,
        name="blimpworks",
        callback=lambda: None,  # without a callback, an app of one command has no command names
        pretty_exceptions_enable=False,
    )
    included = [*(declare.declared_commands().values() if commands is None else commands)]
    names = filter(None, dict.fromkeys(command.group for command in included))
    groups = {name: typer.Typer(help=declare.GROUPS[name], no_args_is_help=True) for name in names}

    # The help lists headings and commands in the order in which they are added.
    positions = {panel: position for position, panel in enumerate(PANELS)}
    for command in sorted(included, key=lambda command: positions.get(command.panel, len(PANELS))):
        _add_command(groups.get(command.group, app), command, hidden=command.by_workflow)
    if commands is None:
        text = "Commands that the workflow runs, each as a job."
        groups[WORKFLOW] = typer.Typer(help=text, no_args_is_help=True)
        for command in (command for command in included if command.by_workflow):
            _add_command(groups[WORKFLOW], command)
    for name, group in groups.items():
        app.add_typer(group, name=name, rich_help_panel=ELSEWHERE)
    return app


def _add_command(app: typer.Typer, command: Declared, *, hidden: bool = False) -> None:
    app.command(
        command.words[-1],
        hidden=hidden,
        rich_help_panel=command.panel or None,
        epilog=f"Example: blimpworks {command.example}" if command.example else None,
    )(command.callback)


def run_here(arguments: Sequence[str]) -> None:
    """Run a command line, such as ["judge", "--items", …], in this process.

    Errors of the command are raised unchanged. Records of its products have these arguments.
    """
    from blimpworks.records.job import record_arguments

    # In a copy of the context, since the arguments of this process's own command stay recorded.
    def run() -> None:
        record_arguments(arguments)
        command = typer.main.get_command(command_line(declare.called_commands(arguments) or None))
        command.main([*arguments], "blimpworks", standalone_mode=False)

    contextvars.copy_context().run(run)


def __getattr__(name: str) -> typer.Typer:
    """Build the whole command line ``app`` on first use."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return command_line()


class _NoPandas:
    """Import hook that hides pandas."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out for speed", name=fullname)


def _supervise(arguments: Sequence[str]) -> None:
    """Run a scoring or answering command as a child process, record how it ended, and exit.

    Attempts are recorded beside the file of --log. Only return for other commands, without --log,
    and in the child process, which then ends with its parent.
    """
    if arguments[:1] not in (["score"], ["answer"]):
        return
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--manifest", type=Path)
    parser.add_argument("--give-up", action=argparse.BooleanOptionalAction)
    try:
        options, _ = parser.parse_known_args(arguments[1:])
    except argparse.ArgumentError:
        return  # an option without its value, which the command line reports
    if options.log is None:
        return
    from blimpworks.cluster.attempt import die_with_parent, give_up, run_attempt
    from blimpworks.scoring.progress import ATTEMPT

    if ATTEMPT in os.environ:
        die_with_parent()
        return
    code = run_attempt([sys.executable, "-m", "blimpworks", *arguments], options.log)
    if options.give_up and options.manifest:
        code = give_up(code, options.manifest, options.log)
    sys.exit(code)


def _prepare(arguments: Sequence[str]) -> Iterable[Declared] | None:
    """Prepare this process for a command line; return the command that it calls, in a list.

    Return None, which means all commands, for a command line without a command.
    """
    commands = declare.called_commands(arguments)
    if any(command.entries for command in commands):
        from blimpworks.cluster.slurm import find_allocation
        from blimpworks.records.job import record_allocation, record_arguments

        record_allocation(lambda: find_allocation().recorded())
        record_arguments(arguments)
        # Standard input is empty: a library that asks a question, such as whether to run a model's
        # code, must not read an answer that no record contains.
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
    # Pyarrow imports pandas, which takes a second, as soon as it converts anything to numpy. It
    # works without pandas too, so pandas is hidden from commands that do not use it.
    if commands and not any(command.pandas for command in commands):
        sys.meta_path.insert(0, _NoPandas())
    # Idle threads of OpenBLAS spin from numpy's import on, a fifth of a small job's time. Commands
    # that keep no records, and those that use torch, may gain by the threads.
    recorded = [[*command.commands.values()] for command in commands]
    keep_records = bool(recorded) and all(recorded)
    uses_torch = any("torch" in command.packages for command in chain.from_iterable(recorded))
    if keep_records and not uses_torch:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return commands or None


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Return a replacement of characters that cannot be encoded, and where to continue."""
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end].translate(SUBSTITUTES)
    return signs.encode("ascii", "backslashreplace").decode("ascii"), error.end


def write_any_character() -> None:
    """Let this process write any character to its terminal, and let its children write UTF-8.

    In a locale of another encoding, the process restarts in Python's UTF-8 mode: files, arguments
    and output of children do not depend on the terminal.
    """
    if locale.getpreferredencoding(False).lower() != "utf-8" and not sys.flags.utf8_mode:
        os.environ.setdefault("PYTHONIOENCODING", sys.stdout.encoding)
        if os.environ.get("PYTHONUTF8") != "1":  # else the restart did not help
            os.environ["PYTHONUTF8"] = "1"
            os.execv(sys.executable, sys.orig_argv)  # noqa: S606  (the same command again)
    os.environ["PYTHONIOENCODING"] = "utf-8"
    codecs.register_error("substitute", _substitute)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="substitute")


def main() -> None:
    """Run the command line. After a ``UserError``, print its sentence and exit with 2.

    Exit code 75: stopped before the end of the job's time; 1: another attempt may succeed.
    """
    write_any_character()
    # Objects made by imports stay until the end. Python's garbage collection after each 700 new
    # ones takes a sixth of the start.
    gc.set_threshold(20_000)
    # Memory is freed with the process: a last garbage collection takes a quarter of a small job.
    atexit.register(gc.freeze)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    for client in ("httpx", "httpx2"):  # a line for each request to the hub, with signatures
        logging.getLogger(client).setLevel(logging.WARNING)
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # fifty lines for a font of a PDF

    if sys.argv[1:2] == [WORKFLOW] and sys.argv[2:] and not sys.argv[2].startswith("-"):
        del sys.argv[1]  # commands are found without the name of this group
    try:
        _supervise(sys.argv[1:])
        command_line(_prepare(sys.argv[1:]))()
    except (TransientError, OutOfTime) as error:
        print(f"blimpworks (attempt): {error}", file=sys.stderr)
        sys.exit(1 if isinstance(error, TransientError) else os.EX_TEMPFAIL)
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        # The error of a failed copy names the source first, then the target.
        file = error.filename2 or error.filename
        where = f"{file}: " if file else ""
        print(
            f"blimpworks: {where}{os.strerror(error.errno).lower()}; nothing half-written is "
            "left, free some room or give yourself the permission and run the same again.",
            file=sys.stderr,
        )
        sys.exit(2)
