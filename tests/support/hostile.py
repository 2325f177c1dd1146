"""Make models that bring their own code, which leaves a mark where it is run."""

import json
import shutil

from blimpworks.files import sha256_of
from blimpworks.models.checkpoint import FILE_NAME, read_description

CLASSES = ("Config", "ModelForCausalLM", "ModelForMaskedLM", "ModelForSeq2SeqLM", "Model")
CODE = "from pathlib import Path\nPath({mark!r}).write_text('run')\n"


def edit(path, **changes):
    """Change fields of a JSON file; create the file if it is missing."""
    fields = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(fields | changes))


def reseal(checkpoint):
    """Seal a checkpoint without a look at its content, as no command does."""
    files = {p.name: sha256_of(p) for p in checkpoint.parent.iterdir() if p.name != FILE_NAME}
    sealed = read_description(checkpoint).model_copy(update={"files": files})
    checkpoint.write_text(sealed.model_dump_json())
    return checkpoint


def make_hostile(checkpoint, folder, mark):
    """Copy a checkpoint with a model type of its own code, which writes the file ``mark``."""
    shutil.copytree(checkpoint.parent, folder)
    (folder / "evil.py").write_text(CODE.format(mark=str(mark)))
    classes = {f"Auto{name}": f"evil.{name}" for name in CLASSES}
    edit(folder / "config.json", model_type="evil", auto_map=classes)
    tokenizers = {"AutoTokenizer": ["evil.Slow", "evil.Fast"]}
    edit(folder / "tokenizer_config.json", tokenizer_class="EvilTokenizer", auto_map=tokenizers)
    return reseal(folder / FILE_NAME)
