"""Check the rules for names and docstrings in CONTRIBUTING.md that a program can check."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = ("benchmarks", "config/demo/authoring", "docs/site", "envs")
TREES = {
    path: ast.parse(path.read_bytes())
    for folder in ("src", *PROGRAMS)
    for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
}
VAGUE = re.compile(
    "places?|parts?|own|each|known|kinds?|what|found|told|wanted|asked|said|shown|given|how|things?"
    "|rest|again|there|here|words|left|whole|single|many|several|others?|ones?"
)
# Columns of tables and keys of YAML and JSON files, which users have already.
FIELDS = {"asked", "kind", "part", "parts", "place", "single", "words"}
OPENERS = re.compile(
    "(what|how|those|that|of|by|from|as|in|at|for|with|without|behind|above|below|besides?|if|where"
    r"|when|all|none|such|so|to)\b",
    re.IGNORECASE,
)
LONGEST = 25


def vague_names(tree):
    fields = [
        statement.target
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and statement.target.id in FIELDS
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and VAGUE.fullmatch(node.arg):
            yield node.lineno, node.arg
        stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        if stored and VAGUE.fullmatch(node.id) and node not in fields:
            yield node.lineno, node.id


def docstrings(tree):
    """Yield line and text of docstrings, and of the strings below assignments."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for child in body if isinstance(body, list) else []:
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                yield child.lineno, " ".join(str(child.value.value).split())


def opening_clauses(tree):
    for line, text in docstrings(tree):
        if OPENERS.match(text):
            yield line, text


def long_sentences(tree):
    for line, text in docstrings(tree):
        for sentence in re.split(r"(?<=[.;:]) ", text):
            if len(sentence.split()) > LONGEST:
                yield line, sentence


def documented_one_liners(tree):
    """Yield private functions of one statement with a docstring, but for abstract methods."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and re.match("_[^_]", node.name):
            documented = len(node.body) == 2 and ast.get_docstring(node)
            if documented and "NotImplementedError" not in ast.dump(node.body[1]):
                yield node.lineno, node.name


RULES = [vague_names, opening_clauses, long_sentences, documented_one_liners]


@pytest.mark.parametrize("rule", RULES)
def test_names_and_docstrings_follow_the_rule(rule):
    hits = ((p.relative_to(ROOT), line, text) for p, t in TREES.items() for line, text in rule(t))
    found = [f"{path}:{line}: {text}" for path, line, text in hits]
    assert not found, "see CONTRIBUTING.md, 'Words'\n" + "\n".join(found)


def test_names_of_classes_and_constants_are_distinct():
    classes, constants = Counter(), Counter()
    for tree in (tree for path, tree in TREES.items() if path.is_relative_to(ROOT / "src")):
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] += 1
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                constants[node.targets[0].id] += node.targets[0].id.isupper()
    # Papers declare PAPER and SPECS, each in its package.
    assert len([name for name, count in constants.items() if count >= 5]) <= 5
    assert [name for name, count in classes.items() if count >= 3] == []
