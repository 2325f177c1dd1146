"""Making cheap products once more, from the command lines in their records, to compare.

What a job wrote is altered where making it again from the same inputs, by the same code, writes
something else, whatever the records say. Only commands that are declared cheap are run: they
read tables and write below a scratch directory, so a forged record can have nothing else run.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from blimpworks.audit.causes import same_table
from blimpworks.commands.registry import declared_commands, find_command
from blimpworks.errors import UserError
from blimpworks.files import sha256_of, target_of, writing_below
from blimpworks.records.job import package_versions
from blimpworks.records.reading import Record

PICTURES = (".pdf", ".png", ".svg")
"""Suffixes of files whose bytes depend on the version of matplotlib."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """How many files were made once more, how many were not, and what is wrong with some."""

    files: int
    left_out: int
    """Those of jobs that are not cheap, or whose code or packages have changed."""
    differing: list[tuple[Path, str]]


def _is_as_now(record: Record) -> bool:
    """Whether a job would run the same code with the same packages now."""
    command = find_command(record["verb"])
    if command is None or command.code != record["code"]:
        return False
    return bool(package_versions(command.packages) == record["packages"])


def _same(product: Path, again: Path) -> bool:
    if not again.is_file() or not product.is_file():
        return False
    if product.suffix == ".parquet":
        # Tables carry their record: another version of a package is no other number.
        return same_table(product, again)
    return sha256_of(product) == sha256_of(again)


def _runs(records: Sequence[Record]) -> dict[tuple[str, ...], list[Record]]:
    """Records by the command line of their process, of cheap commands alone."""
    cheap = [command.words for command in declared_commands().values() if command.cheap]
    runs: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        arguments = tuple(map(str, record.get("arguments", ())))
        if any(arguments[: len(words)] == words for words in cheap):
            runs.setdefault(arguments, []).append(record)
    return runs


def _compare(records: Sequence[Record], fault: str | None) -> Iterator[tuple[Path, str]]:
    for record in records:
        comparable = _is_as_now(record)
        for path in (Path(entry["path"]) for entry in record["outputs"]):
            if fault is not None:
                yield path, f"it cannot be made again: {fault}"
            elif not comparable and path.suffix in PICTURES:
                continue
            elif not _same(path, target_of(path)):
                yield path, "made again from its inputs, it has other content"


def _run(run: Callable[[list[str]], object], words: Sequence[str]) -> str | None:
    """Run a command line with nothing printed; what went wrong, None if nothing did."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        try:
            run([*words])
        except (UserError, OSError, KeyError, ValueError) as error:
            return " ".join(str(error).split())[:200]
    return None


def repeat_jobs(
    records: Mapping[str, Record], run: Callable[[list[str]], object], left_out: set[str]
) -> Repeated:
    """Make the products of all cheap jobs once more and compare; none is written over.

    ``run`` runs a command line of this package in this process; ``left_out`` are records, by first
    output, that were made of other inputs or by other code than there are now.
    """
    runs = _runs([record for path, record in records.items() if path not in left_out])
    differing: list[tuple[Path, str]] = []
    with tempfile.TemporaryDirectory(prefix="blimpworks-check-") as scratch:
        for number, (words, made) in enumerate(
            tqdm(runs.items(), "making again", unit="job", disable=None)
        ):
            with writing_below(Path(scratch, str(number))):
                differing += _compare(made, _run(run, words))
    done = {r["outputs"][0]["path"] for made in runs.values() for r in made}
    sizes = {path: len(record["outputs"]) for path, record in records.items()}
    files = sum(sizes[path] for path in done)
    return Repeated(files, sum(sizes.values()) - files, differing)
