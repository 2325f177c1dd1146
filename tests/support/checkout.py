"""Make copies of the repository in which tests run whole campaigns."""

import multiprocessing
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import yaml

from support.paths import REPOSITORY

CAMPAIGN = "config/test.yaml"
DEMO = "config/demo/config.yaml"


def places(name: str) -> dict[str, str]:
    return {kind: f"{kind}/{name}" for kind in ("results", "resources", "logs", "benchmarks")}


def copy_repository(target: Path) -> None:
    """Copy the files that git would commit, and commit them in a new repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.check_output(command, cwd=REPOSITORY, text=True)
    for name in filter(None, listed.split("\0")):
        source, copy = REPOSITORY / name, target / name
        if source.is_symlink() or source.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "copy"]):
        subprocess.run(["git", *arguments], cwd=target, check=True)


def output_of(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["support.loaded"])


def _run_module(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], outputs: Sequence[Path]
) -> None:
    """Run a module in this process as ``python -m`` does; the first word is its name."""
    for number, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    sys.path[:0] = [str(folder), *environment["PYTHONPATH"].split(os.pathsep)]
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [*command]
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


class Checkout:
    """A copy of the repository, where commands fork from a process that has loaded Snakemake."""

    def __init__(self, path: Path):
        self.path = path

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(self.path / "src"), **environment}
        env["PATH"] = os.pathsep.join([str(REPOSITORY / ".tools/bin"), env["PATH"]])
        with TemporaryDirectory() as folder:
            outputs = [Path(folder, name) for name in ("out", "err")]
            process = FORKED.Process(target=_run_module, args=(command, self.path, env, outputs))
            process.start()
            process.join()
            said = [path.read_text(encoding="utf-8") for path in outputs]
        return subprocess.CompletedProcess(command, process.exitcode, *said)

    def snakemake(self, *arguments: str, campaign: str = CAMPAIGN):
        chosen = ["--configfile", campaign] if campaign else []
        where = [] if "--profile" in arguments else ["--cores", "2"]
        return self.run("snakemake", *where, *arguments, *chosen)

    def make(self, *targets: str, campaign: str = CAMPAIGN):
        done = self.snakemake(*targets, campaign=campaign)
        assert done.returncode == 0, output_of(done)
        return done

    def blimpworks(self, *words: str, **environment: str):
        """Run a command of ``blimpworks`` and check that it succeeds."""
        done = self.run("blimpworks", *words, **environment)
        assert done.returncode == 0, output_of(done)
        return done

    def cells(self, exhibit: str) -> pd.DataFrame:
        """Return cells of the demo's exhibit, such as "clams/table1", by row and column."""
        path = self.path / f"results/demo/exhibits/{exhibit}.cells.parquet"
        return pd.read_parquet(path).set_index(["row", "column"])

    def planned(self, *arguments: str, campaign: str = CAMPAIGN) -> set[str]:
        """Return names of the rules that a dry run would run."""
        said = output_of(self.make("-n", *arguments, campaign=campaign))
        if "Nothing to be done" in said:
            return set()
        _, table = said.split("Job stats:\n", 1)
        rows = (line.split() for line in table.split("\n\n")[0].splitlines()[2:])
        return {rule for rule, _ in rows} - {"total"}

    def change(self, name: str = CAMPAIGN, *, without: str = "", **settings) -> None:
        """Write campaign ``name``: the campaign for tests with other settings."""
        campaign = yaml.safe_load((self.path / CAMPAIGN).read_text()) | settings
        campaign.pop(without, None)
        (self.path / name).write_text(yaml.safe_dump(campaign))

    def pin(self, table: str, place: str, text: str, **facts: str) -> None:
        """Put a file into the demo's mirror, and its row into the demo's ``table`` of pins."""
        path = self.path / "config/demo/data" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        digest, size = sha256(path.read_bytes()).hexdigest(), str(path.stat().st_size)
        row = {"version": "1", "licence": "CC0-1.0", "mirror": place, "bytes": size}
        row |= {"sha256": digest} | facts
        with (self.path / f"config/demo/{table}.tsv").open("r+", encoding="utf-8") as handle:
            columns = handle.readline().rstrip("\n").split("\t")
            handle.seek(0, os.SEEK_END)
            cells = (row.get(column, "") for column in columns)
            handle.write("\t".join(cells) + "\n")

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.path / name
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))


def small_campaign(checkout: Path) -> None:
    """Write the demo campaign with a shorter training and without declared benchmarks.

    Models are as large as the demo's: printed results are drawn with sizes and labels of models.
    """
    campaign = yaml.safe_load((checkout / DEMO).read_text())
    recipe = campaign["training"]["recipes"]["transformer-small"]
    recipe.update(max_steps=30)
    campaign["benchmarks"] = ["multiblimp"]
    (checkout / CAMPAIGN).write_text(yaml.safe_dump(campaign))


def copy_bytecode(target: Path) -> None:
    """Copy bytecode and digests, which take seconds; those of edited sources are ignored."""
    for cache in (REPOSITORY / "src").rglob("__pycache__"):
        shutil.copytree(cache, target / cache.relative_to(REPOSITORY), dirs_exist_ok=True)


def fresh(path: Path, like: Checkout | None = None) -> Checkout:
    """Return a checkout in which nothing was built, with the campaign file of ``like``."""
    copy_repository(path)
    copy_bytecode(path)
    small_campaign(path)
    if like:
        shutil.copy(like.path / CAMPAIGN, path / CAMPAIGN)
    return Checkout(path)


def take_demo(checkout: Path) -> None:
    """Copy the products of ``make demo`` in this repository; Snakemake updates stale ones."""
    for name in (".snakemake/metadata", "resources/demo", "results/demo", "logs/demo"):
        if (REPOSITORY / name).exists():
            shutil.copytree(REPOSITORY / name, checkout / name, dirs_exist_ok=True)


def copy_of(checkout: Checkout, path: Path) -> Checkout:
    """Return a checkout with all that was built in another, except a crate."""
    shutil.copytree(checkout.path, path, symlinks=True, dirs_exist_ok=True)
    # A crate that a test made holds the campaign's file, so to edit that file makes the crate
    # stale.
    crate = path / "results/demo/crate"
    shutil.rmtree(crate, ignore_errors=True)
    crate.with_name("crate.prov.json").unlink(missing_ok=True)
    return Checkout(path)
