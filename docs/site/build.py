"""Build the documentation as a site.

    python docs/site/build.py OUTPUT

The documents of this repository, tutorials, and references that are made from the code: commands,
settings, and the interface for notebooks. Notebooks are shown with what they print, where the
results that they read are there (`make demo`). Needs no network; a link that leads nowhere is an
error.
"""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import typer
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from sphinx.application import Sphinx
from typer.core import TyperCommand, TyperGroup

import blimpworks
from blimpworks.cli import PANELS, command_line
from blimpworks.commands.declare import declared_commands

SITE = Path(__file__).parent
REPOSITORY = SITE.parents[1]
OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")
"""A link to a file that is no document."""
SECONDS = 300
"""Most that a cell of a notebook may take."""


def _table(headings: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    cells = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in (headings, ["---"] * len(headings), *cells)]
    return "\n".join(lines)


def _command(words: tuple[str, ...], command: TyperCommand) -> str:
    """Return a section on a command: purpose, example, arguments and options."""
    rows = []
    for each in command.params:
        names = ", ".join(f"`{name}`" for name in each.opts) if each.name != "help" else ""
        if names:
            plain = isinstance(each.default, str | int | float | Path) and each.default != ""
            default = f"`{each.default}`" if plain and not each.required else ""
            rows.append([names, getattr(each, "help", None) or "", default])
    heading = f"## {' '.join(words)}\n\n{(command.help or '').strip()}\n"
    epilog = (command.epilog or "").removeprefix("Example: ")
    example = f"\n```\n{epilog}\n```\n" if epilog else ""
    return f"{heading}{example}\n{_table(['option', 'what', 'default'], rows)}\n"


def commands() -> str:
    """Return the page of commands for people by heading, with the names of the others."""
    app = typer.main.get_command(command_line())
    assert isinstance(app, TyperGroup)
    declared = [*declared_commands().values()]
    parts = ["# Commands\n"]
    for panel in filter(None, PANELS):
        own = [each for each in declared if each.panel == panel]
        parts += [f"**{panel}**\n"]
        parts += [_command(each.words, app.commands[each.words[-1]]) for each in own]
    for group in ("export", "import"):
        inner = app.commands[group]
        assert isinstance(inner, TyperGroup)
        parts += [_command((group, name), each) for name, each in inner.commands.items()]
    rest = sorted(each.words[-1] for each in declared if each.by_workflow)
    parts.append("## Commands of the workflow\n")
    parts.append(f"`blimpworks workflow --help` describes them: {', '.join(rest)}.\n")
    return "\n".join(parts)


def _kind(schema: dict[str, Any]) -> str:
    """Return the type of a value in a JSON Schema, in words."""
    if "$ref" in schema:
        return f"section {schema['$ref'].rpartition('/')[2]}"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_kind, schema["anyOf"])))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return {"null": "nothing"}.get(schema.get("type", ""), schema.get("type", "anything"))


def _section(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """Return a table of the keys of one object of a schema."""
    if "properties" in schema:
        yield f"### {name}\n\n{schema.get('description', '')}\n"
        rows = [
            [
                f"`{key}`",
                _kind(each),
                json.dumps(each["default"]) if each.get("default") not in (None, "") else "",
                each.get("description", ""),
            ]
            for key, each in schema["properties"].items()
        ]
        yield f"{_table(['key', 'value', 'default', 'what'], rows)}\n"


def settings() -> str:
    """Return the page of settings, made from the schemas."""
    parts = ["# Settings\n"]
    for path in sorted((REPOSITORY / "workflow/schemas").glob("*.schema.json")):
        name = path.name.partition(".")[0]
        schema = json.loads(path.read_text(encoding="utf-8"))
        parts.append(f"## {name}\n\n`workflow/schemas/{path.name}`\n")
        parts += _section(f"{name}: keys", schema)
        for inner, definition in sorted(schema.get("$defs", {}).items()):
            parts += _section(f"{name}: {inner}", definition)
    return "\n".join(parts)


def interface() -> str:
    """Return the page of the interface for notebooks, made from the docstrings."""
    parts = ["# Python\n", "```python\nimport blimpworks\n```\n"]
    for name in sorted(set(blimpworks.__all__) - {"__version__"}):
        kind = "autoclass" if isinstance(getattr(blimpworks, name), type) else "autofunction"
        members = "\n   :members:" if kind == "autoclass" else ""
        entry = f".. {kind}:: blimpworks.evaluation.api.{name}{members}"
        parts.append(f"```{{eval-rst}}\n{entry}\n```\n")
    return "\n".join(parts)


def _notebook(path: Path, folder: Path) -> None:
    """Write a notebook as a page, with its outputs where the results that it reads are there."""
    notebook = nbformat.read(path, as_version=4)
    if (REPOSITORY / "results/demo/reproduction/published.csv").exists():
        client = NotebookClient(
            notebook, timeout=SECONDS, resources={"metadata": {"path": str(REPOSITORY)}}
        )
        try:
            client.execute()
        except Exception as error:
            print(f"{path.name} is shown without outputs: {str(error).splitlines()[-1]}")
            notebook = nbformat.read(path, as_version=4)
    name = path.stem
    text, resources = MarkdownExporter().from_notebook_node(
        notebook, resources={"unique_key": name, "output_files_dir": f"{name}_files"}
    )
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    for place, content in resources["outputs"].items():
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_bytes(content)


def stage(folder: Path) -> None:
    """Write what Sphinx makes the site of."""
    shutil.copytree(SITE, folder, ignore=shutil.ignore_patterns("*.py", "_static", "__pycache__"))
    for path in (REPOSITORY / "docs").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        (folder / path.name).write_text(OUTSIDE.sub(r"\1", text), encoding="utf-8")
    shutil.copytree(REPOSITORY / "docs/images", folder / "images")
    shutil.copy(REPOSITORY / "CHANGELOG.md", folder / "changelog.md")
    for make in (commands, settings, interface):
        page = folder / "reference" / f"{make.__name__}.md"
        page.write_text(make(), encoding="utf-8")
    for path in sorted((REPOSITORY / "notebooks").glob("*.ipynb")):
        _notebook(path, folder / "notebooks")


def main() -> None:
    """Build the site into the directory that the command line names."""
    output = Path(sys.argv[1] if len(sys.argv) > 1 else "site")
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "source")
        stage(source)
        app = Sphinx(
            source, SITE, output, Path(name, "doctrees"), "html",
            status=None, warningiserror=True, freshenv=True,
        )  # fmt: skip
        app.build()
        if app.statuscode:
            raise SystemExit(app.statuscode)
    print(f"{output / 'index.html'}: open it in a browser.")


if __name__ == "__main__":
    main()
