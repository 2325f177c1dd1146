"""Make checkpoints of this machine's models, directories or n-gram files."""

import hashlib
import logging
import os
import shutil
from pathlib import Path

from blimpworks.errors import UserError
from blimpworks.files import atomic, write_text
from blimpworks.models.checkpoint import (
    FILE_NAME,
    NGRAM_FILES,
    Checkpoint,
    Copied,
    clear,
    read_checkpoint,
    seal,
)
from blimpworks.models.converted import as_folder, origin_of
from blimpworks.models.facts import facts_of
from blimpworks.models.ngram import is_compressed, opened, read_vocabulary
from blimpworks.models.weights import model_files

log = logging.getLogger(__name__)


def place_file(source: Path, target: Path, *, linked: bool = False) -> None:
    """Hard link a file; where that is refused copy it, or link it symbolically if ``linked``."""
    with atomic(target) as temporary:
        try:
            os.link(source.resolve(), temporary)
        except OSError:
            if linked:
                temporary.symlink_to(source.resolve())
            else:
                shutil.copyfile(source, temporary)


def _take_ngram(place: Path, directory: Path) -> None:
    """Put an n-gram file and its words into a directory: unpacked, else linked or copied."""
    model, vocabulary = NGRAM_FILES
    write_text(directory / vocabulary, "".join(f"{word}\n" for word in read_vocabulary(place)))
    if not is_compressed(place):
        place_file(place, directory / model)
        return
    with (
        opened(place) as source,
        atomic(directory / model) as temporary,
        temporary.open("wb") as target,
    ):
        shutil.copyfileobj(source, target)


def take_local(
    name: str, scope: str, address: str, described: Checkpoint, checkpoint: Path, origin: str = ""
) -> Checkpoint:
    """Put a model's files, or its n-gram file, beside ``checkpoint``, and seal them there.

    ``address`` is only read. ``described`` says how the model is run; its source becomes the
    directory's or file's name and a digest of the files, or what it was converted of, from
    ``origin``. A model for one language may run on any (``multi``), with a warning. Raises
    UserError for a place without such a model, or one for another language.
    """
    place = Path(address).expanduser()
    folder = as_folder(place)
    facts = facts_of(folder, described.architecture)
    if scope == "multi" and facts.scope != "multi":
        log.warning(
            "%s: %s was trained for %s, and is run on any language.", name, folder, facts.scope
        )
    suits = scope == "multi" or facts.scope in ("multi", scope)
    if facts.architecture != described.architecture or not suits:
        raise UserError(
            f"model {name!r}: {folder} is a {facts.architecture} model ({facts.scope}); expected "
            f"{described.architecture} ({scope}). Correct its row in the table of models."
        )
    clear(checkpoint.parent)
    if folder.is_file():
        _take_ngram(folder, checkpoint.parent)
    else:
        if (folder / FILE_NAME).exists():
            files = [folder / name for name in sorted(read_checkpoint(folder / FILE_NAME).files)]
        else:
            files = model_files((path for path in folder.iterdir() if path.is_file()), str(folder))
        for path in files:
            place_file(path, checkpoint.parent / path.name)
    if converted := origin_of(folder, origin or place.name):
        return seal(checkpoint, described.model_copy(update={"source": converted}))
    sealed = seal(checkpoint, described)
    names = "\n".join(f"{name} {digest}" for name, digest in sealed.files.items())
    digest = hashlib.sha256(names.encode()).hexdigest()
    source = Copied(directory=folder.resolve().name, sha256=digest)
    return seal(checkpoint, described.model_copy(update={"source": source}))
