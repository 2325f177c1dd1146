"""Export results as a crate: choose and verify its files, copy them, and write its documents.

``blimpworks export crate`` calls ``plan_crate``, which chooses the contents, and ``write_crate``,
which writes them. A crate is a directory in the format Workflow Run RO-Crate: exhibits (tables and
figures), their cells (numbers), the tables behind the cells, and formulas as code. A README and a
graph of all files and jobs (JSON-LD) describe them.
"""

import ast
import dis
import inspect
import json
import shutil
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pandas as pd
from jinja2 import Template

from blimpworks import __version__
from blimpworks.audit.lineage import jobs_behind
from blimpworks.errors import UserError
from blimpworks.exhibits import formulas
from blimpworks.exhibits.shared import counted
from blimpworks.files import write_text
from blimpworks.interop.crate import tables
from blimpworks.interop.crate.graph import WORKFLOW, write_graph
from blimpworks.interop.datasets import write_croissant
from blimpworks.records.job import REPOSITORY


def plan_crate(
    results: Path,
    campaign_file: Path,
    run: Callable[[list[str]], object],
    chosen: Collection[str] = (),
    further: Sequence[str] = (),
    *,
    gzip: bool = False,
    authors: Sequence[str] = (),
) -> tables.CratePlan:
    """Choose the contents of a crate, verify all files behind them, and make exhibits again.

    ``run``: function that runs a command line in this process. ``chosen``: PAPER/EXHIBIT, empty for
    all. ``further``: further kinds of tables, such as scores. Raises UserError when results are
    missing, of another campaign, lack a chosen exhibit, or differ from the jobs' records.
    """
    campaign, results = tables.campaign_of(campaign_file, results)
    exhibits = tables.find_exhibits(results, chosen)
    # Comparisons with printed numbers are of all exhibits, so a choice of exhibits leaves them out.
    comparisons = [results / "reproduction" / f"{form}.csv" for form in ("published", "measured")]
    comparisons = [path for path in comparisons if path.is_file() and not chosen]
    jobs = jobs_behind([*(exhibit.cells for exhibit in exhibits), *comparisons])
    tables.require_unaltered(jobs, results, run)
    behind = tables.tables_behind(exhibits, further, jobs)
    table_kinds = set(behind["source"])
    if unknown := [table_kind for table_kind in further if table_kind not in table_kinds]:
        raise UserError(
            f"there are no {unknown[0]!r} tables behind these exhibits; there are: "
            f"{', '.join(sorted(table_kinds))}, and scores."
        )
    source = (results, campaign, campaign_file, jobs, tables.authors_of(authors))
    return tables.CratePlan(*source, gzip, exhibits, comparisons, behind)


def _result_files(plan: tables.CratePlan) -> dict[Path, Path]:
    """Return {file: path in the crate} of exhibits and comparisons, which are copied unchanged."""
    files: list[Path] = []
    for exhibit in plan.exhibits:
        # The job that wrote the cells wrote the exhibit, in several formats, beside them.
        record = plan.jobs.makers[plan.jobs.key(exhibit.cells)]
        products = [Path(entry["path"]) for entry in record["outputs"]]
        folder = exhibit.cells.parent
        files += [path for path in products if path.parent == folder and path != exhibit.cells]
    return {path: path.relative_to(plan.results) for path in [*files, *plan.comparisons]}


def write_crate(plan: tables.CratePlan, output: Path) -> str:
    """Write a crate to ``output``; return a summary. Raises UserError as ``new_directory`` does."""
    result_files = _result_files(plan)
    campaign = Path("config", plan.campaign_file.name)
    rules = sorted((REPOSITORY / "workflow/rules").rglob("*.smk"))
    workflow = [REPOSITORY / "Snakefile", REPOSITORY / WORKFLOW, *rules]
    if absent := [path for path in workflow if not path.is_file()]:
        raise UserError(f"{absent[0]} does not exist; export from a checkout of the repository.")
    with tables.new_directory(output) as root:
        workflow_files = {path: path.relative_to(REPOSITORY) for path in workflow}
        for path, target in (result_files | workflow_files).items():
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, root / target)
        write_text(root / campaign, plan.relative(plan.campaign_file.read_text(encoding="utf-8")))
        copies = tables.copy_tables(plan.behind, root, packed=plan.gzip)
        cells = tables.all_cells(plan.exhibits)
        write_overviews(root, plan, cells, copies)
        for folder in sorted(path for path in (root / "items").glob("*") if path.is_dir()):
            originals = [c.original for c in copies if c.path.parent == folder.relative_to(root)]
            write_croissant(folder, plan, tables.item_licences(originals, plan))
        sections = [
            f"## {name}\n\n```python\n{formula_code(name)}```\n"
            for name in sorted(cells["formula"].unique())
        ]
        write_text(root / "formulas.md", "\n".join([tables.TEXTS["formulas_head"], *sections]))
        write_text(root / "README.md", plan.relative(readme(root, plan, cells, copies)))
        # Tables that are CSV files were copied unchanged, too; others were converted.
        unchanged = {copy.original: copy.path for copy in copies if copy.original.suffix == ".csv"}
        converted = {copy.path: copy.original for copy in copies if copy.original not in unchanged}
        unchanged |= result_files | {plan.campaign_file: campaign}
        entities = write_graph(root, plan, settings=campaign, paths=unchanged, copies=converted)
        sizes = [path.stat().st_size for path in root.rglob("*") if path.is_file()]
    contents = f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB, {len(cells)} cells"
    return f"{contents}, {len(plan.jobs.by_output)} jobs, {entities} entities"


def write_overviews(
    root: Path, plan: tables.CratePlan, cells: pd.DataFrame, copies: Sequence[tables.Copied]
) -> None:
    """Write CSV tables of all cells, of their sources, of code, and of the columns of tables."""
    paths = {(copy.table_kind, copy.original): copy.path.as_posix() for copy in copies}
    tables_behind = zip(plan.behind["source"], plan.behind["original"], strict=True)
    files = [paths[table_kind, original] for table_kind, original in tables_behind]
    modules = {
        (record["verb"], record["code"], module, sha256)
        for record in plan.jobs.by_output.values()
        for module, sha256 in record["sources"].items()
    }
    overviews = {
        "cells": cells,
        # Files of the crate with the rows that the cells of an exhibit select from.
        "sources": plan.behind.drop(columns="original").assign(file=files),
        # Modules by version of a command.
        "code": pd.DataFrame(sorted(modules), columns=["verb", "code", "module", "sha256"]),
    }
    # Names of columns by kind of table, in order; a dictionary has each name once.
    columns = {name: dict.fromkeys(map(str, frame)) for name, frame in overviews.items()}
    for copy in copies:
        columns.setdefault(copy.table_kind, {}).update(dict.fromkeys(copy.columns))
    for name, frame in {**overviews, "dictionary": tables.dictionary(columns)}.items():
        tables.write_csv(frame, root / f"{name}.csv")


EXPRESSIONS = {
    formulas.ACCURACY.sentence: '100 * rows["correct"].mean()',
    formulas.UNWEIGHTED.sentence: '100 * rows["accuracy"].mean()',
    formulas.N_SUM.sentence: 'rows["n"].sum()',
    formulas.COUNT.sentence: "len(rows)",
    formulas.SUM.sentence: 'rows["value"].sum()',
}
"""Python expression of each formula that the README's example may show, the best first."""


def example(cells: pd.DataFrame) -> tuple[Mapping[Any, Any], str]:
    """Return a cell for the README, preferably a simple one of a table, and its formula as code."""
    order = [*EXPRESSIONS]

    def complexity(cell: Mapping[Any, Any]) -> tuple[int, bool, bool, int]:
        # False sorts before True: measured numbers come first, then numbers of tables.
        is_measured, is_of_table = cell["form"] == "measured", cell["exhibit"].startswith("table")
        return order.index(cell["formula"]), not is_measured, not is_of_table, len(cell["filter"])

    with_formula = cells[cells["formula"].isin(order)].to_dict("records")
    if not with_formula:
        return cells.iloc[0].to_dict(), "rows  # and now its formula: see formulas.md"
    best = min(with_formula, key=complexity)
    return best, EXPRESSIONS[best["formula"]]


def readme(
    root: Path, plan: tables.CratePlan, cells: pd.DataFrame, copies: Iterable[tables.Copied]
) -> str:
    """Return the README of a crate, with the computation of one number as an example."""
    cell, expression = example(cells)
    first_paths = {copy.table_kind: copy.path.as_posix() for copy in reversed([*copies])}
    exhibits = len(cells[["paper", "form", "exhibit"]].drop_duplicates())
    text = Path(__file__).with_name("README.template.md").read_text(encoding="utf-8")
    page: str = Template(text, trim_blocks=True, keep_trailing_newline=True).render(
        plan=plan,
        version=__version__,
        contents={
            name: meaning
            for name, meaning in tables.TEXTS["contents"].items()
            if (root / name).exists() or name == "ro-crate-metadata.json"
        },
        counts=f"{counted(len(cells), 'number')} of {counted(exhibits, 'exhibit')}",
        tables=sorted(first_paths.items()),
        cell=cell,
        row=json.dumps(cell["row"], ensure_ascii=False),
        column=json.dumps(cell["column"], ensure_ascii=False),
        expression=expression,
        missing=[path for path in plan.files if not path.is_file()],
        counted=counted,
    )
    return page


# Formulas as code

FUTURE = "from __future__ import annotations\n"
"""First line of a formula's code: annotations are not run, so their types need no imports."""


def _is_ours(value: Any, package: str = "blimpworks") -> bool:
    """Tell whether a function, class or callable object is of this package, or of a paper's."""
    root = str(getattr(value, "__module__", "")).partition(".")[0]
    return callable(value) and root in ("blimpworks", package)


def _function_of(formula: formulas.Formula) -> Callable[..., Any]:
    return partial(formula.function, **formula.arguments) if formula.arguments else formula.function


def _names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of globals that compiled source loads, also in defaults and decorators."""
    for instruction in dis.get_instructions(code):
        is_global = instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        if is_global and not instruction.argval.startswith("__"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _code_of(value: Any, seen: set[int], package: str = "blimpworks") -> Iterator[str]:
    """Yield the source of a formula, function, class or object, after the code that it uses.

    For ``def share(rows): return FACTOR * np.mean(rows)``, yield "FACTOR = 100", "import numpy as
    np" and this source. ``seen``: ids of objects whose code was yielded before. ``package``:
    package of the function that uses ``value``, since a paper may be outside this repository.
    """
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, formulas.Formula):
        yield from _code_of(_function_of(value), seen)
    elif isinstance(value, partial):
        for argument in (*value.args, *value.keywords.values()):
            yield from _code_of(argument, seen)
        yield from _code_of(value.func, seen)
        yield "from functools import partial\n"
    elif inspect.isfunction(value) or _is_ours(value, package) or _is_ours(type(value), package):
        # Of an object, the source is that of its class.
        definition = value if hasattr(value, "__qualname__") else type(value)
        is_lambda = definition.__qualname__.endswith("<lambda>")
        source = _expression(value) if is_lambda else inspect.getsource(definition)
        if inspect.isfunction(value) and not is_lambda:
            # Leave out decorators such as ``cache``, which do not change the result.
            [node] = ast.parse(source).body
            source = "".join(source.splitlines(keepends=True)[node.lineno - 1 :])
        yield from _globals_of(source, import_module(definition.__module__), seen)
        # Variables of the function around this one become constants.
        variables = inspect.getclosurevars(value).nonlocals if inspect.isfunction(value) else {}
        for name, content in variables.items():
            yield from _code_of(content, seen)
            yield f"{name} = {_expression(content)}\n"
        if not is_lambda:  # a lambda is written where it is used
            yield source


def _globals_of(source: str, module: ModuleType, seen: set[int]) -> Iterator[str]:
    """Yield the constants, definitions and imports of a module that the ``source`` names."""
    package = module.__name__.partition(".")[0]
    code = compile(FUTURE + source, module.__name__, "exec")
    for name in dict.fromkeys(_names_in(code)):
        mentioned = vars(module).get(name)
        if isinstance(mentioned, str | int | float | tuple | list | dict | frozenset):
            yield f"{name} = {mentioned!r}\n"
        elif _is_ours(mentioned, package):
            yield from _code_of(mentioned, seen, package)
        elif mentioned is not None:  # None: a local or built-in name
            yield _import_of(name, module)


def _import_of(name: str, module: ModuleType) -> str:
    """Return the module's import of a name, "import numpy as np", or else one from the module.

    The latter is for constants without a literal, such as ``re.compile("x")``.
    """
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    node.names = [alias]
                    return ast.unparse(node) + "\n"
    return f"from {module.__name__} import {name}\n"


def _expression(value: Any) -> str:
    """Return a Python expression such as "share", "partial(share, least=2)" or "lambda row: 1"."""
    if isinstance(value, formulas.Formula):
        return _expression(_function_of(value))
    if isinstance(value, partial):
        arguments = [_expression(value.func), *map(_expression, value.args)]
        arguments += [f"{name}={_expression(v)}" for name, v in value.keywords.items()]
        return f"partial({', '.join(arguments)})"
    if inspect.isfunction(value) and value.__name__ == "<lambda>":
        # Find its text in the module by its line.
        text = Path(inspect.getfile(value)).read_text(encoding="utf-8")
        nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda))
        node = next(node for node in nodes if node.lineno == value.__code__.co_firstlineno)
        return textwrap.dedent(ast.get_source_segment(text, node) or "")
    is_named = inspect.isfunction(value) or inspect.isbuiltin(value)
    return value.__name__ if is_named else repr(value)


def formula_code(name: str) -> str:
    """Return the code of a formula and of what it uses. Raises UserError for an unknown one."""
    formula = formulas.formula_of(name)
    code = dict.fromkeys(_code_of(formula, set()))
    imports = [statement for statement in code if statement.startswith(("import ", "from "))]
    definitions = [definition for definition in code if definition not in imports]
    head = "".join([FUTURE, *sorted(imports)])
    return "\n\n".join([head, *definitions, f"formula = {_expression(formula)}\n"])
