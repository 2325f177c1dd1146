"""Write a provenance record for each job: command, inputs, code, parameters, host and times.

A command makes its products within ``with Job(command, inputs=…, outputs=…, params=…)``. The job
writes ``<first output>.prov.json``, and a pointer to it beside each product in another directory.
Parquet files contain some fields of the record: inputs, code, parameters, package versions. Only
the record has host and times, so that a repeated job writes products with the same bytes.
"""

import contextvars
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from blimpworks import __version__
from blimpworks.errors import UserError
from blimpworks.files import expand, is_written_elsewhere, sha256_of, sidecar_path, write_text
from blimpworks.records.reading import OWN_HASH, Records, output_hash, record_hash

REPOSITORY = Path(__file__).resolve().parents[3]


class Command(NamedTuple):
    """A command that makes products; their records have its name under the key ``verb``."""

    name: str
    """``judge``, or ``score vllm causal`` if engine and architecture decide the code."""
    entries: tuple[str, ...]
    """Functions and classes that the command runs, as ``module:name``."""
    packages: tuple[str, ...] = ()
    """Distributions on which the products depend; records contain their versions."""

    @property
    def code(self) -> str:
        """Digest of the code that its entries reach, as 16 hexadecimal digits."""
        from blimpworks.records.digest import code_digest

        return code_digest(*self.entries)

    def sources(self) -> dict[str, str]:
        """Return the SHA-256 of each module with code of the command, by module name."""
        from blimpworks.records.digest import module_path, reached_modules

        paths = {module: module_path(module) for module in reached_modules(*self.entries)}
        return {module: sha256_of(path) for module, path in paths.items() if path is not None}


# The job within which this code runs, and the command-line arguments for its record.
_current: contextvars.ContextVar["Job | None"] = contextvars.ContextVar("job", default=None)
_arguments: contextvars.ContextVar[Sequence[str]] = contextvars.ContextVar("arguments", default=())
_planned: contextvars.ContextVar["list[Job] | None"] = contextvars.ContextVar(
    "planned", default=None
)
"""Jobs that ``planning`` has collected; None while jobs run."""


def _no_cluster() -> dict[str, Any]:
    return {"slurm_job": None, "node": platform.node(), "gpus": ()}


# Set by ``record_allocation``, because this package does not import the one for clusters.
_find_allocation: Callable[[], Mapping[str, Any]] = _no_cluster


def record_allocation(find: Callable[[], Mapping[str, Any]]) -> None:
    """Set the function that returns a job's id, node and GPUs on a cluster, for records."""
    global _find_allocation  # noqa: PLW0603
    _find_allocation = find


def record_arguments(arguments: Sequence[str]) -> None:
    """Set the command-line arguments that records of this process contain."""
    _arguments.set((*arguments,))


def replace_argument(before: str, after: str) -> None:
    """Replace an argument ``before``, or the value in ``--option=before``, for the records."""
    replaced = []
    for argument in _arguments.get():
        if argument == before or argument.endswith(f"={before}"):
            argument = argument.removesuffix(before) + after  # noqa: PLW2901
        replaced.append(argument)
    _arguments.set(replaced)


def current_job() -> "Job | None":
    """Return the job within which this code runs; None outside of jobs."""
    return _current.get()


@cache
def package_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of installed packages, and of Python and blimpworks."""
    versions = {"python": platform.python_version(), "blimpworks": __version__}
    for name in names:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def run_git(repository: Path, *arguments: str) -> bytes | None:
    """Return the standard output of a git command; None where it fails or git is missing."""
    command = ["git", "-C", str(repository), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout if result.returncode == 0 else None


@cache
def git_state() -> dict[str, Any]:
    """Return the repository's commit, and whether its tree was clean; None outside a checkout.

    Cached: the first call is soon after the process has read its code, which may change later.
    """
    commit = run_git(REPOSITORY, "rev-parse", "HEAD")
    changed = run_git(REPOSITORY, "status", "--porcelain") if commit else None
    clean = None if changed is None else not changed.strip()
    return {"commit": commit.decode().strip() if commit is not None else None, "clean": clean}


def _describe_files(paths: Sequence[Path]) -> list[dict[str, Any]]:
    files = dict.fromkeys(expand([*paths]))  # a directory is replaced by the files below it
    return [{"path": str(p), "sha256": sha256_of(p), "bytes": p.stat().st_size} for p in files]


def _records_of(inputs: Sequence[Mapping[str, Any]], edited: Collection[Path]) -> dict[str, str]:
    """Return {path of an input that a job made: SHA-256 of that job's record}.

    ``inputs``: path, SHA-256 and size of each file. Raises UserError for an input that differs from
    its record. Inputs in ``edited`` are left out, because people may change these files.
    """
    records, hashes = Records(), {}
    for entry in inputs:
        path = entry["path"]
        record = records.of(path)
        if record is None or Path(path) in edited:
            continue
        recorded = output_hash(record, path)
        if recorded != entry["sha256"]:
            raise UserError(
                f"{path} is not what its job wrote: its SHA-256 is {entry['sha256'][:16]}…, "
                f"{record['verb']} recorded {recorded[:16]}…. It was damaged or edited; remove it "
                "and run snakemake again, which makes it again."
            )
        hashes[path] = record_hash(record)
    return hashes


class Planned(Exception):
    """Raised by ``Job`` while ``planning`` is active: ends the command before it makes anything."""


@contextmanager
def planning() -> Iterator["list[Job]"]:
    """Collect the jobs that commands would run within this block, in the list that is yielded.

    Their inputs, params and code can then be compared with records. No job starts: each raises
    Planned, which the block must suppress.
    """
    planned: list[Job] = []
    token = _planned.set(planned)
    try:
        yield planned
    finally:
        _planned.reset(token)


class Job:
    """Context manager around the code that makes products; writes their record on success.

    ``params``: values that decide the products. ``edited``: inputs that people fill in after a job
    wrote them. Raises UserError when an input is missing or differs from its record, and Planned
    while ``planning`` is active.
    """

    def __init__(
        self,
        command: Command,
        *,
        inputs: Sequence[Path],
        outputs: Sequence[Path],
        params: Mapping[str, Any],
        edited: Collection[Path] = (),
    ) -> None:
        self.command, self.params = command, dict(params)
        self.inputs, self.outputs = list(inputs), list(outputs)
        planned = _planned.get()
        if planned is not None:
            planned.append(self)
            raise Planned(command.name)
        for path in inputs:
            if not path.exists():
                raise UserError(
                    f"{command.name}: {path} does not exist; expected an input file. "
                    "Build it first (snakemake builds what a target needs)."
                )
        self.extra: dict[str, Any] = {}
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.made_by: dict[str, Any] = {
            "verb": command.name,
            "params": self.params,
            "code": command.code,
            "inputs": _describe_files(self.inputs),
            "packages": package_versions(command.packages),
        }
        self._input_records = _records_of(self.made_by["inputs"], edited)
        # Read before the job runs, because somebody may edit or commit meanwhile.
        self._sources, self._git = command.sources(), git_state()
        self._token: contextvars.Token[Job | None] | None = None

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def note(self, **facts: Any) -> None:
        """Add facts on the run to the record, such as counts or a device."""
        self.extra.update(facts)

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._token is not None
        _current.reset(self._token)
        # Products that ``check`` writes elsewhere, to compare them, get no record.
        if error is not None or is_written_elsewhere():
            return
        record: dict[str, Any] = {
            **self.made_by,
            "arguments": [*_arguments.get()],
            "input_records": self._input_records,
            "outputs": _describe_files(self.outputs),
            "notes": self.extra,
            "sources": self._sources,
            "git": self._git,
            "host": {
                "name": platform.node(),
                "platform": platform.platform(),
                "cpus": os.cpu_count(),
                **_find_allocation(),
            },
            "started": self.started,
            "ended": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        # Hash the record as read from JSON, in which tuples are lists and keys are strings.
        record = json.loads(json.dumps(record))
        record[OWN_HASH] = record_hash(record)
        sidecar = sidecar_path(self.outputs[0])
        text = json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True)
        write_text(sidecar, text + "\n")
        # The sidecar's directory is searched for records of all its files, so only products in
        # other directories need a pointer.
        for product in self.outputs[1:]:
            if product.parent != sidecar.parent and not product.is_dir():
                pointer = json.dumps({"record": str(sidecar)}, ensure_ascii=False)
                write_text(sidecar_path(product), pointer + "\n")


_ABSOLUTE = re.compile(r"(?<![\w:/.~-])(?:/[^\s\"'\\/<>()\[\]{},;:|]+){2,}")
"""Text that looks like an absolute path, as ``/tmp/a``; neither ``/tmp`` nor ``https://a/tmp/a``."""


def _file_name_of(match: re.Match[str]) -> str:
    path = match[0]
    try:
        return Path(path).name if Path(path).exists() else path
    except OSError:
        return path


def relative_texts(roots: Mapping[str, Path]) -> Callable[[str], str]:
    """Return a function that removes this machine's paths from texts, for published products.

    A root's name replaces its absolute path. Paths below the current directory or the repository
    become relative to it. Any other path of an existing file becomes the file's name.
    """
    replacements = {f"{folder}/": "" for folder in (Path.cwd(), REPOSITORY)}
    for name, path in roots.items():
        if path.is_absolute():
            replacements |= {str(path): name, f"{path}/": f"{name}/"}
    # The longest first, because results may be below the current directory.
    prefixes = sorted(replacements.items(), key=lambda pair: -len(pair[0]))

    def relative(text: str) -> str:
        for prefix, name in prefixes:
            text = text.replace(prefix, name)
        return _ABSOLUTE.sub(_file_name_of, text)

    return relative
