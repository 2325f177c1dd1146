"""Read, digest and import the Python code that some models bring along, with the user's consent.

Such a model's ``config.json`` names its classes, and Python files beside it define them::

    "auto_map": {"AutoModelForCausalLM": "modeling_mine.MyModel"}

A user consents to a digest of these names and files. A checkpoint has the code as data, in
``model_code.json``, and neither Python files nor ``auto_map``. transformers is never told to trust
code: modules are imported here, from the text in memory whose digest was compared.
"""

import hashlib
import importlib
import json
import re
import sys
import unicodedata
from collections.abc import Collection
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from pydantic import model_validator

from blimpworks.errors import UserError, reading
from blimpworks.files import write_text
from blimpworks.models import checkpoint
from blimpworks.strict import Strict, Within

FILE = "model_code.json"
"""File of a checkpoint with its model's own code; its SHA-256 is the digest of the code."""
PACKAGE = "model_code_"
"""Beginning of the names of the packages into which models' own code is imported."""
CLASS = re.compile(r"\w[\w-]*\.\w+")  # modeling_mine.MyModel
SHOW = "`blimpworks evaluate MODEL --run-model-code show`"


class ModelCode(Strict):
    """Content of ``model_code.json``: a model's own code, all of which the digest covers."""

    classes: dict[str, str]
    """Module and class of the model by the class of transformers that they replace, as ``auto_map``
    has them: ``{"AutoModelForCausalLM": "modeling_mine.MyModel"}``."""
    files: dict[Within, str]
    """Text of each Python file by relative path."""

    @model_validator(mode="after")
    def _visible(self) -> "ModelCode":
        # Names are shown on terminals, where control characters (Cc) and marks of direction (Cf)
        # could hide lines.
        for name in (*self.classes, *self.classes.values(), *self.files):
            if any(unicodedata.category(character) in ("Cc", "Cf") for character in name):
                raise ValueError(f"the name {name!r} has a character that terminals do not show")
        return self

    @property
    def text(self) -> str:
        """Content of ``model_code.json``."""
        return json.dumps(self.model_dump(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"

    @property
    def digest(self) -> str:
        """Digest of the code: the SHA-256 of its text, and of the file in a checkpoint."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def listing(self) -> str:
        """Return the classes, the files with their SHA-256, and the digest, on lines for people."""
        lines = [f"  {name}: {address}" for name, address in self.classes.items()]
        lines.append("SHA-256 of each Python file:")
        for name, text in self.files.items():
            lines.append(f"  {hashlib.sha256(text.encode()).hexdigest()}  {name}")
        return "\n".join([*lines, f"Digest of all: {self.digest}"])

    def place(self, folder: Path) -> None:
        """Write the code into a checkpoint's folder, and take it out of the configuration."""
        path = folder / "config.json"
        config = checkpoint.read_json(path, "a model's configuration")
        for target in (path, folder / FILE):
            target.unlink(missing_ok=True)  # it may be a link, whose target must stay
        config.pop("auto_map", None)
        write_text(path, json.dumps(config, indent=2, ensure_ascii=False) + "\n")
        write_text(folder / FILE, self.text)


def is_sealed(folder: Path) -> bool:
    """Return whether a folder is a checkpoint of a model with own code."""
    return (folder / checkpoint.FILE_NAME).exists() and (folder / FILE).exists()


def read_code(folder: Path) -> ModelCode:
    """Read the own code of the model in a folder, which may be a checkpoint.

    Raises UserError if the configuration names code elsewhere, or of a tokenizer.
    """
    if is_sealed(folder):
        path = folder / FILE
        with reading(path, "a model's own code", checkpoint.REMEDY):
            text = path.read_bytes().decode("utf-8")
            code = ModelCode.model_validate_json(text)
            if code.text != text:
                raise ValueError("it is not written as blimpworks writes it")
        return code
    path = folder / "config.json"
    config = checkpoint.read_json(path, "a model's configuration")
    classes = config.pop("auto_map", None)
    if any(checkpoint.values_of(config, "auto_map")):
        raise UserError(
            f"{path} names code below its top level too (auto_map), which is never run; take it "
            "out, or name another model."
        )
    files = {}
    for program in sorted(folder.rglob("*.py")):
        name = program.relative_to(folder)
        is_hidden = any(folder_name.startswith(".") for folder_name in name.parts)
        if program.is_file() and not is_hidden:
            with reading(program, "Python code", "Name another model."):
                files[name.as_posix()] = program.read_bytes().decode("utf-8")
    if not isinstance(classes, dict) or not classes:
        raise UserError(
            f"{path} names no code of its own (auto_map is {classes!r}), so there is none to run; "
            "leave --run-model-code out."
        )
    for name, address in classes.items():
        if name == "AutoTokenizer":
            raise UserError(
                f"{path}: auto_map names code of a tokenizer, which is never run because no file "
                "could confirm its ids; add its tokenizer.json, and take AutoTokenizer out of "
                "auto_map."
            )
        if "--" in str(address):
            raise UserError(
                f"{path}: auto_map names {address!r}, which is code of another repository, and no "
                "digest covers it; copy the code beside the model, and name it without '--'."
            )
        if not name.isidentifier() or not CLASS.fullmatch(str(address)):
            raise UserError(
                f"{path}: auto_map has {name!r}: {address!r}; expected the name of a class, and "
                "MODULE.CLASS. Correct it."
            )
        module = f"{address.partition('.')[0]}.py"
        if module not in files:
            raise UserError(
                f"{path}: auto_map names {address}, but {module} is not beside it; download the "
                "model again, with its Python files."
            )
    with reading(folder, "names of Python files", "Rename them, or name another model."):
        return ModelCode(classes=classes, files=files)


def require_consent(digest: str, where: str, trusted: Collection[str]) -> None:
    """Raise UserError unless the digest of a model's own code is among those that may run."""
    if digest in trusted:
        return
    consent = f"consent is to {', '.join(trusted)}" if trusted else "nobody consented to it"
    raise UserError(
        f"{where} has code of its own with digest {digest}, but {consent}, so nothing of it "
        f"is run; read it ({SHOW}), and consent by that digest, or name another model."
    )


def check_code(
    folder: Path, where: str, trusted: Collection[str], configurations: Collection[Path] = ()
) -> ModelCode | None:
    """Return the own code of the model in a folder; None if its configuration names none.

    Messages call the model ``where``. ``configurations`` are its JSON files; by default all of the
    folder. Raises UserError for code that is not among the digests ``trusted``, or cannot be run.
    """
    files = configurations or sorted(folder.glob("*.json"))
    path = folder / "config.json"
    config = checkpoint.read_json(path, "a model's configuration") if path.exists() else {}
    if not (config.get("auto_map") or is_sealed(folder)):
        checkpoint.refuse_named_code(files, where)
        return None
    if not trusted and config.get("auto_map"):
        raise UserError(
            f"{where}: config.json names code of its own (auto_map), which is never run without "
            f"consent; {SHOW} lists it, and says how to consent. Or name a model that transformers "
            "has itself."
        )
    code = read_code(folder)
    require_consent(code.digest, where, trusted)
    checkpoint.refuse_named_code([file for file in files if file.name != path.name], where)
    return code


class _Importer(MetaPathFinder, ExecutionLoader):
    """Imports modules from a model's code in memory, in a package named after its digest."""

    def __init__(self, code: ModelCode) -> None:
        self.code = code
        self.package = PACKAGE + code.digest

    def _file(self, fullname: str) -> str | None:
        """Return the path of a module's code; empty for a package without code, None if unknown."""
        name = fullname.removeprefix(self.package).removeprefix(".").replace(".", "/")
        if not name:
            return ""  # as in transformers, __init__.py beside the weights is not run
        files = self.code.files
        for path in (f"{name}/__init__.py", f"{name}.py"):
            if path in files:
                return path
        return "" if any(path.startswith(f"{name}/") for path in files) else None

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self.package:
            return None
        if self._file(fullname) is None:
            # Without this error, Python would look for a file.
            name = fullname.removeprefix(f"{self.package}.")
            raise ModuleNotFoundError(f"the model's code has no module {name!r}", name=fullname)
        is_package = self.is_package(fullname)
        name = self.get_filename(fullname)
        spec = ModuleSpec(fullname, self, origin=name, is_package=is_package)
        spec.has_location = True  # so that transformers can read the source, by the loader
        return spec

    def is_package(self, fullname: str) -> bool:
        file = self._file(fullname)
        return not file or file.endswith("/__init__.py")

    def get_filename(self, fullname: str) -> str:
        return f"{self.package}/{self._file(fullname)}"

    def get_source(self, fullname: str) -> str:
        return self.code.files.get(self._file(fullname) or "", "")


def is_own(model_class: type) -> bool:
    """Return whether a class is of a model's own code, which was imported here."""
    return model_class.__module__.startswith(PACKAGE)


_admitted: dict[Path, _Importer] = {}  # importers of code that may run, by checkpoint's folder


def admit_code(folder: Path, trusted: Collection[str]) -> None:
    """Let the code of a checkpoint be imported. Raises UserError without consent to its digest."""
    code = read_code(folder)
    require_consent(code.digest, str(folder), trusted)
    importer = _Importer(code)
    sys.meta_path.insert(0, importer)
    _admitted[folder.resolve()] = importer


def own_class(folder: Path, name: str) -> Any:
    """Import a checkpoint's own class for transformers' class ``name``; None if it has none."""
    importer = _admitted.get(folder.resolve())
    if importer is None or name not in importer.code.classes:
        return None
    module, _, class_name = importer.code.classes[name].partition(".")
    return getattr(importlib.import_module(f"{importer.package}.{module}"), class_name)
