"""Find altered, missing or stale files of a results tree by hashing them again, and sign the tree.

``blimpworks check`` calls ``audit``, which returns an ``Audit`` with its ``Finding`` objects. A
provenance record beside each product says which job made it, and has the SHA-256 of its inputs and
outputs. A product is stale if its job would now have other code, parameters or inputs. ``sign``
signs the hash of all records with an SSH key, and ``signer`` finds who signed it.
"""

import json
import os
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from tqdm import tqdm

from blimpworks import files
from blimpworks.audit.lineage import Jobs
from blimpworks.audit.stale import same_table, stale_reasons
from blimpworks.commands.declare import declared_commands, find_command
from blimpworks.errors import UserError, few
from blimpworks.records.job import Job, package_versions
from blimpworks.records.reading import OWN_HASH, Record, record_hash, records_below, root_hash

Problem = Literal["altered", "edited", "missing", "stale", "unaccounted", "unreadable"]
"""altered: a file differs from its record; edited: a record was changed; missing: a recorded file
is gone; stale: its job would now run differently; unaccounted: no record lists the file;
unreadable: a record is damaged."""
READERS = 8
"""Number of threads that hash files: hashing releases the interpreter lock."""
SETTINGS_FOLDER = "settings"
"""Directory of the results with settings of jobs."""
MOST_NAMED = 3
"""Most inputs that a finding names, and most files that are listed with the same finding."""
PICTURES = (".pdf", ".png", ".svg")
"""Suffixes of files whose bytes depend on the version of matplotlib."""
PROGRESS_INTERVAL = 5.0
"""Seconds until a progress bar appears, and between its updates."""
HASH_FILE = Path(".snakemake/blimpworks-hashes.json")
"""File of hashes from earlier checks, below the workflow's directory."""
SETTLED = 2_000_000_000
"""Nanoseconds in which a file system may give two changes the same time."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a file, with an explanation."""

    problem: Problem
    path: Path
    detail: str


@dataclass(frozen=True, slots=True)
class Repeated:
    """Numbers of files made again, and of files whose jobs take long or have a finding."""

    files: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit."""

    products: int
    """Number of checked files."""
    findings: list[Finding]
    planned: int | None
    """Number of jobs that are also in the campaign's plan; None without a plan."""
    jobs: int
    downstream: list[str]
    """Intact products that were made from altered, missing or stale ones."""
    root_hash: str
    """SHA-256 over all records."""
    repeated: Repeated | None = None
    unread: int = 0
    """Number of files that an earlier check has read and nobody has touched since."""


class HashCache:
    """SHA-256 of files from earlier checks, computed again only for touched files.

    A file is untouched if its size, inode, mtime and ctime are the same. Programs cannot set the
    ctime, so it shows edits that keep size and mtime. Somebody who edits the file of hashes, or
    sets the clock, can deceive this check; with ``--full``, all files are read.
    """

    def __init__(self) -> None:
        """Load the hashes of earlier checks; none if their file is missing or damaged."""
        self._entries: dict[str, str] = {}
        """State and SHA-256 of files by path, with a space between."""
        with suppress(OSError, ValueError):
            entries = json.loads(HASH_FILE.read_bytes())
            if isinstance(entries, dict):
                self._entries = {path: str(entry) for path, entry in entries.items()}
        self.skipped = 0
        """Number of files that did not have to be read."""

    @staticmethod
    def _state(path: Path) -> tuple[str, int]:
        """Return a text that changes when a file is touched, and the time of that change in ns."""
        stat = path.stat()
        mtime, ctime = stat.st_mtime_ns, stat.st_ctime_ns
        return f"{stat.st_size} {stat.st_ino} {mtime} {ctime}", max(mtime, ctime)

    def find(self, path: Path) -> str | None:
        """Return the cached SHA-256 of an untouched file, else None."""
        state, _, sha256 = self._entries.get(str(path), "").rpartition(" ")
        with suppress(OSError):
            if state and state == self._state(path)[0]:
                self.skipped += 1
                return sha256
        return None

    def compute(self, path: Path) -> str:
        """Compute and store the SHA-256 of a file. Raises OSError when it cannot be read."""
        # The state is read first, so that a change during the hashing makes the entry invalid.
        state, changed = self._state(path)
        is_settled = time.time_ns() - changed > SETTLED
        sha256 = files.sha256_of(path)
        # A later change of a file that has just changed could leave its times as they are.
        if is_settled:
            self._entries[str(path)] = f"{state} {sha256}"
        return sha256

    def save(self) -> None:
        """Write all hashes for the next check, unless the directory is not writable."""
        with suppress(OSError):
            files.write_text(HASH_FILE, json.dumps(self._entries) + "\n")


def _hashes(entries: list[dict[str, Any]], hash_cache: HashCache | None) -> list[str | None]:
    """Return the SHA-256 of each file in ``entries`` of records; None if it cannot be read."""
    paths = [Path(entry["path"]) for entry in entries]
    hashes = [hash_cache.find(path) if hash_cache else None for path in paths]
    to_hash = [number for number, file_hash in enumerate(hashes) if file_hash is None]
    total = sum(entries[number]["bytes"] for number in to_hash)
    compute = hash_cache.compute if hash_cache else files.sha256_of

    def hash_of(number: int) -> str | None:
        with suppress(OSError):
            return compute(paths[number]) if paths[number].is_file() else None
        return None

    title, interval = f"reading {len(to_hash)} files", PROGRESS_INTERVAL
    bar = tqdm(None, title, total, unit="B", unit_scale=True, delay=interval, mininterval=interval)
    with ThreadPoolExecutor(READERS) as pool, bar:
        for number, file_hash in zip(to_hash, pool.map(hash_of, to_hash), strict=True):
            hashes[number] = file_hash
            bar.update(entries[number]["bytes"])
    return hashes


def _file_findings(jobs: Jobs, hash_cache: HashCache | None) -> Iterator[Finding]:
    """Yield files that differ from the records, and products made from such files."""
    records = jobs.by_output.values()
    products = [entry for record in records for entry in record["outputs"]]
    # Inputs that no job made, such as files of the catalogue; several jobs may read one of them.
    sources: dict[str, dict[str, Any]] = {}
    for record in records:
        for entry in record["inputs"]:
            key = jobs.key(entry["path"])
            if key not in jobs.makers:
                sources.setdefault(key, entry)
    hashes = _hashes([*products, *sources.values()], hash_cache)
    product_hashes, source_hashes = hashes[: len(products)], hashes[len(products) :]
    for entry, actual in zip(products, product_hashes, strict=True):
        path, expected = Path(entry["path"]), entry["sha256"]
        if actual is None:
            yield Finding("missing", path, "its record exists, the file does not")
        elif actual != expected:
            detail = f"SHA-256 is {actual[:16]}…, the record says {expected[:16]}…"
            yield Finding("altered", path, detail)

    # A product is stale if an input has another hash than when the product was made. The input's
    # hash now is that of the file, or for an input that a job made, that in the job's record.
    current = dict(zip(sources, source_hashes, strict=True))
    current |= {jobs.key(entry["path"]): entry["sha256"] for entry in products}
    for first_output, record in jobs.by_output.items():
        changed = []
        for entry in record["inputs"]:
            current_hash = current[jobs.key(entry["path"])]
            if current_hash is None:
                yield Finding("missing", Path(entry["path"]), "products were made from it")
            elif current_hash != entry["sha256"]:
                changed.append(f"{entry['path']} ({entry['sha256'][:16]}…)")
        if changed:
            # Reports have hundreds of inputs, so name only a few.
            detail = f"made from an earlier {few(changed, MOST_NAMED)}"
            yield Finding("stale", Path(first_output), detail)


def _edited_records(jobs: Jobs) -> Iterator[Finding]:
    """Yield edited records.

    A record contains its own hash, and the hashes of its inputs' records. So if an edit also
    corrects the record's own hash, the records of later jobs still have the hash before the edit.
    A record that is younger than such a job was not edited: its own job has run again.
    """
    hashes = {path: record_hash(record) for path, record in jobs.by_output.items()}
    faults: dict[str, str] = {}  # by the first output of the job with the edited record
    for first, record in jobs.by_output.items():
        if OWN_HASH not in record:
            fault = "the record has no hash of itself: an earlier version wrote it, or "
            faults.setdefault(first, f"{fault}it was edited; make its product again")
        elif record[OWN_HASH] != hashes[first]:
            fault = "the record was edited: its content has another hash than the one in it"
            faults.setdefault(first, fault)
        for product, expected in record.get("input_records", {}).items():
            maker = jobs.makers.get(jobs.key(product))
            if maker is None or maker["started"] > record["started"]:
                continue
            first_of_maker = maker["outputs"][0]["path"]
            if hashes[first_of_maker] != expected:
                fault = f"the record was edited since {first} was made from {product}"
                faults.setdefault(first_of_maker, fault)
    for first, fault in faults.items():
        yield Finding("edited", files.sidecar_path(Path(first)), fault)


def verify(jobs: Jobs, hash_cache: HashCache | None = None) -> list[Finding]:
    """Hash files of jobs again; return files that differ from records, and edited records."""
    return [*_file_findings(jobs, hash_cache), *_edited_records(jobs)]


def _differences(record: Record, fault: str | None) -> Iterator[Finding]:
    """Yield products of a repeated job that differ; all if it failed, with message ``fault``."""
    command = find_command(record["verb"])
    is_current = command is not None and (
        command.code == record["code"] and package_versions(command.packages) == record["packages"]
    )
    for path in (Path(entry["path"]) for entry in record["outputs"]):
        if fault is not None:
            yield Finding("altered", path, f"it cannot be made again: {fault}")
            continue
        # Other versions of code and packages may draw the same numbers differently.
        if path.suffix in PICTURES and not is_current:
            continue
        copy = files.target_of(path)  # in the scratch directory
        if not (copy.is_file() and path.is_file()):
            is_equal = False
        elif path.suffix == ".parquet":
            # Not compared by bytes, because tables contain their record with versions of packages.
            is_equal = same_table(path, copy)
        else:
            is_equal = files.sha256_of(path) == files.sha256_of(copy)
        if not is_equal:
            yield Finding("altered", path, "made again from its inputs, it has other content")


def make_again(
    jobs: Jobs, findings: list[Finding], run: Callable[[list[str]], object]
) -> tuple[Repeated, list[Finding]]:
    """Make products again from the command lines in records; return their number, and differences.

    Products are written below a scratch directory. Jobs are left out if one of their files has a
    finding, or if their command is not declared cheap: cheap ones only read and write tables, so
    that a forged record cannot do harm. ``run``: function that runs a command line in this process.
    """
    reported = {jobs.key(finding.path) for finding in findings}
    cheap_starts = [command.words for command in declared_commands().values() if command.cheap]
    # One command line may run several jobs; it is repeated once.
    records_by_arguments: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in jobs.by_output.values():
        arguments = tuple(map(str, record.get("arguments", ())))
        paths = {jobs.key(entry["path"]) for entry in (*record["inputs"], *record["outputs"])}
        is_cheap = any(arguments[: len(start)] == start for start in cheap_starts)
        if is_cheap and not paths & reported:
            records_by_arguments[arguments].append(record)

    differing: list[Finding] = []
    with (
        tempfile.TemporaryDirectory(prefix="blimpworks-check-") as scratch,
        Path(os.devnull).open("w") as nowhere,
    ):
        bar = tqdm(records_by_arguments.items(), "making again", unit="job", disable=None)
        for number, (arguments, records) in enumerate(bar):
            fault = None
            with files.writing_below(Path(scratch, str(number))):
                try:
                    with redirect_stdout(nowhere):
                        run([*arguments])
                except (UserError, OSError, KeyError, ValueError) as error:
                    fault = " ".join(str(error).split())[:200]
                for record in records:
                    differing += _differences(record, fault)
    repeated = [record for records in records_by_arguments.values() for record in records]
    made = sum(len(record["outputs"]) for record in repeated)
    total = sum(len(record["outputs"]) for record in jobs.by_output.values())
    return Repeated(made, total - made), differing


def audit(
    root: Path,
    plan: Mapping[str, Job] | None = None,
    run: Callable[[list[str]], object] | None = None,
    hash_cache: HashCache | None = None,
) -> Audit:
    """Compare all products below ``root`` and their inputs with the records of jobs.

    A file without a record is unaccounted for. A product is stale when an input or the code of its
    command has changed. It is also stale when its job in the ``plan`` (jobs by first output) has
    other parameters or inputs. Relative paths in records start from the current directory.

    ``run``: function that runs a command line of this package; with it, cheap products are made
    again. ``hash_cache``: hashes from earlier checks, used for untouched files. Raises UserError
    when there is nothing to check.
    """
    findings = []

    def unreadable(path: Path, error: UserError) -> None:
        findings.append(Finding("unreadable", path, str(error)))

    records_in_tree = records_below(root, unreadable)
    if not records_in_tree and not findings:
        suffix = files.RECORD_SUFFIX
        raise UserError(f"{root} holds no job records (*{suffix}); expected a results tree.")
    jobs = Jobs(records_in_tree.values(), unreadable=unreadable)
    records = jobs.by_output
    findings += verify(jobs, hash_cache)
    findings += [Finding("stale", Path(first), why) for first, why in stale_reasons(records, plan)]
    repeated = None
    if run is not None:
        repeated, differing = make_again(jobs, findings, run)
        findings += differing
    downstream = jobs.downstream(finding.path for finding in findings)
    # Settings have no record: their content is in the records of the jobs that read them.
    products = (path for path in files.expand([root]) if path.parent.name != SETTINGS_FOLDER)
    unlisted = [path for path in products if jobs.key(path) not in jobs.makers]
    findings += [Finding("unaccounted", path, "no job's record lists it") for path in unlisted]
    return Audit(
        products=len(jobs.makers),
        findings=list(dict.fromkeys(findings)),
        planned=None if plan is None else sum(os.path.normpath(path) in plan for path in records),
        jobs=len(records),
        downstream=downstream,
        root_hash=root_hash(records_in_tree.values()),
        repeated=repeated,
        unread=hash_cache.skipped if hash_cache else 0,
    )


def as_json(audit: Audit) -> str:
    """Return the audit as a JSON object."""
    return json.dumps(asdict(audit), indent=1, ensure_ascii=False, default=str)


def as_text(audit: Audit, root: Path, list_all: bool = False) -> str:
    """Return the audit as text; without ``list_all``, shorten lists of files with one problem."""
    paths_by_finding: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for finding in audit.findings:
        paths_by_finding[finding.problem, finding.detail].append(finding.path)
    lines = []
    for (problem, detail), paths in paths_by_finding.items():
        listed = paths if list_all else paths[:MOST_NAMED]
        lines += [f"{problem}: {path}: {detail}" for path in listed]
        if len(listed) < len(paths):
            lines.append(f"{problem}: … and {len(paths) - len(listed)} more for the same reason")
    if audit.downstream:
        lines.append(f"Intact products that were made from these files: {len(audit.downstream)}.")
    if audit.planned is not None:
        lines.append(
            f"{audit.planned} of {audit.jobs} jobs were compared with the campaign's present plan."
        )
    if audit.repeated is not None:
        lines.append(
            f"{audit.repeated.files} files were made again and compared; "
            f"{audit.repeated.left_out} were not, because they take long or have a finding above."
        )
    if audit.unread:
        lines.append(
            f"{audit.unread} files were not read, because they are untouched since an earlier "
            "check. --full reads all."
        )
    lines.append(f"Root hash of the records of {root}: {audit.root_hash}")
    counts = Counter(problem for problem, _ in {(f.problem, f.path) for f in audit.findings})
    summary = ", ".join(f"{n} {problem}" for problem, n in sorted(counts.items()))
    lines.append(
        f"{audit.products} products of {root} and upstream: {summary or 'all as recorded'}."
    )
    return "\n".join(lines)


NAMESPACE = "blimpworks"
"""Purpose of a signature, so that signatures for other purposes do not count."""


def _signed_files(results: Path) -> tuple[Path, Path]:
    """Return the paths of the root hash beside a results tree, and of its signature."""
    path = results.resolve().with_suffix(results.suffix + ".root")
    return path, path.with_name(f"{path.name}.sig")


def _ssh_keygen(arguments: Sequence[str | Path], text: bytes = b"") -> str:
    """Return the output of ``ssh-keygen -Y``. Raises UserError where it fails or is missing."""
    command = ["ssh-keygen", "-Y", *map(str, arguments)]
    try:
        result = subprocess.run(command, input=text, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"ssh-keygen could not be run ({error}); install OpenSSH's.") from error
    if result.returncode:
        reason = " ".join((result.stderr or result.stdout).decode(errors="replace").split())
        raise UserError(f"ssh-keygen -Y {arguments[0]}: {reason[:200]}.")
    return result.stdout.decode(errors="replace").strip()


def sign(results: Path, root_hash: str, key: Path) -> Path:
    """Sign a root hash with an SSH key; return the signature's path. Raises UserError on failure.

    The signature is made by ``ssh-keygen -Y`` of OpenSSH, like git's signatures with SSH keys.
    """
    path, signature = _signed_files(results)
    files.write_text(path, f"{root_hash}\n")
    signature.unlink(missing_ok=True)
    _ssh_keygen(["sign", "-f", key, "-n", NAMESPACE, path])
    return signature


def signer(results: Path, root_hash: str, allowed: Path) -> str:
    """Return the signer by OpenSSH's file of ``allowed`` signers. Raises UserError without one."""
    _, signature = _signed_files(results)
    for needed in (signature, allowed):
        if not needed.is_file():
            raise UserError(f"{needed} does not exist; expected it to check a signature.")
    names = _ssh_keygen(["find-principals", "-s", signature, "-f", allowed]).splitlines()
    options: list[str | Path] = ["-f", allowed, "-I", names[0], "-n", NAMESPACE, "-s", signature]
    _ssh_keygen(["verify", *options], f"{root_hash}\n".encode())
    return names[0]
