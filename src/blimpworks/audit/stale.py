"""Find products that the present code or campaign would make differently, and adopt copied results.

``stale_reasons`` compares provenance records with the present code, and with the jobs of a campaign
(``planned_jobs``, from a dry run of Snakemake). The record beside a product has its job's command,
parameters, inputs, a digest of its code, and the SHA-256 of each module. ``adopt`` makes Snakemake
take results that were copied from elsewhere for up to date.
"""

import hashlib
import json
import logging
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import groupby, islice, takewhile
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import Any

from blimpworks.commands.declare import find_command
from blimpworks.errors import UserError, few
from blimpworks.files import expand
from blimpworks.records.digest import definitions, module_path, reachable
from blimpworks.records.job import REPOSITORY, Job, Planned, planning, run_git
from blimpworks.records.reading import Record
from blimpworks.tables import read_parquet


def same_table(first: Path, second: Path) -> bool:
    """Return whether two Parquet files have the same data; the records inside may differ."""
    try:
        return bool(read_parquet(first).equals(read_parquet(second), check_metadata=False))
    except UserError:
        return False


ABSENT_VALUE = "absent"
"""Value of a setting that one of two compared jobs lacks."""
LONGEST_VALUE = 70
"""Most characters of a value in a message."""
SOURCES = Path("src")
FindSource = Callable[[str], str | None]
"""Function that returns the source text of a module as a job ran it; None if it is lost."""


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return the leaves of nested objects: {"a": {"b": 1}} is {"a.b": 1}; lists are leaves."""
    if not isinstance(value, Mapping) or not value:
        return {prefix: value}
    leaves: dict[str, Any] = {}
    for key, inner in value.items():
        leaves |= flatten(inner, f"{prefix}.{key}" if prefix else str(key))
    return leaves


def shortened(value: Any) -> str:
    """Return a value as JSON, cut after ``LONGEST_VALUE`` characters."""
    text = value if value is ABSENT_VALUE else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def changed_values(before: Any, after: Any) -> dict[str, tuple[Any, Any]]:
    """Return (old, new) value of each leaf that differs between nested objects, by dotted path."""
    old, new = flatten(before), flatten(json.loads(json.dumps(after)))
    changes = {}
    for path in [*old, *(new.keys() - old.keys())]:
        pair = old.get(path, ABSENT_VALUE), new.get(path, ABSENT_VALUE)
        if pair[0] != pair[1]:
            changes[path] = pair
    return changes


_run_git_once = cache(run_git)


def texts_of(
    record: Mapping[str, Any], repositories: Collection[Path] = (REPOSITORY,)
) -> FindSource:
    """Return a function that finds the source of a module as a job ran it, by its SHA-256.

    It looks into the files of ``repositories`` and, by git, into the recorded commit.
    """

    def text(module: str) -> str | None:
        recorded_hash, commit = record["sources"].get(module), record["git"]["commit"]
        base = str(SOURCES.joinpath(*module.split(".")))
        for repository in repositories:
            for path in (f"{base}.py", f"{base}/__init__.py"):
                file = repository / path
                present = file.read_bytes() if file.is_file() else None
                committed = commit and _run_git_once(repository, "show", f"{commit}:{path}")
                for content in (present, committed):
                    if content and hashlib.sha256(content).hexdigest() == recorded_hash:
                        return content.decode("utf-8")
        return None

    return text


def text_now(module: str) -> str | None:
    """Return the present source of a module."""
    path = module_path(module)
    return path.read_text(encoding="utf-8") if path else None


def changed_code(
    before: Mapping[str, str],
    after: Mapping[str, str],
    old: FindSource,
    new: FindSource,
    reached: Collection[tuple[str, str]] | None = None,
) -> tuple[list[str], list[str]]:
    """Return modules that differ between two jobs, as "judging.judge (judge, Rules)".

    The names in brackets are the changed definitions. Modules with only changed comments are left
    out. The second list has modules that may differ, because a source is lost. ``before``,
    ``after``: SHA-256 by module. ``old``, ``new``: functions that return the source of a module.
    ``reached``: (module, name) of the definitions that the command uses; None for all.
    """
    changed: list[str] = []
    perhaps: list[str] = []
    for module in sorted({*before, *after}):
        if before.get(module) == after.get(module):
            continue
        if module not in before or module not in after:
            changed.append(f"{module} ({'new' if module not in before else 'no longer used'})")
            continue
        old_text, new_text = old(module), new(module)
        if old_text is None or new_text is None:
            perhaps.append(f"{module} (perhaps)")
            continue
        first, second = definitions(old_text), definitions(new_text)
        names = []
        for name in {**first, **second}:
            # Statements that run on import have no name. ``reached`` lacks removed definitions.
            is_used = reached is None or not name or (module, name) in reached
            if first.get(name) != second.get(name) and (is_used or name not in second):
                names.append(name or "statements run on import")
        if names:
            changed.append(f"{module} ({', '.join(names)})")
    return changed, perhaps


TARGETS = ("all", "published", "reproduction")
COMMAND = re.compile(r"Shell command: (\S*python\S* -m blimpworks .+)")
LONGEST_COMMAND = 1_000_000
"""Most bytes of names on a command line; Linux allows two million with the environment."""
MOST_NAMED_CAUSES = 5
"""Most definitions, parameters or inputs that a reason names."""


def _snakemake(campaign: Path, *arguments: str, settings: str = "") -> CompletedProcess[str]:
    """Run Snakemake. ``settings``: directory for the files of settings that the workflow writes."""
    command = [sys.executable, "-m", "snakemake", "--configfile", str(campaign), "--cores", "1"]
    variables = os.environ | {"COLUMNS": "10000", "BLIMPWORKS_SETTINGS": settings}
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, env=variables
    )


def _last_lines(run: CompletedProcess[str], count: int) -> str:
    lines = [line for line in (run.stdout + run.stderr).splitlines() if line.strip()]
    return " ".join(lines[-count:]) or "no message."


def planned_jobs(campaign: Path, run: Callable[[Sequence[str]], object]) -> dict[str, Job]:
    """Return the jobs that would make all of the campaign's products now, by their first output.

    The current directory must be the workflow's. ``run``: function that runs a command line of this
    package in this process. Raises UserError when the campaign's file is missing, or Snakemake
    cannot plan it.
    """
    if not campaign.is_file():
        raise UserError(f"{campaign} does not exist; expected a campaign file.")
    jobs: dict[str, Job] = {}
    with TemporaryDirectory(prefix="blimpworks-settings-") as settings:
        dry_run = ("-n", "-F", "-p", "--nolock", "--", *TARGETS)
        result = _snakemake(campaign, *dry_run, settings=settings)
        if result.returncode:
            raise UserError(
                f"Snakemake has no plan for campaign {campaign}: {_last_lines(result, 3)} Correct "
                "that, or check without --configfile."
            )
        for shell_command in COMMAND.findall(result.stdout + result.stderr):
            # "python -m blimpworks judge a > log && python -m blimpworks …" has several commands;
            # the arguments of the first are ["judge", "a"].
            for is_separator, pieces in groupby(shlex.split(shell_command), "&&".__eq__):
                if is_separator:
                    continue
                before_log = [*takewhile(lambda piece: piece not in (">", ">>"), pieces)]
                arguments = before_log[3:]
                with planning() as planned, suppress(Planned):
                    try:
                        run(arguments)
                    except (UserError, OSError, ImportError) as error:
                        # The command reads inputs, which do not exist yet, before its job.
                        logging.getLogger(__name__).debug("%s: %s", arguments[:1], error)
                jobs |= {os.path.normpath(job.outputs[0]): job for job in planned}
    return jobs


def _code_reason(record: Mapping[str, Any]) -> str | None:
    """Return a phrase on changes in the code of a job's command; None without changes."""
    command = find_command(record["verb"])
    if command is None:
        return f"there is no command {record['verb']!r} any more"
    if command.code == record["code"]:
        return None
    reached = set(reachable(*command.entries))
    changed, perhaps = changed_code(
        record["sources"], command.sources(), texts_of(record), text_now, reached
    )
    changes = few(changed + perhaps, MOST_NAMED_CAUSES) or "its entry points, or a data file"
    return f"the code of {command.name} has changed: {changes}"


def plan_reasons(record: Mapping[str, Any], planned: Job) -> Iterator[str]:
    """Yield parameters and inputs that differ between a record and its planned job."""
    name = planned.command.name
    if name != record["verb"]:
        yield f"the campaign makes it by {name!r}, but it was made by {record['verb']!r}"
    changes = [
        f"{path} is now {shortened(new)}, was {shortened(old)}"
        for path, (old, new) in changed_values(record["params"], planned.params).items()
    ]
    if changes:
        yield f"parameters have changed: {few(changes, MOST_NAMED_CAUSES)}"
    before = {os.path.normpath(entry["path"]) for entry in record["inputs"]}
    after = {os.path.normpath(path) for path in expand(planned.inputs)}
    if added := sorted(after - before):
        yield f"the campaign now makes it from {few(added, MOST_NAMED_CAUSES)} too"
    if removed := sorted(before - after):
        yield f"the campaign no longer makes it from {few(removed, MOST_NAMED_CAUSES)}"


def stale_reasons(
    records: Mapping[str, Record], plan: Mapping[str, Job] | None
) -> Iterator[tuple[str, str]]:
    """Yield (first output, reason) of jobs that would run differently now."""
    code_reasons: dict[tuple[str, str], str | None] = {}
    for first, record in records.items():
        key = (record["verb"], record["code"])
        if key not in code_reasons:
            code_reasons[key] = _code_reason(record)
        if reason := code_reasons[key]:
            yield first, reason
        planned = (plan or {}).get(os.path.normpath(first))
        for reason in plan_reasons(record, planned) if planned else ():
            yield first, reason


def command_lines(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Split names, in order, into groups that fit on a command line."""
    longest = max((len(os.fsencode(name)) for name in names), default=0) + 1
    remaining = iter(names)
    while group := tuple(islice(remaining, LONGEST_COMMAND // longest)):
        yield group


def adopt(campaign: Path) -> int:
    """Make Snakemake treat existing products as up to date; return their number.

    Snakemake compares times of files, and metadata of earlier runs, which a copy lacks. The caller
    must have checked that the products are those of the campaign. Raises UserError when Snakemake
    fails, such as for a product without inputs.
    """

    def snakemake(*arguments: str) -> list[str]:
        result = _snakemake(campaign, "--no-hooks", *arguments)
        if result.returncode:
            raise UserError(f"Snakemake could not take over {campaign}: {_last_lines(result, 4)}")
        return result.stdout.splitlines()

    names: list[str] = []
    files: set[str] = set()
    for target in TARGETS:
        lines = snakemake("--summary", target)[1:]  # without the headings
        # The first column has the path of a product; lines without columns are messages.
        products = [*dict.fromkeys(line.split("\t")[0] for line in lines if "\t" in line)]
        existing = [product for product in products if Path(product).exists()]
        if existing == products:
            names.append(target)
        elif target == TARGETS[0]:
            # Snakemake can touch the products of this target one by one, not those of the others.
            names += existing
        files |= {*existing}
    for group in command_lines(names):
        snakemake("--touch", "--rerun-triggers", "mtime", "--", *group)
    return len(files)
