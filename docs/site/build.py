"""Build the documentation as a site.

    python docs/site/build.py OUTPUT

The site has the documents of this repository, tutorials, and references that are made from the
code: commands, settings, and the interface for notebooks. Notebooks are run, and shown with their
outputs, if the results that they read exist (`make demo`). The build works without network. A
broken link is an error.
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
"""Link to a file outside docs/, which the site leaves out."""
SECONDS = 300
"""Time limit of a cell of a notebook, in seconds."""


def _table(headings: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    cells = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in (headings, ["---"] * len(headings), *cells)]
    return "\n".join(lines)


def _command(name: tuple[str, ...], command: TyperCommand) -> str:
    """Return a section in Markdown on a command: purpose, example, arguments and options."""
    rows = []
    for option in command.params:
        names = ", ".join(f"`{flag}`" for flag in option.opts) if option.name != "help" else ""
        if names:
            plain = isinstance(option.default, str | int | float | Path) and option.default != ""
            default = f"`{option.default}`" if plain and not option.required else ""
            rows.append([names, getattr(option, "help", None) or "", default])
    heading = f"## {' '.join(name)}\n\n{(command.help or '').strip()}\n"
    epilog = (command.epilog or "").removeprefix("Example: ")
    example = f"\n```\n{epilog}\n```\n" if epilog else ""
    return f"{heading}{example}\n{_table(['option', 'meaning', 'default'], rows)}\n"


def commands() -> str:
    """Return the page of commands for people, by heading, with the names of the workflow's."""
    app = typer.main.get_command(command_line())
    assert isinstance(app, TyperGroup)
    declared = [*declared_commands().values()]
    sections = ["# Commands\n"]
    for panel in filter(None, PANELS):
        of_panel = [use for use in declared if use.panel == panel]
        sections += [f"**{panel}**\n"]
        sections += [_command(use.words, app.commands[use.words[-1]]) for use in of_panel]
    for group in ("export", "import"):
        inner = app.commands[group]
        assert isinstance(inner, TyperGroup)
        sections += [_command((group, name), command) for name, command in inner.commands.items()]
    of_workflow = sorted(use.words[-1] for use in declared if use.by_workflow)
    sections.append("## Commands of the workflow\n")
    sections.append(f"`blimpworks workflow --help` describes them: {', '.join(of_workflow)}.\n")
    return "\n".join(sections)


def _value_type(schema: dict[str, Any]) -> str:
    """Return the type of a value in a JSON Schema, as a phrase such as "list of integer"."""
    if "$ref" in schema:
        return f"section {schema['$ref'].rpartition('/')[2]}"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_value_type, schema["anyOf"])))
    if schema.get("type") == "array":
        return f"list of {_value_type(schema.get('items', {}))}"
    return {"null": "nothing"}.get(schema.get("type", ""), schema.get("type", "anything"))


def _section(name: str, schema: dict[str, Any]) -> Iterator[str]:
    if "properties" in schema:
        yield f"### {name}\n\n{schema.get('description', '')}\n"
        rows = [
            [
                f"`{key}`",
                _value_type(value),
                json.dumps(value["default"]) if value.get("default") not in (None, "") else "",
                value.get("description", ""),
            ]
            for key, value in schema["properties"].items()
        ]
        yield f"{_table(['key', 'value', 'default', 'meaning'], rows)}\n"


def settings() -> str:
    """Return the page of settings, made from the JSON Schemas of the workflow."""
    sections = ["# Settings\n"]
    for path in sorted((REPOSITORY / "workflow/schemas").glob("*.schema.json")):
        name = path.name.partition(".")[0]
        schema = json.loads(path.read_text(encoding="utf-8"))
        sections.append(f"## {name}\n\n`workflow/schemas/{path.name}`\n")
        sections += _section(f"{name}: keys", schema)
        for inner, definition in sorted(schema.get("$defs", {}).items()):
            sections += _section(f"{name}: {inner}", definition)
    return "\n".join(sections)


def interface() -> str:
    """Return the page of the interface for notebooks, made from the docstrings."""
    sections = ["# Python\n", "```python\nimport blimpworks\n```\n"]
    for name in sorted(set(blimpworks.__all__) - {"__version__"}):
        directive = "autoclass" if isinstance(getattr(blimpworks, name), type) else "autofunction"
        members = "\n   :members:" if directive == "autoclass" else ""
        entry = f".. {directive}:: blimpworks.evaluation.api.{name}{members}"
        sections.append(f"```{{eval-rst}}\n{entry}\n```\n")
    return "\n".join(sections)


def _notebook(path: Path, folder: Path) -> None:
    """Write a notebook as a page, with its outputs if the demo's results exist."""
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
    for output_path, content in resources["outputs"].items():
        (folder / output_path).parent.mkdir(exist_ok=True)
        (folder / output_path).write_bytes(content)


def stage(folder: Path) -> None:
    """Write the sources from which Sphinx makes the site: pages, images and notebooks."""
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
    print(f"The site is in {output}; open {output / 'index.html'} in a browser.")


if __name__ == "__main__":
    main()
