"""Declare the commands of ``blimpworks`` by a decorator, and find declared commands by name.

    @command(calls="blimpworks.models.text:join_text")
    def join_text(texts: list[Path] = argument("Texts."), output: Path = written("Text.")) -> None:
        'Join training texts.'

The function's parameters are the options, its docstring is the help. A command that makes products
runs within a job, which writes their provenance record: the command's name, inputs, outputs and
parameters, a digest of its code, and the versions of ``packages``. Three forms differ in who opens
the job, and in the code that runs within it:

- ``command(calls=FUNCTION)``: ``callback`` opens the job. FUNCTION runs within it, and gets the
  arguments of the same names. The command has no body.
- ``command(recorded=ENTRIES)``: ``callback`` opens the job. The body runs within it.
- ``command(ENTRIES)``: the body opens a job, or several, by ``with NAME.job(…):``.

ENTRIES are the functions that make the products, as ``module:name``; the digest covers their code.
In the first form, FUNCTION is the only entry. A command without products has none: ``command()``.

``callback`` takes paths among the arguments as inputs of the job, and all others as parameters of
the record, unless an option has a ``Use``. Heavy imports stay in the bodies, so that ``--help``
starts quickly.

A ``Declared`` is a command of the command line. It has a ``Command`` for each name in records, such
as "score vllm causal" and "score kenlm ngram" of ``score``.
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
Entries = str | tuple[str, ...] | Callable[[], Iterable[Command]]
"""Functions and classes that make the products, as ``module:name``. If arguments decide the code, a
function that returns a ``Command`` for each choice, such as "score vllm causal" of ``score``."""
Notes = str | Callable[[Any], Mapping[str, Any]] | None
"""Name under which the record notes the result of FUNCTION, or a function from the result to the
notes. With None, a result that is a mapping is noted unchanged, and any other is not noted."""


class Use(NamedTuple):
    """Effects of an option's argument on the job, one for each field that is set."""

    inputs_from: Callable[[Any, Arguments], Iterable[Path]] | None = None
    """Function from the argument's value and all arguments to input files."""
    outputs_from: Callable[[Any], Iterable[Path]] | None = None
    """Function from the value to output files."""
    parameters_from: Callable[[str, Any], Mapping[str, Any]] | None = None
    """Function from the argument's name and value to parameters of the record."""
    convert: Callable[[Any, Arguments], Any] | None = None
    """Function from the value and all arguments to the value that FUNCTION of ``calls=`` gets."""
    edited: bool = False
    """Whether people edit the input files, so that they may differ from a job's output."""


def paths_of(value: Path | Iterable[Path] | None) -> list[Path]:
    """Return a path, several paths or None as a list."""
    return [value] if isinstance(value, Path) else [*(value or ())]


def dumped(**arguments: Any) -> Use:
    """Record settings under their argument's name; ``arguments`` are those of ``model_dump``."""
    return Use(parameters_from=lambda name, value: {name: value.model_dump(**arguments)})


def spread(**arguments: Any) -> Use:
    """Record each setting under its name; ``arguments`` are those of ``model_dump``."""
    return Use(parameters_from=lambda _, value: value.model_dump(**arguments))


READ = Use(inputs_from=lambda value, _: paths_of(value))
"""Use of an input file, or of several: by default, of arguments that are paths."""
FILLED_IN = Use(inputs_from=lambda value, _: paths_of(value), edited=True)
"""Use of an input that people have filled in."""
WRITTEN = Use(outputs_from=paths_of)
WITH_FOLDER = Use(outputs_from=lambda path: [path, path.parent])
"""Use of an output file; the job's outputs are the file and its directory."""
RECORDED = Use(parameters_from=lambda name, value: {name: value})
"""Use of a parameter of the record: by default, of arguments that are no paths."""
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
    entries: Entries = ()
    """Code that makes the products; empty for a command that makes none."""
    calls: str = ""
    """FUNCTION of the form ``calls=``, as ``module:name``; "" for a command with a body."""
    opens_job: bool = False
    """Whether ``callback`` opens a job: with ``calls=`` or ``recorded=``."""
    packages: tuple[str, ...] = ()
    notes: Notes = None
    group: str = ""
    pandas: bool = True
    """Whether the command uses pandas, which takes a second to import; else it is hidden."""
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
            if not self.opens_job:
                self.function(**arguments)
                return
            with self._job_of(arguments) as job:
                if self.calls:
                    result = resolve_name(self.calls)(**library_arguments(self, arguments))
                    job.note(**self._notes_on(result))
                else:
                    job.note(**(self.function(**arguments) or {}))

        return update_wrapper(callback, self.function)

    def _notes_on(self, result: object) -> Mapping[str, Any]:
        """Return what the record notes about the result of FUNCTION, by ``Notes``."""
        if isinstance(self.notes, str):
            return {self.notes: result}
        if self.notes:
            return self.notes(result)
        return result if isinstance(result, Mapping) else {}

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
        """{name in records: Command}; empty for a command without records."""
        if callable(self.entries):
            return {command.name: command for command in self.entries()}
        entries = (self.entries,) if isinstance(self.entries, str) else self.entries
        return {self.name: Command(self.name, entries, self.packages)} if entries else {}

    def command_for(self, *values: str) -> Command:
        """Return the ``Command`` for values such as ("vllm", "causal"); others raise UserError."""
        return find(self.commands, " ".join((self.name, *values)), "command")

    def job(
        self,
        *values: str,
        inputs: Sequence[Path],
        outputs: Sequence[Path],
        params: Mapping[str, Any],
        edited: Collection[Path] = (),
    ) -> "Job":
        """Open a job of this command; ``values`` as for ``command_for``. Raises as ``Job`` does."""
        from blimpworks.records.job import Job

        command = self.command_for(*values)
        return Job(command, inputs=inputs, outputs=outputs, params=params, edited=edited)

    def _job_of(self, arguments: Arguments) -> "Job":
        inputs, outputs, edited = list[Path](), list[Path](), set[Path]()
        params: dict[str, Any] = {}
        for name, use in self.uses.items():
            value = arguments[name]
            if use.inputs_from:
                paths = [*use.inputs_from(value, arguments)]
                inputs += paths
                edited.update(paths if use.edited else ())
            if use.outputs_from:
                outputs += use.outputs_from(value)
            if use.parameters_from:
                params |= use.parameters_from(name, value)
        return self.job(inputs=inputs, outputs=outputs, params=params, edited=edited)


DECLARED: dict[str, Declared] = {}
"""Commands of all imported modules, by their names in records."""
EVALUATE, REPRODUCE = "Evaluate models", "Reproduce the papers"
AUDIT, AUTHOR = "Audit numbers", "Write data of your own"
"""Headings of the help."""
GROUPS: dict[str, str] = {}
"""Help of each group of commands, such as ``export``."""


def library_arguments(declared: Declared, arguments: Arguments) -> dict[str, Any]:
    """Return the arguments, converted, that FUNCTION of ``calls=`` takes, by name."""
    parameters = inspect.signature(resolve_name(declared.calls)).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return {
        name: use.convert(arguments[name], arguments) if use.convert else arguments[name]
        for name, use in declared.uses.items()
        if takes_any or name in parameters
    }


def _make_optional(function: Callable[..., Any]) -> None:
    # An option that is declared without ``default`` has ``...``: Typer requires it. Give those of
    # type bool, or X | None, a default instead.
    for parameter in inspect.signature(function).parameters.values():
        if getattr(parameter.default, "default", None) is ...:
            if parameter.annotation is bool:
                parameter.default.default = False
            elif NoneType in get_args(parameter.annotation):
                parameter.default.default = None


def command(
    entries: Entries = (), *, recorded: Entries = (), calls: str = "", name: str = "", **facts: Any
) -> Callable[[Callable[..., Mapping[str, Any] | None]], Declared]:
    """Return a decorator that declares a function as a command, with its name or ``name``.

    Give one of ``entries``, ``recorded`` and ``calls``, for the module's three forms, or none.
    ``facts``: other fields of ``Declared``. Raises ValueError for a name that is taken.
    """

    def declare(function: Callable[..., Mapping[str, Any] | None]) -> Declared:
        _make_optional(function)
        facts["entries"] = entries or recorded or calls or ()
        facts["opens_job"] = bool(recorded or calls)
        declared = Declared(function, name or function.__name__, calls=calls, **facts)
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
    """Return the command that a command line calls, as a list of one; [] if it calls none.

    Only the module of the command is imported, because importing all takes longer than most
    commands. For a command of a group, such as ``export crate``, all modules are imported.
    """
    # To find the module without importing any, search the source files for "def join_text(".
    name = arguments[0].replace("-", "_") if arguments else ""
    files = chain(PACKAGE.glob("cli/*.py"), PACKAGE.glob("papers/*/commands.py"))
    for path in (*sorted(files), PACKAGE / "benchmarks/commands.py"):
        if f"\ndef {name}(" in path.read_text(encoding="utf-8"):
            module = path.relative_to(PACKAGE).with_suffix("")
            import_module(".".join(("blimpworks", *module.parts)))
    called = [command for command in DECLARED.values() if command.is_called(arguments)]
    return called or [c for c in declared_commands().values() if c.is_called(arguments)]


def find_command(name: str) -> Command | None:
    """Return the ``Command`` with this name in records; None if there is none any more."""
    declared = declared_commands().get(name.partition(" ")[0])
    return declared.commands.get(name) if declared else None


def code_of(name: str, *values: str) -> str:
    """Return the digest of a command's code; ``values`` as for ``Declared.command_for``."""
    return declared_commands()[name].command_for(*values).code
