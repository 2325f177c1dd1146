"""Test which modules are not loaded until they are needed."""

import re
import subprocess
import sys
from hashlib import sha256

import pytest

from blimpworks.commands.declare import declared_commands
from support.paths import REPOSITORY

HEAVY = {"conllu", "matplotlib", "scipy", "seaborn", "torch"}
TABULAR = {"numpy", "pandas", "pyarrow"}
IMPORTED = re.compile(r"^from (blimpworks[\w.]*) import", re.MULTILINE)
HELP = "import runpy; sys.argv = ['blimpworks', '--help']\n" + (
    "try:\n    runpy.run_module('blimpworks', run_name='__main__')\nexcept SystemExit:\n    pass"
)

TABLES = "from blimpworks import cli\nfrom blimpworks.exhibits import render\n"
TABLES += "from blimpworks.papers.multiblimp.exhibits import evaluation"


def run(script):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def rules():
    """Return imports of the workflow's files."""
    files = [REPOSITORY / "workflow/Snakefile", *(REPOSITORY / "workflow/rules").glob("*.smk")]
    modules = {name for path in files for name in IMPORTED.findall(path.read_text())}
    assert "blimpworks.campaign.layout" in modules
    return "\n".join(f"import {name}" for name in sorted(modules))


@pytest.mark.parametrize("script", [HELP, rules(), TABLES], ids=["help", "rules", "tables"])
def test_help_rules_and_tables_load_neither_plots_nor_readers_nor_networks(script):
    ends = "import atexit, gc, sys\natexit.register(lambda: print(gc.get_freeze_count()))\n"
    done = run(f"{ends}{script}\nprint(*sys.modules, file=sys.stderr)")
    loaded = {*done.stderr.split()}
    assert {"blimpworks", "typer"} & loaded
    assert not loaded & (HEAVY if script == TABLES else {*HEAVY, *TABULAR})
    if script == HELP:
        # The process ends without a final collection, which takes a quarter of a small job's time.
        assert int(done.stdout.split()[-1]) > 10_000


@pytest.mark.slow
def test_repeatable_results_do_not_load_the_compiler_of_torch():
    done = run("""import sys, torch
from blimpworks.models.fitting import repeatable
with repeatable(0):
    print(torch.are_deterministic_algorithms_enabled())
print(torch.are_deterministic_algorithms_enabled(), "torch._inductor" in sys.modules)""")
    assert done.stdout.split() == ["True", "False", "False"]


def test_a_file_of_a_mirror_is_retrieved_without_settings_and_network(tmp_path):
    """A campaign retrieves hundreds of files, each by its own command."""
    (tmp_path / "a.txt").write_text("Kot spi.\n", encoding="utf-8")
    digest = sha256((tmp_path / "a.txt").read_bytes()).hexdigest()
    arguments = ["retrieve", "--name=a", "--url=https://a.example/a", f"--sha256={digest}"]
    arguments += ["--bytes=", "--mirror-path=a.txt", f"--output={tmp_path}/out/a.txt"]
    script = (
        f"import sys\nsys.argv = ['blimpworks', *{arguments}, '--mirror={tmp_path}']\n"
        "from blimpworks.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules)"
    )
    done = run(script)
    assert (tmp_path / "out/a.txt").exists()
    unused = {"requests", "numpy", "pyarrow", "blimpworks.campaign.settings.campaign"}
    assert not {*done.stdout.split()} & unused


def modules_for(*words):
    """Return modules that are loaded once the command of some words is known."""
    script = (
        "import sys\nfrom blimpworks.cli import command_line\n"
        "from blimpworks.commands.declare import called_commands\n"
        f"[command] = called_commands({words!r})\n"
        f"assert command.words == {words!r}\ncommand_line([command])\nprint(*sys.modules)"
    )
    return {*run(script).stdout.split()}


def test_a_command_of_a_paper_loads_no_other_paper_and_no_campaign():
    loaded = modules_for("build-pairs")
    assert "blimpworks.papers.multiblimp.commands" in loaded
    assert not [name for name in loaded if name.startswith("blimpworks.papers.clams")]
    assert not loaded & {"blimpworks.campaign.settings.campaign", "numpy", "yaml"}
    assert "blimpworks.cli" in modules_for("export", "multiblimp"), "commands of groups are called"


@pytest.mark.slow
def test_commands_that_leave_pandas_out_do_without_it():
    modules = {
        entry.partition(":")[0]
        for declared in declared_commands().values()
        if not declared.pandas
        for command in declared.commands.values()
        for entry in command.entries
    }
    hidden = "from blimpworks.cli import _NoPandas\nsys.meta_path.insert(0, _NoPandas())"
    run(f"import sys\n{hidden}\nimport {', '.join(sorted(modules))}")
