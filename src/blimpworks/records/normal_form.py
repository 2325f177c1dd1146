"""Convert definitions to a normal form, for digests of code: their syntax without names and layout.

``normal_form`` leaves out comments, docstrings, types and error messages too. It numbers local
variables, puts ``MENTION`` for other definitions of the package, and full names for imports:

    def double(count):                  def (count):
        total = np.abs(count)               v0 = numpy.abs(count)
        return total * FACTOR               return v0 * MENTION
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain, count
from typing import NamedTuple

Symbol = tuple[str, str]
"""A module and the name of a definition in it."""
Resolve = Callable[[ast.expr], Symbol | str | None]
"""Function that returns the definition of the package that a name in the code refers to. For an
import from another package it returns the full name, and for any other name None."""

ADDRESS = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)+:[A-Za-z_]\w*|blimpworks(\.[a-z_]\w*)+")
"""A string that names a definition, as ``module:name``, or a module of the package."""
MENTION = "\0"
"""Placeholder for a mentioned definition in a normal form; source text cannot contain it."""

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Scope = dict[str, str]
"""Numbers of local variables: ``{"total": "v0"}``; names that other code uses stay."""


class NormalForm(NamedTuple):
    """A definition's syntax tree as text, with ``MENTION`` for each mentioned definition."""

    text: str
    mentions: tuple[Symbol, ...]
    """Definitions in the order of mention, with repetitions."""
    strings: tuple[str, ...] = ()
    """String constants, which may name files."""


def strip_docstrings(tree: ast.Module) -> ast.Module:
    """Remove docstrings, also of attributes, in place; return the tree."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                child
                for child in body
                if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant))
            ]
    return tree


def dotted_name(node: ast.expr) -> str:
    """Return a name, or names with dots between them, as text; "" for other expressions."""
    if isinstance(node, ast.Attribute):
        before = dotted_name(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def _assigned_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement or expression assigns in its scope, in order."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, Comprehension):
        # Its loop variables are local to it; only targets of := belong to the scope around it.
        yield from (n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id
    named = getattr(node, "name", None) or getattr(node, "rest", None)
    matched = ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping
    if isinstance(node, matched) and named:
        yield named
    for child in ast.iter_child_nodes(node):
        yield from _assigned_names(child)


@dataclass
class _Normaliser(ast.NodeTransformer):
    """Rewrites a copy of a definition to its normal form."""

    name: str
    resolve: Resolve
    is_message: Callable[[Symbol | str], bool]
    """Function that tells whether a definition is an exception with a message for users."""
    mentions: list[Symbol] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    """Scopes from the outermost to the innermost."""
    numbers: Iterator[int] = field(default_factory=count)

    def _local(self, name: str) -> str | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def _enter(self, names: Iterator[str]) -> None:
        self.scopes.append({name: f"v{next(self.numbers)}" for name in dict.fromkeys(names)})

    def _mention(self, meaning: Symbol | str) -> ast.Name:
        if isinstance(meaning, str):
            return ast.Name(meaning, ast.Load())
        self.mentions.append(meaning)
        return ast.Name(MENTION, ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.AST:
        local = self._local(node.id)
        if local is not None:
            return ast.Name(local, node.ctx)
        # An assignment may define several names: in NAME, OTHER = 1, 2, the normal form of NAME has
        # "this, another", whatever the names.
        if not self.scopes and isinstance(node.ctx, ast.Store):
            return ast.Name("this" if node.id == self.name else "another", node.ctx)
        meaning = self.resolve(node)
        return node if meaning is None else self._mention(meaning)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace ``module.name`` by the definition."""
        module = dotted_name(node.value)
        if module and self._local(module.partition(".")[0]) is None:
            meaning = self.resolve(node)
            if meaning is not None:
                return self._mention(meaning)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Replace the address of a definition, which may move to another module."""
        if isinstance(node.value, str):
            self.strings.append(node.value)
            if ADDRESS.fullmatch(node.value):
                return ast.Constant("module:name")
        return node

    def _is_message_call(self, call: ast.expr | None) -> bool:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        meaning = self.resolve(call.func)
        return meaning is not None and self.is_message(meaning)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if self._is_message_call(node.exc):
            return ast.Raise(ast.Name("message", ast.Load()), None)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Leave out the message where an exception for users is constructed."""
        return ast.Constant("message") if self._is_message_call(node) else self.generic_visit(node)

    def _body(self, arguments: ast.arguments, body: list[ast.stmt]) -> list[ast.stmt]:
        """Normalise the ``body`` of a function with these ``arguments``, in a new scope."""
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters = [a.arg for a in (*named, arguments.vararg, arguments.kwarg) if a is not None]
        # Number the names that the body assigns, without parameters and names of outer scopes.
        not_numbered = {*parameters}
        for node in chain.from_iterable(map(ast.walk, body)):
            if isinstance(node, ast.Global | ast.Nonlocal):
                not_numbered.update(node.names)
        assigned = chain.from_iterable(map(_assigned_names, body))
        self._enter(name for name in assigned if name not in not_numbered)
        # Parameters keep their names, since callers may use them.
        self.scopes[-1] |= {name: name for name in parameters}
        normal_body = [node for node in map(self.visit, body) if node is not None]
        self.scopes.pop()
        return normal_body

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.args = self.visit(node.args)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.returns = None  # types decide no number
        node.body = self._body(node.args, node.body)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.args = self.visit(node.args)
        [statement] = self._body(node.args, [ast.Expr(node.body)])
        assert isinstance(statement, ast.Expr)
        node.body = statement.value
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        # "x: int = 1" becomes "x = 1", and "x: int" disappears; for fields, see visit_ClassDef.
        return self.generic_visit(ast.Assign([node.target], node.value)) if node.value else None

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Remove the import; where its name is used, the full name is written."""

    visit_ImportFrom = visit_Import

    def _replace_name(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        if self.scopes:
            node.name = self._local(node.name) or node.name
        elif node.name == self.name:
            node.name = ""

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._replace_name(node)
        return self._function(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._replace_name(node)
        for field_name in ("bases", "keywords", "decorator_list"):
            children = getattr(node, field_name)
            setattr(node, field_name, [self.visit(child) for child in children])
        # Fields and methods keep their names, which other code uses. They are in scope in the
        # statements of the class, but not in its methods.
        fields = {name: name for statement in node.body for name in _assigned_names(statement)}
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._function(statement)
                continue
            self.scopes.append(fields)
            if isinstance(statement, ast.AnnAssign):
                self.generic_visit(statement)  # a field's type stays, because pydantic checks it
            else:
                self.visit(statement)
            self.scopes.pop()
        return node

    def _comprehension(self, node: Comprehension) -> ast.AST:
        # Loop variables are numbered first, because the element before them uses them.
        self._enter(
            name for generator in node.generators for name in _assigned_names(generator.target)
        )
        node.generators = [self.visit(generator) for generator in node.generators]
        for field_name in ("elt", "key", "value"):
            if hasattr(node, field_name):
                setattr(node, field_name, self.visit(getattr(node, field_name)))
        self.scopes.pop()
        return node

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension

    def _binding(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> ast.AST:
        if node.name:
            node.name = self._local(node.name) or node.name
        return self.generic_visit(node)

    visit_ExceptHandler = _binding
    visit_MatchAs = _binding
    visit_MatchStar = _binding


def normal_form(
    nodes: Sequence[ast.stmt],
    name: str,
    resolve: Resolve,
    is_message: Callable[[Symbol | str], bool],
) -> NormalForm:
    """Return the normal form of the statements that define ``name``; they are not changed."""
    normaliser = _Normaliser(name, resolve, is_message)
    normal_nodes = (normaliser.visit(deepcopy(node)) for node in nodes)
    text = "\n".join(ast.dump(node) for node in normal_nodes if node is not None)
    return NormalForm(text, tuple(normaliser.mentions), tuple(normaliser.strings))
