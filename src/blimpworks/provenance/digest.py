"""Content digests of the code a rule depends on.

Snakemake reruns a rule when one of its params changes, but it never looks inside imported
modules. Each rule therefore carries the digest of its own import closure as a param: an
edit reruns exactly the dependants, while comments, docstrings, formatting and time stamps
change nothing.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = "blimpworks"
ROOT = Path(__file__).resolve().parent.parent


def module_path(module: str) -> Path | None:
    """Source file of a dotted ``module`` of this package, or None if it is no module of it."""
    if module != PACKAGE and not module.startswith(f"{PACKAGE}."):
        return None
    base = ROOT.joinpath(*module.split(".")[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _strip_docstrings(tree: ast.Module) -> ast.Module:
    """Remove docstrings in place: like comments, they decide no number."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, holders) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


def _imported(tree: ast.Module) -> set[str]:
    """Modules of this package that ``tree`` imports anywhere, functions included."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in names if module_path(name) is not None}


@cache
def _module(module: str) -> tuple[str, frozenset[str]]:
    """Digest of one module's normalised syntax tree, and the modules it imports."""
    path = module_path(module)
    if path is None:
        raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = frozenset(_imported(tree) - {module})
    text = ast.dump(_strip_docstrings(tree), include_attributes=False)
    return hashlib.sha256(text.encode()).hexdigest(), imported


def closure(*modules: str) -> list[str]:
    """The given modules and every module of this package they import, sorted by name.

    Raises ModuleNotFoundError for a name that is no module of the package.
    """
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting.extend(_module(module)[1])
    return sorted(seen)


def code_digest(*modules: str) -> str:
    """16 hexadecimal digits that change when code in the modules' closure changes."""
    parts = [f"{module}:{_module(module)[0]}" for module in closure(*modules)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
