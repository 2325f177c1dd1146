import json
import os
import shutil
import subprocess
import sys

import pytest

from blimpworks.commands.declare import declared_commands
from blimpworks.records import digest as kept
from blimpworks.records.digest import code_digest, reachable
from support.paths import PACKAGE

# A small package inside the package: code that `entry` reaches, and code that it doesn't.
MODULES = {
    "sample/__init__.py": "from blimpworks.sample.tools import reexported\n",
    "sample/main.py": '''"""Entry."""
from blimpworks import sample
from blimpworks.errors import UserError, reading
from blimpworks.sample import tools
from blimpworks.sample import reexported
from blimpworks.sample.tools import CONSTANT, Base
from math import ceil as outside
from math import floor as unneeded

def entry(x):
    """Do it."""
    from blimpworks.sample.late import late
    return helper(x) + late() + tools.by_module() + sample.reexported() + CONSTANT

def helper(x: int) -> int:
    with reading(x, "a number", "Give one."):
        value = outside(Child().run(x))
    if value < LOW:
        raise UserError(f"{value} is low")
    return value

LOW, HIGH = 0, 1

class Child(Base):
    """A class."""

    field: int = 1
    """Its field."""

def unreachable():
    return unneeded(1)
''',
    "sample/tools.py": """CONSTANT = 1

class Base:
    def run(self, x):
        return deep(x)

def deep(x):
    return x

def by_module():
    return encoded(TABLE) + len(REGISTRY)

def encoded(name):
    import json as encoder
    return encoder.dumps(2)

TABLE = "tags.tsv"
ABSENT = "absent.tsv"

def reexported():
    return 3

def unreachable():
    return 4

REGISTRY = {}
REGISTRY.update(a=1)
""",
    "sample/late.py": "def late():\n    return 5\n",
    "sample/alone.py": "def alone():\n    return 6\n",
    "sample/tags.tsv": "SG\tNumber\n",
    "sample/stranger.tsv": "PL\tNumber\n",
}


@pytest.fixture
def source(tmp_path):
    """Make a package with the small one and the modules that compute digests."""
    root = tmp_path / "src" / "blimpworks"
    (root / "sample").mkdir(parents=True)
    (root / "records").mkdir()
    names = ("__init__.py", "errors.py", "files.py", "records/__init__.py")
    for name in (*names, *("records/digest.py", "records/normal_form.py")):
        shutil.copy(PACKAGE / name, root / name)
    return root


def write_modules(root, *edits):
    """Write the small package, with (module, old, new) edits."""
    for name, text in MODULES.items():
        (root / name).write_text(text)
    for name, old, new in edits:
        path = root / "sample" / (name if "." in name else f"{name}.py")
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))


ENTRY = "blimpworks.sample.main:entry"


@pytest.fixture
def digest_after(source, package_at):
    """Return a function that gives the digest of the small package's entry after edits."""

    def digest(*edits):
        write_modules(source, *edits)
        package_at(source)
        return code_digest(ENTRY)

    return digest


REGISTRY = "REGISTRY = {}\nREGISTRY.update(a=1)\n"
HARMLESS = {
    "comment": [("main", "-> int:\n", "-> int:\n    # a comment\n")],
    "docstring": [("main", '"""Do it."""', '"""Do it otherwise."""')],
    "attribute": [("main", '    """Its field."""\n', "")],
    "format": [("main", "return helper(x) +", "return (\n        helper( x ) )+")],
    "unused": [("main", "return unneeded(1)", "return 0")],
    "unused-there": [("tools", "return 4", "return 0")],
    "elsewhere": [("alone", "return 6", "return 0")],
    "unused-import": [("main", "import floor as", "import trunc as")],
    "other-file": [("stranger.tsv", "PL", "DU")],
    "types": [("main", "x: int) -> int", "x: float) -> float")],
    "local-variable": [("main", "value", "outcome")],
    "message": [("main", "is low", "is too low")],
    "remedy": [("main", "Give one.", "Give another.")],
    "renamed-function": [("main", "helper", "aid")],
    "renamed-class": [("main", "Child", "Descendant")],
    "renamed-elsewhere": [("tools", "deep", "deepest")],
    "renamed-constant": [("tools", "CONSTANT", "NUMBER"), ("main", "CONSTANT", "NUMBER")],
    "renamed-import": [
        ("main", "import ceil as outside", "import ceil as rounded"),
        ("main", "outside(", "rounded("),
    ],
    "relative-imports": [
        ("main", "from blimpworks.sample import tools", "from . import tools"),
        ("main", "from blimpworks.sample.tools import CONSTANT", "from .tools import CONSTANT"),
        ("main", "from blimpworks.sample.late", "from ..sample.late"),
        ("__init__", "from blimpworks.sample.tools", "from .tools"),
    ],
    "all-names-of-a-module": [
        ("main", "from blimpworks.sample.tools import CONSTANT, Base", "from .tools import *"),
        ("__init__", "import reexported", "import *"),
    ],
    "all-names-of-each-other": [
        ("tools", REGISTRY, f"from .alone import *\n{REGISTRY}"),
        ("alone", "def alone", "from .tools import *\n\ndef alone"),
    ],
    "imported-by-full-name": [
        ("main", "from blimpworks.sample import tools", "import blimpworks.sample.tools"),
        ("main", "tools.by_module()", "blimpworks.sample.tools.by_module()"),
    ],
    "moved": [
        ("tools", "\ndef deep(x):\n    return x\n", "from blimpworks.sample.alone import deep\n"),
        ("alone", "def alone", "def deep(x):\n    return x\n\ndef alone"),
    ],
    "moved-with-a-statement": [
        ("tools", REGISTRY, "from blimpworks.sample.late import REGISTRY\n"),
        ("late", "def late", f"{REGISTRY}def late"),
    ],
}


@pytest.mark.parametrize("edits", HARMLESS.values(), ids=HARMLESS)
def test_an_edit_that_changes_no_number_keeps_the_digest(digest_after, edits):
    assert digest_after(*edits) == digest_after()


HARMFUL = {
    "entry": ("main", "return helper(x)", "return 1 + helper(x)"),
    "other-of-two-constants": ("main", "value < LOW", "value < HIGH"),
    "order-of-two-mentions": (
        "main",
        "tools.by_module() + sample.reexported()",
        "sample.reexported() + tools.by_module()",
    ),
    "helper": ("main", "Child().run(x)", "Child().run(-x)"),
    "field": ("main", "field: int = 1", "field: int = 2"),
    "base-class-method": ("tools", "return x", "return x + 1"),
    "constant": ("tools", "CONSTANT = 1", "CONSTANT = 2"),
    "module-attribute": ("tools", "dumps(2)", "dumps(20)"),
    "outside-name": ("main", "import ceil as", "import floor as"),
    "outside-module": ("main", "from math import ceil", "from numpy import ceil"),
    "late-outside-module": ("tools", "    import json as encoder", "    import pickle as encoder"),
    "data-file": ("tags.tsv", "SG", "PL"),
    "reexport": ("tools", "return 3", "return 30"),
    "statement-of-a-reached-module": ("tools", "update(a=1)", "update(a=2)"),
    "late-import": ("late", "return 5", "return 50"),
}


@pytest.mark.parametrize("edit", HARMFUL.values(), ids=HARMFUL)
def test_an_edit_that_can_change_a_number_changes_the_digest(digest_after, edit):
    assert digest_after(edit) != digest_after()


LEXICON = "blimpworks.papers.multiblimp.items.lexicon"


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "blimpworks"
    return shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "entry"),
    [
        ("papers/multiblimp/items/unimorph_tags.tsv", f"{LEXICON}:build_lexicon"),
        ("report/assets/report.css", "blimpworks.report.pages:build_report"),
        ("interop/crate/README.template.md", "blimpworks.interop.crate.export:write_crate"),
        ("schemas/items.tsv", "blimpworks.scoring.run:score_items"),
    ],
)
def test_a_file_beside_a_module_is_part_of_the_code_that_reads_it(copy, package_at, file, entry):
    package_at(copy)
    before, other = code_digest(entry), code_digest("blimpworks.files:sha256_of")
    (copy / file).write_text((copy / file).read_text("utf-8") + "\n", "utf-8")
    package_at(copy)
    assert code_digest(entry) != before
    assert code_digest("blimpworks.files:sha256_of") == other


def test_an_entry_point_that_does_not_exist_is_refused():
    with pytest.raises(KeyError, match="defines no 'nothing'"):
        code_digest("blimpworks.files:nothing")
    with pytest.raises(ModuleNotFoundError, match=r"blimpworks\.nowhere"):
        code_digest("blimpworks.nowhere:nothing")


def test_records_messages_settings_and_the_command_line_are_no_part_of_the_code():
    reached = reachable("blimpworks.papers.multiblimp.items.pairs:build_pairs")
    modules = {module for module, _ in reached}
    assert "blimpworks.papers.multiblimp.items.inflection" in modules
    rooms = ("records", "errors", "cli", "commands", "campaign.settings")
    outside = tuple(f"blimpworks.{name}" for name in rooms)
    assert not [m for m in modules if m.startswith(outside)]


@pytest.mark.parametrize("name", declared_commands())
def test_every_command_has_code(name):
    assert {len(command.code) for command in declared_commands()[name].commands.values()} <= {16}


def test_a_changed_formula_changes_only_what_uses_it(copy, package_at):
    file = copy / "papers/clams/exhibits/measures.py"
    commands = declared_commands()["build_exhibit"].commands
    exhibits = {n: c.entries[0] for n, c in commands.items() if n.startswith("build_exhibit clams")}
    formula = ("blimpworks.papers.clams.exhibits.measures", "LEAD")
    users = {name for name, entry in exhibits.items() if formula in reachable(entry)}
    package_at(copy)
    before = {name: code_digest(entry) for name, entry in exhibits.items()}
    changed = file.read_text("utf-8").replace("100 * leads.min()", "10 * leads.min()")
    file.write_text(changed, "utf-8")
    package_at(copy)
    differing = {name for name, entry in exhibits.items() if code_digest(entry) != before[name]}
    assert differing == users == {"build_exhibit clams/text"}


def test_a_digest_is_kept_for_the_next_process_until_any_file_of_the_package_changes(source):
    def digest(*edits):
        write_modules(source, *edits)
        code = "from blimpworks.records.digest import code_digest as d; "
        command = [sys.executable, "-c", f"{code}print(d({ENTRY!r}))"]
        environment = os.environ | {"PYTHONPATH": str(source.parent)}
        return subprocess.check_output(command, env=environment, text=True).split()

    first = digest()
    [file] = (source / "__pycache__").glob("digests-*.json")
    known = json.loads(file.read_text())
    known["digests"][ENTRY][0] = "0" * 16
    file.write_text(json.dumps(known))
    assert digest() == ["0" * 16]
    assert digest(("stranger.tsv", "PL", "DU")) == first
    assert json.loads(file.read_text())["package"] != known["package"]
    file.write_text("{")
    assert digest() == first


def test_the_link_with_which_an_editor_locks_a_file_counts_for_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "package_folders", lambda: {"some": tmp_path})
    (tmp_path / "a.py").write_text("A = 1\n")
    before = kept.package_digest.__wrapped__()
    (tmp_path / ".#a.py").symlink_to("somebody@host.1")
    assert kept.package_digest.__wrapped__() == before
    (tmp_path / "a.py").write_text("A = 2\n")
    assert kept.package_digest.__wrapped__() != before


def test_processes_that_end_one_after_the_other_keep_what_each_has_learnt(tmp_path, monkeypatch):
    file = tmp_path / "digests.json"
    monkeypatch.setattr(kept, "CACHE", file)
    kept._read_cache.cache_clear()
    assert "first" not in kept._read_cache()
    package = kept.package_digest()
    file.write_text(json.dumps({"package": package, "digests": {"first": ["1", []]}}))
    monkeypatch.setattr(kept, "_computed", {"second": ["2", []]})
    kept._write_cache()
    kept._read_cache.cache_clear()
    assert {*json.loads(file.read_text())["digests"]} == {"first", "second"}
