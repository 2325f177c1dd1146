"""Train n-gram models with modified Kneser-Ney smoothing by KenLM's programs."""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from blimpworks.campaign.settings.training import NgramRecipe
from blimpworks.errors import UserError
from blimpworks.files import atomic, sha256_of, write_text
from blimpworks.models.checkpoint import (
    NGRAM_FILES,
    SCRATCH,
    Checkpoint,
    Trained,
    clear,
    seal,
    trained_checkpoint,
)
from blimpworks.models.text import read_sentences
from blimpworks.models.words import split_words
from blimpworks.records.job import REPOSITORY

log = logging.getLogger(__name__)

MODEL, VOCABULARY = NGRAM_FILES
UNKNOWN, END = "<unk>", "</s>"
MEMORY = "1G"
PROGRAMS = ("lmplz", "build_binary")


def tool(name: str) -> str:
    """Return a KenLM program's path: beside this Python, in ``.tools/bin``, or on PATH.

    Conda's environments and images have their own. Raises UserError if it is in none.
    """
    local = REPOSITORY / ".tools" / "bin"
    beside = f"{Path(sys.executable).parent}{os.pathsep}{local}"
    program = shutil.which(name, path=beside) or shutil.which(name)
    if program is None:
        raise UserError(
            f"KenLM's program {name!r} is neither in {local} nor on PATH; "
            "build KenLM (target lmplz build_binary) and put its programs there."
        )
    return program


def program_digests() -> dict[str, str]:
    """Return the SHA-256 of each KenLM program that makes a model."""
    return {name: sha256_of(Path(tool(name))) for name in PROGRAMS}


def _run(name: str, *arguments: str) -> None:
    done = subprocess.run([tool(name), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = next((x for x in reversed(done.stderr.splitlines()) if x.strip()), "no message")
        raise UserError(
            f"{name} {' '.join(arguments)} failed with exit code {done.returncode}: "
            f"{reason.strip()}. Check that the training text is not almost empty."
        )


def train_ngram(
    text: Path, checkpoint: Path, *, name: str, scope: str, recipe_name: str, recipe: NgramRecipe
) -> Checkpoint:
    """Estimate an n-gram model on ``text``, one sentence per line.

    Modified Kneser-Ney smoothing; discounts that a small text cannot give fall back to constants.
    Writes beside ``checkpoint`` the KenLM trie ``model.bin`` and ``vocabulary.txt`` (ids are line
    numbers from 0: ``<unk>``, ``</s>``, then the words by code point), then ``checkpoint``. Removes
    an earlier model first. Repeats byte for byte.

    Raises UserError when KenLM is not installed or fails, the text is empty, or the directory holds
    other files.
    """
    directory = checkpoint.parent
    clear(directory)
    with tempfile.TemporaryDirectory(dir=directory, prefix=SCRATCH) as folder:
        corpus, arpa = Path(folder, "corpus.txt"), Path(folder, "model.arpa")
        words: set[str] = set()
        with corpus.open("w", encoding="utf-8", newline="\n") as handle:
            for sentence in read_sentences(text):
                pieces = [word for word, _ in split_words(sentence)]
                words.update(pieces)
                handle.write(" ".join(pieces) + "\n")
        if not words:
            raise UserError(f"{text} holds no word; expected training text, one sentence per line.")
        vocabulary = (UNKNOWN, END, *sorted(words))
        write_text(directory / VOCABULARY, "".join(f"{word}\n" for word in vocabulary))
        settings = ("-o", str(recipe.order), "--discount_fallback", "-S", MEMORY, "-T", folder)
        _run("lmplz", *settings, "--text", str(corpus), "--arpa", str(arpa))
        with atomic(directory / MODEL) as temporary:
            _run("build_binary", "-T", folder, "trie", str(arpa), str(temporary))
    log.info("%s: %d-gram model of %s", directory, recipe.order, text)
    source = Trained(
        recipe=recipe_name, settings=recipe.model_dump(), seed=None, text_sha256=sha256_of(text)
    )
    return seal(checkpoint, trained_checkpoint(name, scope, "ngram", source))
