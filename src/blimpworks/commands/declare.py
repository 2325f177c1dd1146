"""Declare the commands of ``blimpworks`` by a decorator, and find declared commands by name.

    @command(calls="blimpworks.models.text:join_text")
    def join_text(texts: list[Path] = argument("Texts."), output: Path = written("Text.")) -> None:
        'Join training texts.'

The function's parameters are the options, its docstring is the help. An option may be left out if
it has a ``default``, if it is a ``bool``, or if its type allows None. A command that makes products
runs within a job, which writes their provenance record: the command's name, inputs, outputs and
parameters, a digest of its code, and the versions of ``packages``. There are three forms:

- ``command(calls=function)``: no body; the function gets the arguments of the same names
- ``command(recorded=entries)``: the body runs within a job that is opened from the arguments
- ``command(entries)``: the body does everything, and opens jobs, if any, with ``NAME.job``

``entries`` are the functions that make the products, as ``module:name``; the digest covers their
code. A path among the arguments is an input of the job, anything else a parameter of the record;
the ``Use`` of an option changes that. Heavy imports stay in the bodies: ``--help`` starts quickly.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

from blimpworks.errors import find
from blimpworks.records.job import Command

if TYPE_CHECKING:
    from blimpworks.records.job import Job

Arguments = Mapping[str, Any]
"""Arguments of a command by parameter name."""
Runs = str | tuple[str, ...] | Callable[[], Iterable[Command]]
"""Functions and classes that make the products, as ``module:name``. If they depend on arguments, a
function that returns a ``Command`` for each choice, such as ``score vllm causal``."""
Notes = str | Callable[[Any], Mapping[str, Any]] | None
"""Name under which the record notes the function's result, or a function that returns the notes.
Without either, a result that is a mapping is noted unchanged."""


class Use(NamedTuple):
    """Effects of an argument on the job; by default, it is only passed to the function."""

    reads: Callable[[Any, Arguments], Iterable[Path]] | None = None
    """Function from the argument's value and all arguments to input files."""
    writes: Callable[[Any], Iterable[Path]] | None = None
    """Function from the value to output files."""
    records: Callable[[str, Any], Mapping[str, Any]] | None = None
    """Function from the argument's name and value to parameters of the record."""
    passes: Callable[[Any, Arguments], Any] | None = None
    """Function from the value and all arguments to the value that the library function gets."""
    edited: bool = False
    """Whether people edit the input files, so that they may differ from a job's output."""


def paths_of(value: Path | Iterable[Path] | None) -> list[Path]:
    """Return a path, several paths or None as a list."""
    return [value] if isinstance(value, Path) else [*(value or ())]


def dumped(**arguments: Any) -> Use:
    """Record settings under their argument's name; ``arguments`` are those of ``model_dump``."""
    return Use(records=lambda name, value: {name: value.model_dump(**arguments)})


def spread(**arguments: Any) -> Use:
    """Record each setting under its name; ``arguments`` are those of ``model_dump``."""
    return Use(records=lambda _, value: value.model_dump(**arguments))


READ = Use(reads=lambda value, _: paths_of(value))
"""Use of an input file, or of several."""
FILLED_IN = Use(reads=lambda value, _: paths_of(value), edited=True)
"""Use of an input that people have filled in."""
WRITTEN = Use(writes=paths_of)
WITH_FOLDER = Use(writes=lambda path: [path, path.parent])
"""Use of an output file; the job's outputs are the file and its directory."""
RECORDED = Use(records=lambda name, value: {name: value})
UNRECORDED = Use()
SET_BY_USER = dumped(mode="json", exclude_unset=True)
"""Use of settings of which those that the user sets are recorded."""


@dataclass(frozen=True)
class Declared:
    """A declared command; the decorator puts it in place of the function."""

    function: Callable[..., Any]
    """Function with the options as parameters and the help as docstring."""
    name: str
    """Name in records, such as ``export_crate``, which the command line calls ``export crate``."""
    runs: Runs = ()
    """Code that makes the products; empty for a command that makes none."""
    calls: str = ""
    """Library function of a command without body, as ``module:name``."""
    within_job: bool = False
    """Whether the function runs within a job that is opened from the arguments."""
    packages: tuple[str, ...] = ()
    notes: Notes = None
    group: str = ""
    pandas: bool = True
    """Whether the command may import pandas, which takes a second."""
    cheap: bool = False
    """Whether ``check --deep`` repeats the command, because it makes small tables or exhibits."""
    panel: str = ""
    """Heading in the help; empty for commands of the workflow."""
    example: str = ""
    """Example call for the help, without ``blimpworks``."""

    @property
    def by_workflow(self) -> bool:
        """Whether the command is for the workflow: people seldom call it."""
        return not self.panel and not self.group

    @property
    def words(self) -> tuple[str, ...]:
        """First words of a command line that calls the command, such as ("export", "crate")."""
        name = self.name.removeprefix(f"{self.group}_").replace("_", "-")
        return (self.group, name) if self.group else (name,)

    def is_called(self, arguments: Sequence[str]) -> bool:
        return tuple(arguments[: len(self.words)]) == self.words

    @cached_property
    def callback(self) -> Callable[..., None]:
        """Function for the command line, with the declared function's signature."""

        def callback(**arguments: Any) -> None:
            """Run the command; its help is the declared function's."""
            if not self.within_job:
                self.function(**arguments)
                return
            with self._job_of(arguments) as job:
                if not self.calls:
                    job.note(**(self.function(**arguments) or {}))
                    return
                result = resolve_name(self.calls)(**library_arguments(self, arguments))
                if isinstance(self.notes, str):
                    notes: Mapping[str, Any] = {self.notes: result}
                elif self.notes:
                    notes = self.notes(result)
                else:
                    notes = result if isinstance(result, Mapping) else {}
                job.note(**notes)

        return update_wrapper(callback, self.function)

    @cached_property
    def uses(self) -> dict[str, Use]:
        """Use of each argument by name: that of its option, else READ (paths) or RECORDED."""
        uses = {}
        hints = get_type_hints(self.function)
        for name, parameter in inspect.signature(self.function).parameters.items():
            # ``get_args`` returns (Path, NoneType) for Path | None, and () for Path.
            is_path = {hints[name], *get_args(hints[name])} & {Path, list[Path]}
            use_of_option: Use | None = getattr(parameter.default, "use", None)
            uses[name] = use_of_option or (READ if is_path else RECORDED)
        return uses

    @cached_property
    def commands(self) -> dict[str, Command]:
        """Commands by their names in records; empty for a command without records."""
        if callable(self.runs):
            return {command.name: command for command in self.runs()}
        entries = (self.runs,) if isinstance(self.runs, str) else self.runs
        return {self.name: Command(self.name, entries, self.packages)} if entries else {}

    def command_for(self, *values: str) -> Command:
        """Return the command for values such as ("vllm", "causal"). Raises UserError for others."""
        return find(self.commands, " ".join((self.name, *values)), "command")

    def job(
        self,
        *values: str,
        inputs: Sequence[Path],
        outputs: Sequence[Path],
        params: Mapping[str, Any],
        edited: Collection[Path] = (),
    ) -> "Job":
        """Open a job of this command. Raises as ``Job`` does."""
        from blimpworks.records.job import Job

        command = self.command_for(*values)
        return Job(command, inputs=inputs, outputs=outputs, params=params, edited=edited)

    def _job_of(self, arguments: Arguments) -> "Job":
        inputs, outputs, edited = list[Path](), list[Path](), set[Path]()
        params: dict[str, Any] = {}
        for name, use in self.uses.items():
            value = arguments[name]
            if use.reads:
                paths = [*use.reads(value, arguments)]
                inputs += paths
                edited.update(paths if use.edited else ())
            if use.writes:
                outputs += use.writes(value)
            if use.records:
                params |= use.records(name, value)
        return self.job(inputs=inputs, outputs=outputs, params=params, edited=edited)


DECLARED: dict[str, Declared] = {}
"""Commands of all imported modules, by their names in records."""
EVALUATE, REPRODUCE = "Evaluate models", "Reproduce the papers"
AUDIT, AUTHOR = "Audit numbers", "Write data of your own"
"""Headings of the help."""
GROUPS: dict[str, str] = {}
"""Help of each group of commands, such as ``export``."""


def library_arguments(declared: Declared, arguments: Arguments) -> dict[str, Any]:
    """Return the converted arguments that a command's library function takes, by name."""
    parameters = inspect.signature(resolve_name(declared.calls)).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return {
        name: use.passes(arguments[name], arguments) if use.passes else arguments[name]
        for name, use in declared.uses.items()
        if takes_any or name in parameters
    }


def command(
    runs: Runs = (), *, recorded: Runs = (), calls: str = "", name: str = "", **facts: Any
) -> Callable[[Callable[..., Mapping[str, Any] | None]], Declared]:
    """Return a decorator that declares a function as a command, with its name or ``name``.

    ``runs``, ``recorded`` or ``calls``: code that makes the products, in one of the module's three
    forms. ``facts``: other fields of ``Declared``. Raises ValueError for a name that is taken.
    """

    def declare(function: Callable[..., Mapping[str, Any] | None]) -> Declared:
        # Typer requires options with the default ``...``, but a bool or None may be left out.
        for parameter in inspect.signature(function).parameters.values():
            if getattr(parameter.default, "default", None) is ...:
                if parameter.annotation is bool:
                    parameter.default.default = False
                elif NoneType in get_args(parameter.annotation):
                    parameter.default.default = None
        code = runs or recorded or calls or ()
        within_job = bool(recorded or calls)
        declared = Declared(function, name or function.__name__, code, calls, within_job, **facts)
        if declared.name in DECLARED:
            raise ValueError(f"two commands are called {declared.name!r}")
        DECLARED[declared.name] = declared
        return declared

    return declare


CORE = ("campaign", "audit", "evaluate", "training", "scoring", "reproduction")
"""Modules of ``blimpworks.cli`` with commands that belong to no paper."""
PACKAGE = Path(__file__).parents[1]


@cache
def declared_commands() -> dict[str, Declared]:
    """Return every command, by its name in records."""
    from blimpworks.campaign.registry import papers

    modules = [f"blimpworks.cli.{name}" for name in CORE]
    for paper in papers().values():
        modules += paper.commands
    for module in modules:
        import_module(module)
    return DECLARED


def called_commands(arguments: Sequence[str]) -> list[Declared]:
    """Return [the command that a command line calls], or an empty list.

    Only the module of the command is imported, because importing all takes longer than most
    commands. For a command of a group, such as ``export crate``, all modules are imported.
    """
    # Search the source files for the definition of the command's function.
    name = arguments[0].replace("-", "_") if arguments else ""
    files = chain(PACKAGE.glob("cli/*.py"), PACKAGE.glob("papers/*/commands.py"))
    for path in (*sorted(files), PACKAGE / "benchmarks/commands.py"):
        if f"\ndef {name}(" in path.read_text(encoding="utf-8"):
            module = path.relative_to(PACKAGE).with_suffix("")
            import_module(".".join(("blimpworks", *module.parts)))
    called = [command for command in DECLARED.values() if command.is_called(arguments)]
    return called or [c for c in declared_commands().values() if c.is_called(arguments)]


def find_command(name: str) -> Command | None:
    """Return the command with this name in records; None if there is none any more."""
    declared = declared_commands().get(name.partition(" ")[0])
    return declared.commands.get(name) if declared else None


def code_of(name: str, *values: str) -> str:
    """Return the digest of a command's code; ``values`` as for ``Declared.command_for``."""
    return declared_commands()[name].command_for(*values).code
