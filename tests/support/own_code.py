"""Make models that bring their own code, with the weights of models that transformers knows."""

import json
import shutil

from support import tiny
from support.hostile import edit
from support.paths import DATA

CODE = DATA / "own_code"
CLASSES = {"causal": "ForCausalLM", "masked": "ForMaskedLM"}


def make_own(checkpoint, folder, architecture):
    """Copy a tiny model in Hugging Face's layout, to be run by ``tests/data/own_code``."""
    tiny.unsealed(checkpoint, folder)
    shutil.copytree(CODE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    name = CLASSES[architecture]
    classes = {"AutoConfig": "configuration_own.OwnConfig"}
    classes[f"AutoModel{name}"] = f"modeling_own.Own{name}"
    edit(folder / "config.json", model_type="own", architectures=[f"Own{name}"], auto_map=classes)
    return folder


def marked(folder, mark):
    """Make each module of a model write the file ``mark`` when it is imported."""
    for path in folder.rglob("*.py"):
        text = path.read_text()
        path.write_text(f"{text}\nopen({json.dumps(str(mark))}, 'w').close()\n")
    return folder
