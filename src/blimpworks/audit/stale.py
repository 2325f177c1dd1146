"""Products that the working tree would now make otherwise, and why: by code, parameters, inputs."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blimpworks.audit.changes import changed_code, changed_values, shortened, text_now, texts_of
from blimpworks.audit.plan import PlannedJob
from blimpworks.commands.registry import find_command
from blimpworks.files import expand
from blimpworks.records.digest import reachable
from blimpworks.records.reading import Record

FEW = 5
"""Definitions, parameters or inputs that a reason names."""


def _few(texts: list[str]) -> str:
    rest = len(texts) - FEW
    return ", ".join(texts[:FEW]) + (f" and {rest} more" if rest > 0 else "")


class Codes:
    """Reasons why recorded jobs are stale by the code that their commands run now."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str | None] = {}

    def reason(self, record: Mapping[str, Any]) -> str | None:
        """A sentence on changes in the code of a job's command since, or None."""
        key = (record["verb"], record["code"])
        if key not in self._known:
            self._known[key] = self._changed(record)
        return self._known[key]

    def _changed(self, record: Mapping[str, Any]) -> str | None:
        command = find_command(record["verb"])
        if command is None:
            return f"there is no command {record['verb']!r} any more"
        if command.code == record["code"]:
            return None
        reached = set(reachable(*command.entries))
        definitions = changed_code(
            record["sources"], command.sources(), texts_of(record), text_now, reached
        )
        what = _few(definitions) or "what it starts from, or a data file beside it"
        return f"the code of {command.name} has changed: {what}"


def plan_reasons(record: Mapping[str, Any], planned: PlannedJob) -> Iterator[str]:
    """Parameters and inputs that differ between a product's record and its planned job."""
    if planned.command != record["verb"]:
        yield f"the campaign makes it by {planned.command!r}, it was made by {record['verb']!r}"
    changed = changed_values(record["params"], planned.params)
    if changed:
        changes = [
            f"{path} is now {shortened(new)}, was {shortened(old)}"
            for path, (old, new) in changed.items()
        ]
        yield f"parameters have changed: {_few(changes)}"
    before = {os.path.normpath(entry["path"]) for entry in record["inputs"]}
    after = {os.path.normpath(path) for path in expand([*map(Path, planned.inputs)])}
    if added := sorted(after - before):
        yield f"the campaign now makes it from {_few(added)} too"
    if gone := sorted(before - after):
        yield f"the campaign no longer makes it from {_few(gone)}"


def stale_reasons(
    records: Mapping[str, Record], plan: Mapping[str, PlannedJob] | None
) -> Iterator[tuple[str, str]]:
    """First outputs that the working tree, or the campaign, would make otherwise, and why."""
    codes = Codes()
    for first, record in records.items():
        if reason := codes.reason(record):
            yield first, reason
        planned = (plan or {}).get(os.path.normpath(first))
        for reason in plan_reasons(record, planned) if planned else ():
            yield first, reason
