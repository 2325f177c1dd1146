"""Content digests of the code a rule depends on.

Snakemake reruns a rule when one of its params changes, but it never looks inside imported
modules. Each rule therefore carries, as a param, the digest of every definition its entry
point can reach: functions, classes and constants, followed by name through the package's
modules. An edit reruns exactly the dependants; comments, docstrings, formatting, time
stamps and code that the rule never calls change nothing.

What is followed is what is written: names, ``module.name`` and imports, also inside
functions. Dispatch by string must therefore pass its targets as entry points itself.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from blimpworks.provenance.known import recall, remember

PACKAGE = "blimpworks"
ROOT = Path(__file__).resolve().parent.parent
# Records, messages, the command line and what a cluster is asked for decide no number;
# settings do, but their values are params of the rules that read them.
EXCLUDED = tuple(
    f"{PACKAGE}.{name}" for name in ("provenance", "errors", "cli", "config", "cluster")
)

# A string that names a file beside the module stands for that file's content.
DATA_FILE = re.compile(r"[\w./-]+\.(tsv|csv|json|yaml|js|css|jinja|md)")

Symbol = tuple[str, str]
"""A module and the name of a definition in it; the name "" stands for its other statements."""


def module_path(module: str) -> Path | None:
    """Source file of a dotted ``module`` of this package, or None if it is no module of it."""
    if module != PACKAGE and not module.startswith(f"{PACKAGE}."):
        return None
    base = ROOT.joinpath(*module.split(".")[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _excluded(module: str) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in EXCLUDED)


@dataclass
class _Module:
    """Definitions of one module by name, and what its imported names stand for."""

    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, Symbol] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    """Local names of what is imported from other packages, and what they stand for."""


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _strip_docstrings(tree: ast.Module) -> ast.Module:
    """Remove docstrings (of attributes too) in place: like comments, they decide no number."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [child for child in body if not _is_text(child)]  # type: ignore[attr-defined]
    return tree


def _names(node: ast.stmt) -> list[str]:
    """Names that a module-level statement defines; [""] for one run for its effect."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return [""]


def _imports(tree: ast.Module) -> Iterator[tuple[str, Symbol]]:
    """Local name and meaning of every import from this package, functions' own included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                local, inner = alias.asname or alias.name, f"{node.module}.{alias.name}"
                if module_path(inner):
                    yield local, (inner, "*")
                elif module_path(node.module):
                    yield local, (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname and module_path(alias.name):
                    yield alias.asname, (alias.name, "*")


def _outside(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Local name and full name of every import from elsewhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                if not prefix.startswith(PACKAGE):
                    yield alias.asname or alias.name.partition(".")[0], prefix + alias.name


@cache
def _module(module: str) -> _Module:
    path = module_path(module)
    if path is None:
        raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
    tree = _strip_docstrings(ast.parse(path.read_text(encoding="utf-8")))
    found = _Module(imports=dict(_imports(tree)), outside=dict(_outside(tree)))
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            for name in _names(node):
                found.definitions.setdefault(name, []).append(node)
    return found


def definitions(source: str) -> dict[str, str]:
    """Normalised text of every definition in a module's ``source``, by name.

    Comments, docstrings and layout are gone from it. Statements that run on import stand
    under "". Raises SyntaxError for what is no Python.
    """
    found: dict[str, str] = {}
    for node in _strip_docstrings(ast.parse(source)).body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            for name in _names(node):
                found[name] = found.get(name, "") + ast.dump(node) + "\n"
    return found


def _targets(module: str, node: ast.AST) -> Iterator[Symbol]:
    """Symbols of this package that one definition mentions."""
    known = _module(module)
    qualified: set[int] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            target = known.imports.get(part.value.id)
            if target and target[1] == "*":
                qualified.add(id(part.value))
                yield target[0], part.attr
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and id(part) not in qualified:
            if part.id in known.definitions:
                yield module, part.id
            elif part.id in known.imports:
                yield known.imports[part.id]


def _resolve(symbol: Symbol) -> list[Symbol]:
    """The definitions behind a mention: re-exports followed, a whole module spelt out."""
    module, name = symbol
    if _excluded(module):
        return []
    known = _module(module)
    if name == "*":
        return [(module, each) for each in known.definitions]
    if name in known.definitions:
        return [(module, name)]
    if name in known.imports:
        return _resolve(known.imports[name])
    inner = f"{module}.{name}"
    return _resolve((inner, "*")) if name and module_path(inner) else []


def _companions(module: str, node: ast.AST) -> Iterator[str]:
    """What a definition uses beside the package's code: outside names, its data files."""
    outside, directory = _module(module).outside, (module_path(module) or ROOT).parent
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in outside:
            yield f"{part.id} is {outside[part.id]}"
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            data = directory / part.value
            if DATA_FILE.fullmatch(part.value) and data.is_file():
                yield f"{part.value} {hashlib.sha256(data.read_bytes()).hexdigest()}"


@cache
def _direct(symbol: Symbol) -> tuple[str, frozenset[Symbol]]:
    """Normalised source of a definition, and the definitions it mentions."""
    module, name = symbol
    nodes = _module(module).definitions.get(name, [])
    texts = [ast.dump(node, include_attributes=False) for node in nodes]
    texts += sorted({found for node in nodes for found in _companions(module, node)})
    text = "\n".join(texts)
    targets = (target for node in nodes for target in _targets(module, node))
    return text, frozenset(found for target in targets for found in _resolve(target))


def reachable(*entries: str) -> list[Symbol]:
    """Every definition that the entry points (``module:name``) can reach, sorted.

    Statements that a reached module runs on import count too. Raises ModuleNotFoundError
    or KeyError for an entry point that does not exist.
    """
    waiting = [_entry(entry) for entry in entries]
    seen: set[Symbol] = set()
    while waiting:
        symbol = waiting.pop()
        if symbol not in seen:
            seen.add(symbol)
            waiting += [*_direct(symbol)[1], (symbol[0], "")]
    return sorted(seen)


def _entry(entry: str) -> Symbol:
    module, _, name = entry.partition(":")
    if name not in _module(module).definitions:
        raise KeyError(f"{entry}: {module} defines no {name!r}")
    return module, name


def reached_modules(*entries: str) -> list[str]:
    """Names of the modules in which what the entry points reach is defined, sorted."""
    return _code(entries)[1]


def code_digest(*entries: str) -> str:
    """16 hexadecimal digits that change when code reachable from the entry points changes."""
    return _code(entries)[0]


def _code(entries: tuple[str, ...]) -> tuple[str, list[str]]:
    """Digest and modules of what the entry points reach, computed once for each state of it."""
    known = recall(entries)
    if known is None:
        digest, symbols = hashlib.sha256(), reachable(*entries)
        for symbol in symbols:
            digest.update(f"{symbol}\n{_direct(symbol)[0]}\n".encode())
        known = digest.hexdigest()[:16], sorted({module for module, _ in symbols})
        remember(entries, *known)
    return known
