"""Measure Snakemake and SLURM on a campaign of thousands of jobs that only sleep.

Usage: python benchmarks/scale.py [--campaign config/config.yaml] [--models 1] [--minutes 5]
           [--sleep 20] [--jobs 100] [--here] [--plan]
The workflow, its profile and Snakemake are the real ones. Jobs start a replacement for `python`,
which sleeps (on SLURM's nodes) and makes the job's outputs. The catalogue's models are copied
(`--models 12`: twelve of each). If the run has not ended after `--minutes`, it is killed and
started again. Without SLURM's programs, or with `--here`, jobs run without SLURM. `--plan` stops
after the dry run.
"""

import argparse
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "tests"), str(REPOSITORY / "benchmarks")]
STANDIN = "standin"
"""Folder of the replacement for Python, in the scratch checkout."""
TICKS = os.sysconf("SC_CLK_TCK")
SUBMITTED = re.compile(r"^Job \S+ has been submitted with SLURM jobid", re.MULTILINE)
FINISHED = re.compile(r"^Finished jobid: (\d+)", re.MULTILINE)
SCRIPT = """\
#!/bin/sh
# The targets identify a job on a node; without SLURM, the log does.
keys=
while [ $# -gt 0 ]; do
    if [ "$1" = --target-jobs ]; then
        shift
        while [ $# -gt 0 ] && [ "${{1#--}}" = "$1" ]; do keys="$keys $1"; shift; done
        break
    fi
    shift
done
log=$(readlink "/proc/$$/fd/1")
for key in ${{keys:-"${{log#"$PWD/"}}"}}; do
    if [ "$keys" ]; then sleep {seconds}; fi
    while read -r path; do
        mkdir -p "${{path%/*}}"
        case $path in
            *.parquet) cp {folder}/table.parquet "$path" ;;
            *) : > "$path" ;;
        esac
    done < "{folder}/outputs/$(printf %s "$key" | tr / @)"
done
"""
"""Replacement for Python. SLURM's nodes run it instead of Snakemake, whose start is timed alone."""
SITE = {
    "cpu": {"partition": "cpu", "cores": 32, "memory_gb": 128, "max_hours": 24},
    "gpus": [
        {
            "label": "A100",
            "name": "a100",
            "partition": "gpu",
            "memory_gb": 80,
            "per_node": 4,
            "cores_per_gpu": 4,
            "host_memory_gb": 256,
            "max_hours": 48,
            "teraflops": 312,
        }
    ],
}


def drive(arguments: list[str]) -> None:
    """Run Snakemake with the replacement for the Python of its jobs."""
    from snakemake.cli import main
    from snakemake.scheduling.job_scheduler import JobScheduler

    schedule = JobScheduler.schedule
    standin = Path.cwd() / STANDIN

    def noted(scheduler: JobScheduler) -> bool:
        """Note the jobs when the plan is ready, then continue."""
        planned = time.time()
        note_jobs(scheduler.workflow.dag, standin, planned)
        return schedule(scheduler)

    JobScheduler.schedule = noted
    sys.executable = str(standin / "python")
    main(arguments)


def note_jobs(dag, standin: Path, planned: float) -> None:
    """Write the outputs that the replacement makes for each job, and the numbers of jobs."""
    from snakemake_interface_executor_plugins.utils import encode_target_jobs_cli_args

    products: dict[str, list[str]] = {}
    remote = 0
    for job in dag.needrun_jobs():
        remote += not job.is_local
        products[str(dag.jobid(job))] = [*map(str, job.output)]
        # For a missing file, Snakemake waits as long as the profile's latency-wait.
        made = [*job.output, job.benchmark] if job.benchmark else job.output
        outputs = "".join(f"{path}\n" for path in made)
        keys = [*map(str, job.log), *encode_target_jobs_cli_args(job.get_target_spec())]
        for key in keys:
            file = standin / "outputs" / key.replace("/", "@")
            if not file.exists():
                file.write_text(outputs)
    noted = {"planned": planned, "jobs": len(products), "remote": remote, "products": products}
    (standin / "plan.json").write_text(json.dumps(noted))


def prepare(folder: Path, arguments: argparse.Namespace) -> None:
    """Make a scratch checkout with copied models, a site, and the replacement for Python."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import yaml
    from dag import copy_checkout, multiply_models

    copy_checkout(folder)
    multiply_models(folder, arguments.models)
    (folder / "config/site.yaml").write_text(yaml.safe_dump(SITE))
    standin = folder / STANDIN
    (standin / "outputs").mkdir(parents=True)
    pq.write_table(pa.table({"item_id": ["a"]}), standin / "table.parquet")
    programs = [standin / "python", folder / ".vllm/bin/python"]
    programs += [folder / ".tools/bin" / name for name in ("lmplz", "build_binary")]
    for program in programs:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(SCRIPT.format(folder=standin, seconds=arguments.sleep))
        program.chmod(0o755)
    # The workflow looks for vLLM before it submits anything.
    (folder / ".vllm/lib/python3/site-packages/vllm").mkdir(parents=True)


class Run:
    """A run of Snakemake in the scratch checkout."""

    def __init__(self, folder: Path, environment: dict[str, str], *arguments: str) -> None:
        """Start Snakemake with arguments."""
        self.folder, self.begun = folder, time.time()
        self.output = folder / "snakemake.txt"
        env = environment | {"PYTHONPATH": str(folder / "src"), "COLUMNS": "1000"}
        (folder / STANDIN / "plan.json").unlink(missing_ok=True)
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "drive", *arguments],
                cwd=folder, env=env, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip

    def text(self) -> str:
        """Return the output so far."""
        return self.output.read_text(errors="replace")

    def plan(self) -> dict:
        """Return the numbers of jobs and the time of the plan; empty before the plan is ready."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.folder / STANDIN / "plan.json").read_text())
        return {}

    def wait(self, seconds: float, until=lambda: False) -> bool:
        """Wait for the end, a condition or the time limit; return whether the run has ended."""
        limit = time.time() + seconds
        while time.time() < limit and not until():
            if self.process.poll() is not None:
                return True
            time.sleep(0.5)
        return self.process.poll() is not None

    def figures(self) -> dict[str, float]:
        """Return numbers of jobs, seconds until the plan, processor seconds and memory [MB]."""
        output, plan = self.text(), self.plan()
        patterns = {"finished": FINISHED, "submitted": SUBMITTED}
        figures = {name: len(pattern.findall(output)) for name, pattern in patterns.items()}
        figures |= {name: plan[name] for name in ("jobs", "remote") if name in plan}
        if plan:
            figures["plan_s"] = plan["planned"] - self.begun
        return figures | usage(self.process.pid)

    def kill(self) -> None:
        """Kill the run, as a power cut would; jobs in SLURM continue."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def usage(pid: int) -> dict[str, float]:
    """Return processor seconds and largest memory [MB] of a process; empty if it has ended."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text()
        peak = re.search(r"VmHWM:\s+(\d+)", status)
        seconds = (int(fields[11]) + int(fields[12])) / TICKS
        return {"cpu_s": seconds, "memory_mb": int(peak[1]) / 1024 if peak else 0.0}
    return {}


def dry_run(folder: Path, options: list[str]) -> dict[str, float]:
    """Return jobs, wall and processor seconds, and the largest memory [MB] of runs so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = Run(folder, dict(os.environ), "--cores", "2", "-n", "-q", "all", *options)
    if run.process.wait():
        raise SystemExit(run.text()[-3000:])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    plan = run.plan()
    return {
        "jobs": plan["jobs"],
        "of SLURM": plan["remote"],
        "wall_s": time.time() - run.begun,
        "cpu_s": cpu,
        "memory_mb": used.ru_maxrss / 1024,
    }


def retrieve(folder: Path) -> None:
    """Make the files that the workflow would retrieve, an hour older than the products."""
    old = time.time() - 3600
    for file in (folder / STANDIN / "outputs").glob("retrieve:*"):
        for name in file.read_text().splitlines():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            os.utime(path, (old, old))


def products(run: Run) -> dict[Path, int]:
    """Return the time [ns] of each product of the jobs that Snakemake reports as finished."""
    of_jobs = run.plan().get("products", {})
    finished = FINISHED.findall(run.text())
    files = [run.folder / name for job in finished for name in of_jobs.get(job, [])]
    return {path: path.stat().st_mtime_ns for path in files}


def start_of_a_job(folder: Path, options: list[str]) -> dict[str, float]:
    """Return the seconds that Snakemake takes on a node to read the workflow before a job."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = Run(folder, dict(os.environ), "--list-rules", *options)
    run.process.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": time.time() - run.begun, "cpu_s": cpu}


class Load:
    """Load of a cluster's controller between two times."""

    def __init__(self, cluster) -> None:
        """Count from now on."""
        self.cluster, self.begun = cluster, time.time()
        self.pid = cluster.pid("slurmctld")
        self.before = usage(self.pid)["cpu_s"]
        cluster.command("sdiag", "--reset")

    def figures(self) -> dict[str, float]:
        """Return processor seconds, calls, and the largest counts by type of call."""
        text = self.cluster.command("sdiag")
        calls = dict(re.findall(r"^\s+(REQUEST_\w+)\s+\( *\d+\) count:(\d+)", text, re.MULTILINE))
        named = {name: int(count) for name, count in calls.items()}
        wall = time.time() - self.begun
        cpu = usage(self.pid)["cpu_s"] - self.before
        most = sorted(named.items(), key=lambda call: -call[1])[:6]
        figures = {"slurmctld cpu_s": cpu, "share of a core": cpu / wall}
        return figures | {"calls a minute": 60 * sum(named.values()) / wall} | dict(most)


def submission_rates(cluster, first: int) -> dict[str, float]:
    """Return the jobs per minute that reached the controller: the first ones, and all."""
    text = cluster.command("squeue", "-h", "--states=all", "-o", "%V")
    times = sorted(datetime.fromisoformat(line).timestamp() for line in text.split())

    def rate(count: int) -> float:
        seconds = max(times[count - 1] - times[0], 1.0)
        return 60 * (count - 1) / seconds

    if len(times) < 2:
        return {}
    return {f"first {first}": rate(min(first, len(times))), "all": rate(len(times))}


def measure(folder: Path, options: list[str], minutes: float, jobs: int, cluster) -> None:
    """Run the campaign, kill it if it has not ended in time, and start it again."""
    environment = cluster.environment() if cluster else dict(os.environ)
    where = ["--profile", "slurm", "--jobs", str(jobs)] if cluster else ["--cores", "4"]
    load = Load(cluster) if cluster else None
    run = Run(folder, environment, *where, *options)
    run.wait(1200, until=lambda: bool(run.plan()))
    ended = run.wait(60 * minutes)
    first = run.figures()
    queue = len(cluster.command("squeue", "-h").splitlines()) if cluster else 0
    if ended and run.process.returncode:
        raise SystemExit(run.text()[-3000:])
    run.kill()
    before = products(run)
    show("First run" if ended else f"First run, killed with {queue} jobs in SLURM", first)
    if load:
        show("Submissions, jobs a minute", submission_rates(cluster, jobs))
        show("Controller", load.figures())
    if not ended:
        restart(folder, environment, [*where, *options], minutes, before)


def restart(
    folder: Path,
    environment: dict[str, str],
    arguments: list[str],
    minutes: float,
    before: dict[Path, int],
) -> None:
    """Start the campaign again after it was killed; print products that are lost or made twice."""
    Run(folder, environment, *arguments, "--unlock").process.wait()
    run = Run(folder, environment, *arguments)
    moving = lambda: bool(FINISHED.search(run.text()) or SUBMITTED.search(run.text()))  # noqa: E731
    ended = run.wait(1200, until=moving)
    seconds = time.time() - run.begun
    ended = ended or run.wait(60 * minutes / 4)
    figures = {"first job after_s": seconds} | run.figures()
    cancelled = re.findall(r"left SLURM jobs behind; they are cancelled: ([\d, ]+)", run.text())
    figures["cancelled"] = len(cancelled[0].split(",")) if cancelled else 0
    present = [path for path in before if path.exists()]
    figures["products before"] = len(before)
    figures["lost"] = len(before) - len(present)
    figures["made again"] = sum(path.stat().st_mtime_ns != before[path] for path in present)
    run.kill()
    show(f"Started again{'' if ended else ', stopped'}", figures)


def show(title: str, figures: dict[str, float]) -> None:
    """Print a title and its figures on a line."""
    numbers = {k: f"{v:.4g}" if isinstance(v, float) else str(v) for k, v in figures.items()}
    print(f"{title}: {', '.join(f'{k} {v}' for k, v in numbers.items())}", flush=True)


def main() -> None:
    """Measure a campaign and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaign", default="config/config.yaml")
    parser.add_argument("--models", type=int, default=1, help="number of each model")
    parser.add_argument(
        "--minutes", type=float, default=5.0, help="minutes after which the run is killed"
    )
    parser.add_argument("--sleep", type=float, default=20.0, help="seconds of a job on a node")
    parser.add_argument("--jobs", type=int, default=100, help="jobs in SLURM at a time")
    parser.add_argument("--here", action="store_true", help="without SLURM")
    parser.add_argument("--plan", action="store_true", help="end after the dry run")
    arguments = parser.parse_args()
    from support.slurm_kit import Cluster, unusable

    with tempfile.TemporaryDirectory(prefix="scale-") as name:
        folder = Path(name).resolve()
        prepare(folder, arguments)
        options = ["--configfile", arguments.campaign]
        show("Load of the machine", dict(zip(("1 min", "5 min"), os.getloadavg(), strict=False)))
        start_of_a_job(folder, options)  # this keeps digests of the code for later starts
        show("Reading the workflow", start_of_a_job(folder, options))
        show("Dry run", dry_run(folder, options))
        retrieve(folder)
        if arguments.plan:
            return
        reason = "--here" if arguments.here else unusable(accounting=False)
        if reason:
            print(f"Without SLURM: {reason}")
        with contextlib.nullcontext() if reason else Cluster(accounting=False) as cluster:
            measure(folder, options, arguments.minutes, arguments.jobs, cluster)


if __name__ == "__main__":
    if sys.argv[1:2] == ["drive"]:
        drive(sys.argv[2:])
    else:
        main()
