import gc
import os
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from support.paths import REPOSITORY

# One thread: on two cores, two workers whose threads wait for each other take ten times as long.
# Set before torch is loaded; tests of several threads set their own number.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The slurm executor asks `scontrol` for the cluster's settings wherever Snakemake starts. With
# SLURM installed and no cluster that takes ten seconds; tests of a cluster set a file of their own.
os.environ.setdefault("SLURM_CONF", str(REPOSITORY / "tests/data/no_cluster.conf"))
# Child processes of tests find the package in a checkout where it is not installed.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(REPOSITORY / "src"), os.environ.get("PYTHONPATH")])
)

MARKERS = {"new_checkout": "workflow", "cluster": "workflow", "mirror": "mirror"}

if find_spec("hypothesis"):  # not in vLLM's environment
    from hypothesis import settings

    # Other programs may use the machine too, so an example has no time limit.
    settings.register_profile("patient", deadline=None)
    settings.load_profile("patient")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items):
    """Mark tests by the fixtures that they use, directly or through other fixtures.

    Sort modules that run whole campaigns first: a long test at the end would keep one worker busy
    while the others are idle.
    """
    for item in items:
        for fixture, marker in MARKERS.items():
            if fixture in item.fixturenames:
                item.add_marker(marker)
    long = {item.path for item in items if item.get_closest_marker("workflow")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(autouse=True, scope="session")
def no_flushing():
    """Do not flush files to the disk: ten thousand of them take seconds, and tests keep no file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


def pytest_sessionstart(session):
    """Collect no garbage during imports, a fifth of their time, and seldom afterwards."""
    gc.disable()
    gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish(session):
    """Exempt imported objects from later collections, of which some tests make hundreds."""
    gc.enable()
    _freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Exempt the caches and imports that a module's tests leave from garbage collection."""
    yield
    if nextitem is not None and nextitem.path != item.path:
        _freeze()


def _freeze():
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def mirror():
    """Return the directory with copies of upstream data: $BLIMPWORKS_MIRROR or ../shared/mirror."""
    path = Path(os.environ.get("BLIMPWORKS_MIRROR", REPOSITORY.parent / "shared" / "mirror"))
    if not path.is_dir():
        pytest.skip(f"no mirror of upstream data at {path} (set BLIMPWORKS_MIRROR)")
    return path


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Return a function that makes a small model by name once; tests do not edit its files."""

    from support import tiny  # not in every environment that runs tests

    root = tmp_path_factory.mktemp("trained")
    text = tiny.write_corpus(root / "text.txt")
    return cache(lambda name: tiny.MAKERS[name](text, root / name / "checkpoint.json"))


@pytest.fixture
def at_root(monkeypatch):
    """Run the test in the repository's root, to which paths of the catalogue are relative."""
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture
def package_at(monkeypatch):
    """Return a function that makes digests cover the package in a folder as it is at the call."""
    from blimpworks.records import digest

    def forget():
        for cached in (digest._module, digest._form_of):
            cached.cache_clear()

    def read(folder):
        monkeypatch.setattr(digest, "package_folders", lambda: {"blimpworks": folder})
        monkeypatch.setattr(digest, "_read_cache", dict)
        monkeypatch.setattr(digest, "_computed", {})
        forget()

    yield read
    forget()


@pytest.fixture
def treebank(tmp_path):
    """Return a function that makes a language with a treebank in the short notation."""

    from support.treebank_kit import Language  # not in every environment that runs tests

    def start(*sentences, lang="xyz", phenomena=("sv#",), **decisions):
        options = MultiblimpOptions(phenomena=phenomena, decisions=decisions)
        return Language(tmp_path, lang, options).tokens(*sentences)

    return start


@pytest.fixture
def pairs_of(treebank):
    """Return a function that builds pairs and rejections of a treebank and a UniMorph table."""

    from support.treebank_kit import UNIMORPH

    def build(*sentences, unimorph=UNIMORPH, **settings):
        return treebank(*sentences, **settings).pairs_with(unimorph)

    return build


@pytest.fixture(scope="session")
def new_checkout(tmp_path_factory):
    """Return a function that makes a checkout in a named directory, where nothing is built.

    Tests that use it, or a checkout that another fixture makes with it, are marked "workflow".
    """
    from support.checkout import fresh

    return lambda name: fresh(tmp_path_factory.mktemp(name))


@pytest.fixture(scope="session")
def bare(new_checkout):
    """Return a checkout in which tests may build files, but not damage them."""
    return new_checkout("bare")


@pytest.fixture(scope="session")
def built(new_checkout):
    """Return the demo's finished campaign by ``config/test.yaml``; tests that edit it use
    ``scratch``.

    It takes over what ``make demo`` made in this repository, if anything.
    """
    from support.checkout import CAMPAIGN, DEMO, output_of, take_demo

    checkout = new_checkout("built")
    shutil.copy(checkout.path / DEMO, checkout.path / CAMPAIGN)
    take_demo(checkout.path)
    done = checkout.make("all", "report")
    checkout.last_output = output_of(done)
    return checkout


@pytest.fixture(scope="session")
def evidence(built):
    """Return the finished campaign with its crate."""

    built.make("crate")
    return built


@pytest.fixture(scope="session")
def cluster():
    """Start a real SLURM; tests that use it belong to one xdist group."""
    from support.slurm_kit import Cluster, unusable

    if reason := unusable():
        pytest.skip(reason)
    with Cluster() as running:
        yield running


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Add SLURM's logs to the report of a failed test that used the cluster."""
    report = yield
    running = item.funcargs.get("cluster")
    if report.failed and running is not None:
        report.sections.append(("SLURM", running.logs()))
    return report


@pytest.fixture
def scratch(built, tmp_path):
    """Return a copy of the finished campaign that a test may damage."""
    from support.checkout import copy_of

    return copy_of(built, tmp_path / "copy")


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of 64 KiB and return its directory."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Return a function that writes shell scripts which run in place of SLURM's commands."""
    from support.journal_kit import stand_in

    folder = tmp_path / "slurm"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return lambda name, script: stand_in(folder, name, script)
