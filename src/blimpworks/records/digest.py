"""Compute digests of the code that a command runs: ``code_digest("module:name")``.

Snakemake reruns a rule when a param changes, but it does not look inside imported modules. Each
rule therefore has a param with the digest of all definitions (functions, classes and constants)
that its entry points reach by name. Comments, docstrings, types, layout, error messages and names
of variables change no digest (``normal_form``).

The digest follows names, ``module.name`` and imports, also inside functions. A function that is
found by a string at run time must therefore be an entry point too.
"""

import ast
import atexit
import hashlib
import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from blimpworks.files import write_text
from blimpworks.records.normal_form import (
    MENTION,
    NormalForm,
    Symbol,
    dotted_name,
    normal_form,
    strip_docstrings,
)

PACKAGE = "blimpworks"
GROUP = f"{PACKAGE}.papers"
"""Group of entry points by which other distributions (installed packages) register papers."""
ENGINES = f"{PACKAGE}.engines"
"""Group of entry points by which other distributions register engines."""
ROOT = Path(__file__).resolve().parent.parent


@cache
def entries_of(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group that other distributions register, sorted by name."""
    return tuple(sorted(entry_points(group=group), key=lambda entry: entry.name))


@cache
def package_folders() -> dict[str, Path]:
    """Return the folders of the packages that digests follow: this one, and registered ones."""
    folders = {PACKAGE: ROOT}
    for entry in (*entries_of(GROUP), *entries_of(ENGINES)):
        package = entry.module.partition(".")[0]
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            folders.setdefault(package, Path(next(iter(spec.submodule_search_locations))))
    return folders


CACHE = ROOT / "__pycache__" / f"digests-{sys.implementation.cache_tag}.json"
"""File with the digests that earlier processes with the same code have computed:
{"package": digest of all code, "digests": {entry points: [digest, reached modules]}}."""
_computed: dict[str, list[Any]] = {}
"""Digests that this process has computed: {entry points: [digest, reached modules]}."""


@cache
def package_digest() -> str:
    """Return the SHA-256 over names and bytes of the packages' files, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for name, root in package_folders().items():
        # Every job does this at its start; ``Path`` objects would double the time.
        for folder, below, files in os.walk(root):
            below[:] = sorted({*below} - {"__pycache__"})
            for file in sorted(files):
                path = os.path.join(folder, file)  # noqa: PTH118
                if not os.path.isfile(path):  # noqa: PTH113
                    continue  # such as the broken link with which Emacs locks an edited file
                with open(path, "rb") as handle:  # noqa: PTH123
                    content = handle.read()
                heading = f"{name} {folder.removeprefix(str(root))} {file} {len(content)}\n"
                digest.update(heading.encode() + content)
    return digest.hexdigest()


@cache
def _read_cache() -> dict[str, list[Any]]:
    try:
        content = json.loads(CACHE.read_text(encoding="utf-8"))
        digests: dict[str, list[Any]] = content["digests"]
        return digests if content["package"] == package_digest() else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write_cache() -> None:
    # ``__wrapped__`` calls a function without its cache. If the code was edited since the start of
    # this process, the digests may be of either version.
    if package_digest.__wrapped__() != package_digest():
        return
    # Read the file again, because other processes may have written it meanwhile.
    content = {"package": package_digest(), "digests": _read_cache.__wrapped__() | _computed}
    with suppress(OSError):  # without permission, each process computes its digests
        write_text(CACHE, json.dumps(content))


# These modules are not followed. Records, messages, the command line and requests to a cluster
# decide no number. Settings and rows of engines do, but they are params of the rules.
EXCLUDED = re.compile(
    rf"{PACKAGE}\.(records|audit|errors|strict|cli|commands|campaign\.(settings|engines)|cluster)(\..*)?"
    r"|.*\.(settings|\w*commands)"
)

# Data files beside a module belong to the definitions that contain the file's name as a string.
DATA_FILE = re.compile(r"[\w./-]+\.(tsv|csv|json|yaml|js|css|jinja|lark|md)")
EVERYTHING = "*"
"""Stands for all definitions of a module, in place of a name."""


def module_path(module: str) -> Path | None:
    """Return the source file of a module; None for a module that digests do not follow."""
    package, *inside = module.split(".")
    folder = package_folders().get(package)
    if folder is None:
        return None
    base = folder.joinpath(*inside)
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@dataclass
class _Module:
    """A module's definitions by name, and the definitions behind its imported names."""

    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)
    """Statements that run on import and define nothing, as ``NAMES |= …``; no ``if`` blocks, which
    are for type checkers."""
    imports: dict[str, Symbol | str] = field(default_factory=dict)
    """Definition by imported name: after ``from package import tools``, {"tools": ("package.tools",
    "*")}. For a package that digests do not follow, its full name: {"np": "numpy"}."""
    stars: list[str] = field(default_factory=list)
    """Modules of which all names are imported (``from tools import *``)."""


def _defined_names(node: ast.stmt) -> list[str]:
    """Return ["LONGEST"] for ``LONGEST = 1``, and [] for a statement that defines nothing."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _add_names(module: _Module, node: ast.ImportFrom, packages: list[str]) -> None:
    """Add the names of ``from a.tools import b`` to the imports of a module in ``packages``."""
    # One dot is the innermost package, and each further dot leaves one: "from .. import x".
    base = packages[: len(packages) + 1 - node.level] if node.level else []
    origin = ".".join([*base, *filter(None, [node.module])])
    for alias in node.names:
        local, full = alias.asname or alias.name, f"{origin}.{alias.name}"
        if alias.name == "*":
            module.stars += [origin] if module_path(origin) else []
        elif module_path(full):
            module.imports[local] = (full, EVERYTHING)
        else:
            module.imports[local] = (origin, alias.name) if module_path(origin) else full


@cache
def _module(name: str) -> _Module:
    path = module_path(name)
    if path is None:
        raise ModuleNotFoundError(f"{name} is not a module of {PACKAGE} or of a paper's package")
    tree = strip_docstrings(ast.parse(path.read_text(encoding="utf-8")))
    module = _Module()
    # Packages from which relative imports start: ["a", "b"] for module a.b.c, and for package a.b.
    packages = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if module_path(alias.name):
                    module.imports[alias.asname or alias.name] = (alias.name, EVERYTHING)
                else:
                    module.imports[alias.asname or alias.name.partition(".")[0]] = alias.name
        elif isinstance(node, ast.ImportFrom):
            _add_names(module, node, packages)
    for node in tree.body:
        names = _defined_names(node)
        for defined in names:
            module.definitions.setdefault(defined, []).append(node)
        if not names and not isinstance(node, ast.ImportFrom | ast.Import | ast.If):
            module.effects.append(node)
    return module


def definitions(source: str) -> dict[str, str]:
    """Return {name: syntax} of a source's definitions; other statements have the name ""."""
    texts: dict[str, str] = {}
    for node in strip_docstrings(ast.parse(source)).body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            for name in _defined_names(node) or [""]:
                texts[name] = texts.get(name, "") + ast.dump(node) + "\n"
    return texts


def _imported(module: str, name: str, searched: tuple[str, ...] = ()) -> Symbol | str | None:
    """Return the definition that a module imports by a name; None if it imports no such name.

    For an import from a package that digests do not follow, return the full name. ``searched``:
    modules to skip, because two modules may import all names of each other.
    """
    parsed = _module(module)
    if name in parsed.imports:
        return parsed.imports[name]
    searched = (*searched, module)
    for star in reversed(parsed.stars):
        if star in searched:
            continue
        if name in _module(star).definitions or _imported(star, name, searched):
            return star, name
    return None


def _resolve(symbol: Symbol) -> Symbol | str | None:
    """Return the definition behind a name, through all imports; the name if it is not followed."""
    module, name = symbol
    if EXCLUDED.fullmatch(module):
        return name
    if name == EVERYTHING or name in _module(module).definitions:
        return symbol
    imported = _imported(module, name)
    if isinstance(imported, tuple):
        return _resolve(imported)
    inner = f"{module}.{name}"
    return (inner, EVERYTHING) if module_path(inner) else imported


def _definition_of(module: str, node: ast.expr) -> Symbol | str | None:
    """Return the definition that a name, or ``module.name``, refers to in the code of a module."""
    parsed = _module(module)
    if isinstance(node, ast.Attribute):
        target = parsed.imports.get(dotted_name(node.value))
        if isinstance(target, tuple) and target[1] == EVERYTHING:
            return _resolve((target[0], node.attr))
        return None
    if not isinstance(node, ast.Name):
        return None
    if node.id in parsed.definitions:
        return module, node.id
    imported = _imported(module, node.id)
    return _resolve(imported) if isinstance(imported, tuple) else imported


@cache
def _form_of(symbol: Symbol) -> NormalForm:
    """Return the normal form of a definition, with the data files that it reads."""
    module, name = symbol
    parsed = _module(module)
    if name == EVERYTHING:  # the module mentions all of its definitions
        names = parsed.definitions
        return NormalForm(EVERYTHING + MENTION * len(names), tuple((module, n) for n in names))
    statements = list(parsed.definitions.get(name, []))
    for statement in parsed.effects:
        names_used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        used_definitions = names_used & parsed.definitions.keys()
        # A statement that uses no definition of the module may affect each definition.
        if name in used_definitions or not used_definitions:
            statements.append(statement)
    form = normal_form(
        statements,
        name,
        resolve=lambda node: _definition_of(module, node),
        is_message=lambda meaning: meaning in ("UserError", "reading"),
    )
    path, data = module_path(module), []
    for file in sorted({*form.strings}):
        if path and DATA_FILE.fullmatch(file) and (path.parent / file).is_file():
            content = (path.parent / file).read_bytes()
            data.append(f"{file} {hashlib.sha256(content).hexdigest()}")
    return NormalForm(form.text + "\n" + "\n".join(data), form.mentions)


def _number_reachable(*entries: str) -> dict[Symbol, int]:
    """Return {definition: number} for all that the entry points reach, depth first, from 0."""
    waiting: list[Symbol] = []  # ``pop`` takes the last one, so lists are added in reverse
    for entry in reversed(entries):
        module, _, name = entry.partition(":")
        if name not in _module(module).definitions:
            raise KeyError(f"{entry}: {module} defines no {name!r}")
        waiting.append((module, name))
    numbers: dict[Symbol, int] = {}
    while waiting:
        symbol = waiting.pop()
        if symbol not in numbers:
            numbers[symbol] = len(numbers)
            waiting += reversed(_form_of(symbol).mentions)
    return numbers


def reachable(*entries: str) -> list[Symbol]:
    """Return all definitions that entry points reach. Raises KeyError for an unknown name."""
    return sorted(symbol for symbol in _number_reachable(*entries) if symbol[1] != EVERYTHING)


def reached_modules(*entries: str) -> list[str]:
    """Return the names of the modules that the entry points reach, sorted."""
    modules: list[str] = _digest_and_modules(entries)[1]
    return modules


def code_digest(*entries: str) -> str:
    """Return 16 hexadecimal digits that change with the code that the entry points reach."""
    return str(_digest_and_modules(entries)[0])


def _digest_and_modules(entries: tuple[str, ...]) -> list[Any]:
    """Return [digest, names of reached modules]; later processes read them from ``CACHE``."""
    key = " ".join(entries)
    code = _computed.get(key) or _read_cache().get(key)
    if code is None:
        numbers = _number_reachable(*entries)
        digest = hashlib.sha256()
        for symbol, number in numbers.items():
            form = _form_of(symbol)
            mentioned = [numbers[mention] for mention in form.mentions]
            digest.update(f"{number}{mentioned}{form.text}\n".encode())
        if not _computed:
            atexit.register(_write_cache)
        modules = sorted({module for module, _ in numbers})
        code = _computed[key] = [digest.hexdigest()[:16], modules]
    return code


EQUAL: dict[str, str] = {
    "a9bdf54fd3fbe8bb": "301aa942822323ee",  # kenlm ngram
    "aa2c4b8d858b30dc": "0e2ba6cd296f855a",  # lstm lstm
    "ba487f9d54561458": "e8532865d0f0cd72",  # transformers causal
    "034d88e09fdc1d30": "937def9329af31bc",  # transformers encoder-decoder
    "3ab60233198f3f2f": "99c66cf510640024",  # transformers masked
    "13f0f3f2ff3560ac": "cf22ff34dc257724",  # vllm causal
    "d12fad2c5c503ad7": "1657f03a30de3586",  # transformers, answers
    "e47adad1a183cdec": "26cd7f834c988002",  # vllm, answers
}
"""Digest of an earlier version of an engine's code, keyed by the digest of the present version.
Both versions give the same numbers, so scores and answers of the earlier version stay valid. A row
is added after a comparison (docs/engines.md, "What stays valid")."""


def number_digest(*entries: str) -> str:
    """Return the digest of the code that entry points reach, or of an earlier equal version."""
    digest = code_digest(*entries)
    return EQUAL.get(digest, digest)
