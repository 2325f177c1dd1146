"""Repetition of cheap jobs from the command lines in their records, to compare.

A product is altered where the same inputs and code make other content. Only commands that are
declared cheap run: they read tables and write below a scratch directory, so that a forged record
cannot run anything else.
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
    """Numbers of files that were made again and were not, and faults."""

    files: int
    left_out: int
    """Files of jobs that are not cheap, or whose code or packages have changed."""
    differing: list[tuple[Path, str]]


def _same(product: Path, again: Path) -> bool:
    if not again.is_file() or not product.is_file():
        return False
    if product.suffix == ".parquet":
        # Tables carry their record: another version of a package is no other number.
        return same_table(product, again)
    return sha256_of(product) == sha256_of(again)


def _compare(records: Sequence[Record], fault: str | None) -> Iterator[tuple[Path, str]]:
    for record in records:
        command = find_command(record["verb"])
        is_as_now = command is not None and (
            command.code == record["code"]
            and package_versions(command.packages) == record["packages"]
        )
        for path in (Path(entry["path"]) for entry in record["outputs"]):
            if fault is not None:
                yield path, f"it cannot be made again: {fault}"
            elif not is_as_now and path.suffix in PICTURES:
                continue
            elif not _same(path, target_of(path)):
                yield path, "made again from its inputs, it has other content"


def _run(run: Callable[[list[str]], object], words: Sequence[str]) -> str | None:
    """Run a command line without output; return its fault, or None."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        try:
            run([*words])
        except (UserError, OSError, KeyError, ValueError) as error:
            return " ".join(str(error).split())[:200]
    return None


def repeat_jobs(
    records: Mapping[str, Record], run: Callable[[list[str]], object], left_out: set[str]
) -> Repeated:
    """Make the products of all cheap jobs again and compare; none is overwritten.

    ``run`` runs a command line of this package in this process; ``left_out`` are records, by first
    output, with other inputs or code than now.
    """
    # Records of cheap commands, by the command line of their process.
    cheap = [command.words for command in declared_commands().values() if command.cheap]
    runs: dict[tuple[str, ...], list[Record]] = {}
    for first, record in records.items():
        arguments = tuple(map(str, record.get("arguments", ())))
        is_cheap = any(arguments[: len(words)] == words for words in cheap)
        if is_cheap and first not in left_out:
            runs.setdefault(arguments, []).append(record)
    differing: list[tuple[Path, str]] = []
    with tempfile.TemporaryDirectory(prefix="blimpworks-check-") as scratch:
        for number, (command_words, made) in enumerate(
            tqdm(runs.items(), "making again", unit="job", disable=None)
        ):
            with writing_below(Path(scratch, str(number))):
                differing += _compare(made, _run(run, command_words))
    done = {r["outputs"][0]["path"] for made in runs.values() for r in made}
    sizes = {path: len(record["outputs"]) for path, record in records.items()}
    files = sum(sizes[path] for path in done)
    return Repeated(files, sum(sizes.values()) - files, differing)
