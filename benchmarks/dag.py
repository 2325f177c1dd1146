"""Measure how long Snakemake takes to plan the papers' campaign, and one with twice the models.

Usage: python benchmarks/dag.py [--rounds 3] [--campaign config/config.yaml] [--once]

The table has a row per campaign. Columns are the time of reading the workflow (`import_s`), of a
dry run (`dry_run_s`), and of a run when all products exist (`no_op_s`). For comparison,
`plain_dry_run_s` is a dry run of one plain rule with as many jobs and inputs. The benchmark works
in a scratch copy of the checkout, with placeholders as products. Times are wall seconds, the least
of the rounds. `import_s` is the time beyond that of an empty Snakefile. `memory_mb` is the peak of
the largest process so far.
"""

import argparse
import csv
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

REPOSITORY = Path(__file__).resolve().parents[1]
PLAIN = """\
rule all:
    input: [f"made/{{n}}" for n in range({jobs})]
rule make:
    input: [f"given/{{n}}" for n in range({inputs})]
    output: "made/{{n}}"
    shell: "touch {{output}}"
"""
"""Workflow of one rule, which takes the least time for a number of jobs and inputs."""
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "2"]


def copy_checkout(target: Path) -> None:
    """Copy the tracked files of the repository into ``target``."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, path, follow_symlinks=False)


def run(folder: Path, *arguments: str) -> tuple[float, float, str]:
    """Run Snakemake; return wall seconds, peak memory [MB] of all children so far, and output."""
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "COLUMNS": "1000"}
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*SNAKEMAKE, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    output = process.communicate()[0]
    seconds = time.perf_counter() - begun
    if process.returncode:
        raise SystemExit(output[-3000:])
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, output


def best(folder: Path, rounds: int, *arguments: str) -> tuple[float, float]:
    """Return the least wall seconds and the largest memory [MB] of several rounds."""
    runs = [run(folder, *arguments)[:2] for _ in range(rounds)]
    return min(seconds for seconds, _ in runs), max(memory for _, memory in runs)


def jobs_of(output: str) -> int:
    """Return the number of jobs in the statistics that Snakemake prints."""
    total = re.search(r"^total\s+(\d+)$", output, re.MULTILINE)
    return int(total[1]) if total else 0


def inputs_of(output: str) -> int:
    """Return the number of inputs that other jobs make, from the reasons in a dry run's output."""
    named = re.findall(r"Input files updated by another job: ([^;\n]+)", output)
    return sum(names.count(", ") + 1 for names in named)


def write_plain(folder: Path, jobs: int, inputs: int) -> Path:
    """Write a workflow of one rule with ``jobs`` jobs of ``inputs`` files each; return its path."""
    path = folder / "plain" / "Snakefile"
    (path.parent / "given").mkdir(parents=True)
    path.write_text(PLAIN.format(jobs=jobs, inputs=inputs))
    for number in range(inputs):
        (path.parent / "given" / str(number)).touch()
    return path


def multiply_models(folder: Path, times: int) -> None:
    """Copy each model of the catalogue, so that it is there ``times`` times."""
    path = folder / "config" / "models.tsv"
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))
    copies = [row | {"name": f"{row['name']}-copy{n}"} for n in range(2, times + 1) for row in rows]
    with path.open("w", encoding="utf-8", newline="") as handle:
        names = list(rows[0])
        handle.write("\t".join(names) + "\n")
        handle.writelines("\t".join(row[n] for n in names) + "\n" for row in [*rows, *copies])


def finish(folder: Path, *options: str) -> None:
    """Write a placeholder for each product, all of one age, without Snakemake's metadata."""
    moment = time.time()
    table = folder / "table.parquet"
    pq.write_table(pa.table({"item_id": ["a"]}), table)
    output = run(folder, *options, "--summary", "all")[2]
    lines = [line.split("\t") for line in output.splitlines() if line.count("\t") >= 5]
    for name in (fields[0] for fields in lines[1:]):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(table, path) if path.suffix == ".parquet" else path.touch()
        os.utime(path, (moment, moment))


def measure(folder: Path, rounds: int, options: list[str]) -> dict[str, float]:
    """Return the columns of a campaign's row: jobs, inputs, wall seconds and memory [MB]."""
    bare = folder / "bare.smk"
    bare.write_text("rule all:\n    input: []\n")
    empty, _ = best(folder, rounds, "-s", str(bare), "--list-rules")
    listed, _ = best(folder, rounds, *options, "--list-rules")
    output = run(folder, *options, "-n", "all")[2]
    jobs, inputs = jobs_of(output), inputs_of(output)
    dry, memory = best(folder, rounds, *options, "-n", "-q", "all", "--", "all")
    plain = write_plain(folder, jobs, round(inputs / jobs))
    least, _ = best(plain.parent, rounds, "-n", "-q", "all")
    finish(folder, *options)
    done, _ = best(folder, rounds, *options, "-q", "all", "--", "all")
    figures = {"jobs": jobs, "inputs": inputs, "import_s": listed - empty, "dry_run_s": dry}
    return figures | {"plain_dry_run_s": least, "no_op_s": done, "memory_mb": memory}


def main() -> None:
    """Print a row for the campaign, one for twice its models, and the ratio of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--campaign", default="config/config.yaml")
    parser.add_argument("--once", action="store_true", help="without twice the models")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measured = {}
        for label in ("campaign", *([] if arguments.once else ["twice the models"])):
            folder = Path(name) / label.replace(" ", "-")
            copy_checkout(folder)
            if label != "campaign":
                multiply_models(folder, 2)
            measured[label] = measure(
                folder, arguments.rounds, ["--configfile", arguments.campaign]
            )
    columns = list(measured["campaign"])
    print(f"| | {' | '.join(columns)} |\n|---{'|--:' * len(columns)}|")
    for label, row in measured.items():
        print(f"| {label} | {' | '.join(f'{row[c]:.4g}' for c in columns)} |")
    if not arguments.once:
        once, twice = measured.values()
        print(f"| ratio | {' | '.join(f'{twice[c] / once[c]:.2f}' for c in columns)} |")


if __name__ == "__main__":
    main()
