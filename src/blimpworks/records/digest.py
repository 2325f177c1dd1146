"""Content digests of the code that a rule depends on.

Snakemake reruns a rule when a param changes, but it does not look inside imported modules. Each
rule therefore has a param with the digest of all functions, classes and constants that its entry
points reach by name, in the packages' modules. Comments, docstrings, types, layout, error messages
and names change no digest (``normal_form``).

The digest follows written names, ``module.name`` and imports, also inside functions. Code that
dispatches by string must therefore pass its targets as entry points.
"""

import ast
import atexit
import hashlib
import json
import os
import re
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from blimpworks.files import write_text
from blimpworks.records.normal_form import (
    MENTION,
    NormalForm,
    Symbol,
    normal_form,
    strip_docstrings,
)
from blimpworks.records.packages import PACKAGE, ROOT, package_folders

FILE = ROOT / "__pycache__" / f"digests-{sys.implementation.cache_tag}.json"
_new: dict[str, list[Any]] = {}


@cache
def package_digest() -> str:
    """Return the SHA-256 over names and bytes of the packages' files, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for name, root in package_folders().items():
        # Plain strings: every job does this at its start, and paths as objects take half of it.
        for folder, below, files in os.walk(root):
            below[:] = sorted({*below} - {"__pycache__"})
            for file in sorted(files):
                path = os.path.join(folder, file)  # noqa: PTH118
                if not os.path.isfile(path):  # noqa: PTH113
                    continue  # such as the link to nothing by which Emacs locks an edited file
                with open(path, "rb") as handle:  # noqa: PTH123
                    content = handle.read()
                place = f"{name} {folder.removeprefix(str(root))} {file} {len(content)}\n"
                digest.update(place.encode() + content)
    return digest.hexdigest()


@cache
def _kept() -> dict[str, list[Any]]:
    try:
        content = json.loads(FILE.read_text(encoding="utf-8"))
        kept: dict[str, list[Any]] = (
            content["digests"] if content["package"] == package_digest() else {}
        )
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return kept


def _write() -> None:
    if package_digest.__wrapped__() != package_digest():
        return  # edited meanwhile: what was computed may be of either state
    # As it is by now: other processes have added theirs.
    content = {"package": package_digest(), "digests": _kept.__wrapped__() | _new}
    try:
        write_text(FILE, json.dumps(content))
    except OSError:
        return  # somebody else's installation: it only takes longer


# Records, messages, the command line and requests to a cluster decide no number;
# settings and rows of engines do, but their values are params of the rules that read them.
EXCLUDED = re.compile(
    rf"{PACKAGE}\.(records|audit|errors|strict|cli|commands|campaign\.(settings|engines)|cluster)(\..*)?"
    r"|.*\.(settings|\w*commands)"
)

# A string that names a file beside the module stands for that file's content.
DATA_FILE = re.compile(r"[\w./-]+\.(tsv|csv|json|yaml|js|css|jinja|lark|md)")
EVERYTHING = "*"
"""Stands for all definitions of a module, in place of a name."""


def module_path(module: str) -> Path | None:
    """Return the source file of a ``module`` that digests follow, None for another module."""
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
    """A module's definitions by name, and what its imported names stand for."""

    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)
    """Statements that define nothing but run on import, without ``if`` blocks."""
    imports: dict[str, Symbol | str] = field(default_factory=dict)
    """Imported names: definitions of followed packages, full names of others."""


def _defined_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


@cache
def _module(name: str) -> _Module:
    path = module_path(name)
    if path is None:
        raise ModuleNotFoundError(f"{name} is not a module of {PACKAGE} or of a paper's package")
    tree = strip_docstrings(ast.parse(path.read_text(encoding="utf-8")))
    module = _Module()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            for alias in node.names:
                if isinstance(node, ast.Import):
                    local, full = alias.asname or alias.name.partition(".")[0], alias.name
                    symbol = (full, EVERYTHING) if alias.asname and module_path(full) else None
                else:
                    origin = node.module or ""
                    local, full = alias.asname or alias.name, f"{origin}.{alias.name}"
                    symbol = (full, EVERYTHING) if module_path(full) else (origin, alias.name)
                    symbol = symbol if module_path(symbol[0]) else None
                module.imports[local] = symbol or full
    for node in tree.body:
        names = _defined_names(node)
        for defined in names:
            module.definitions.setdefault(defined, []).append(node)
        if not names and not isinstance(node, ast.ImportFrom | ast.Import | ast.If):
            module.effects.append(node)
    return module


def definitions(source: str) -> dict[str, str]:
    """Return definitions by name, without layout; statements run on import are under ""."""
    texts: dict[str, str] = {}
    for node in strip_docstrings(ast.parse(source)).body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            for name in _defined_names(node) or [""]:
                texts[name] = texts.get(name, "") + ast.dump(node) + "\n"
    return texts


def _resolve(symbol: Symbol) -> Symbol | str | None:
    """Return the definition behind a mention, re-exports followed; its name if it is excluded."""
    module, name = symbol
    if EXCLUDED.fullmatch(module):
        return name
    if name == EVERYTHING or name in _module(module).definitions:
        return symbol
    imported = _module(module).imports.get(name)
    if isinstance(imported, tuple):
        return _resolve(imported)
    inner = f"{module}.{name}"
    return (inner, EVERYTHING) if module_path(inner) else imported


def _meaning(module: str, node: ast.expr) -> Symbol | str | None:
    """Return the definition that a name or ``module.name`` in a module means."""
    known = _module(module)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        target = known.imports.get(node.value.id)
        if isinstance(target, tuple) and target[1] == EVERYTHING:
            return _resolve((target[0], node.attr))
        return None
    if not isinstance(node, ast.Name):
        return None
    if node.id in known.definitions:
        return module, node.id
    imported = known.imports.get(node.id)
    return _resolve(imported) if isinstance(imported, tuple) else imported


@cache
def _direct(symbol: Symbol) -> NormalForm:
    """Return the normal form of a definition, with the data files that it reads."""
    module, name = symbol
    if name == EVERYTHING:
        names = _module(module).definitions
        return NormalForm(EVERYTHING + MENTION * len(names), tuple((module, n) for n in names))
    known = _module(module)
    statements = list(known.definitions.get(name, []))
    for node in known.effects:
        # A statement run on import that mentions no definition may concern all.
        parts = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        if name in (parts & known.definitions.keys() or known.definitions):
            statements.append(node)
    form = normal_form(
        statements,
        name,
        lambda node: _meaning(module, node),
        lambda meaning: meaning in ("UserError", "reading"),
    )
    path, data = module_path(module), []
    for file in sorted({*form.strings}):
        if path and DATA_FILE.fullmatch(file) and (path.parent / file).is_file():
            content = (path.parent / file).read_bytes()
            data.append(f"{file} {hashlib.sha256(content).hexdigest()}")
    return NormalForm(form.text + "\n" + "\n".join(data), form.mentions)


def _numbered(*entries: str) -> dict[Symbol, int]:
    """Return all definitions that the entry points reach, numbered in the order of mention."""
    waiting: list[Symbol] = []
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
            waiting += reversed(_direct(symbol).mentions)
    return numbers


def reachable(*entries: str) -> list[Symbol]:
    """Return all definitions that entry points reach. Raises KeyError for an unknown one."""
    return sorted(symbol for symbol in _numbered(*entries) if symbol[1] != EVERYTHING)


def reached_modules(*entries: str) -> list[str]:
    """Return the names of the modules that the entry points reach, sorted."""
    modules: list[str] = _code(entries)[1]
    return modules


def code_digest(*entries: str) -> str:
    """Return 16 hexadecimal digits that change with the code that the entry points reach."""
    return str(_code(entries)[0])


def _code(entries: tuple[str, ...]) -> list[Any]:
    """Return the digest, and the modules reached; kept until this process ends, for others too."""
    key = " ".join(entries)
    known = _new.get(key) or _kept().get(key)
    if known is None:
        numbers = _numbered(*entries)
        digest = hashlib.sha256()
        for symbol, number in numbers.items():
            form = _direct(symbol)
            mentioned = [numbers[each] for each in form.mentions]
            digest.update(f"{number}{mentioned}{form.text}\n".encode())
        if not _new:
            atexit.register(_write)
        known = _new[key] = [digest.hexdigest()[:16], sorted({module for module, _ in numbers})]
    return known
