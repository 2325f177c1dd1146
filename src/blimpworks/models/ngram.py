"""Train n-gram models by KenLM's programs, and read those of others."""

import gzip
import logging
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from blimpworks.campaign.settings.training import NgramRecipe
from blimpworks.errors import UserError, reading
from blimpworks.files import atomic, sha256_of, write_text
from blimpworks.models.checkpoint import (
    SCRATCH,
    Checkpoint,
    Trained,
    clear,
    seal,
    trained_checkpoint,
)
from blimpworks.models.text import read_sentences
from blimpworks.models.weights import NGRAM_FILES
from blimpworks.models.words import split_words
from blimpworks.records.job import REPOSITORY

log = logging.getLogger(__name__)

MODEL, VOCABULARY = NGRAM_FILES
UNKNOWN, END = "<unk>", "</s>"
MEMORY = "1G"
PROGRAMS = ("lmplz", "build_binary")


def tool(name: str) -> str:
    """Find a KenLM program beside Python, in ``.tools/bin`` or on PATH. Raises UserError."""
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
        seen_words: set[str] = set()
        with corpus.open("w", encoding="utf-8", newline="\n") as handle:
            for sentence in read_sentences(text):
                pieces = [word for word, _ in split_words(sentence)]
                seen_words.update(pieces)
                handle.write(" ".join(pieces) + "\n")
        if not seen_words:
            raise UserError(f"{text} holds no word; expected training text, one sentence per line.")
        vocabulary = (UNKNOWN, END, *sorted(seen_words))
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


GZIP = b"\x1f\x8b"
BINARY = b"mmap lm http://kheafield.com/code format version "
VERSION = b"5\n"
"""Format version of KenLM's binaries since 2012."""
HAS_WORDS = 0x64
"""Offset in a binary of the flag for words after the numbers (``build_binary`` without -v)."""
COUNTS = 0x6C
"""Offset in a binary of the number of 1-grams, as 8 bytes."""
START, UPPER_UNKNOWN = "<s>", "<UNK>"
EXPECTED = "an n-gram model: an ARPA file (.arpa, .arpa.gz), or a binary of KenLM"
REMEDY = "Name another file, or write the model again."


def is_compressed(place: Path) -> bool:
    """Whether a file is compressed by gzip."""
    with place.open("rb") as handle:
        return handle.read(len(GZIP)) == GZIP


@contextmanager
def opened(place: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacked if compressed. Raises UserError for a damaged compressed file."""
    with gzip.open(place) if is_compressed(place) else place.open("rb") as handle:
        try:
            yield cast(IO[bytes], handle)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UserError(
                f"{place} is damaged ({error}); expected {EXPECTED}. {REMEDY}"
            ) from error


def is_binary(place: Path) -> bool:
    """Whether a file is KenLM's binary, else ARPA. Raises UserError for any other file."""
    with reading(place, EXPECTED, REMEDY), opened(place) as handle:
        head = handle.read(4096)
    if head.lstrip().startswith(b"\\data\\"):
        return False
    if not head.startswith(BINARY):
        raise UserError(f"{place} holds something else; expected {EXPECTED}. {REMEDY}")
    if not head[len(BINARY) :].startswith(VERSION) or is_compressed(place):
        wrong = "compressed" if is_compressed(place) else "of another version of KenLM"
        raise UserError(
            f"{place} is a binary {wrong}; expected one of format 5 as it is. Unpack it, or make "
            "it again from its ARPA file: build_binary FILE.arpa FILE.bin."
        )
    return True


def _arpa_words(place: Path) -> list[str]:
    """Read the words of the 1-grams. Raises UserError if they are missing or incomplete."""
    words: list[str] = []
    expected: int | None = None
    with reading(place, EXPECTED, REMEDY), opened(place) as handle:
        for line in handle:
            if line.startswith(b"ngram 1="):
                expected = int(line.partition(b"=")[2])
            if line.strip() == b"\\1-grams:":
                break
        for line in handle:
            cells = re.split(r"[\t ]+", line.decode("utf-8").strip("\r\n"))
            if len(cells) < 2:
                break
            words.append(cells[1])
        if len(words) != expected:
            raise ValueError(f"it has {len(words)} 1-grams and announces {expected or 'none'}")
    return words


def _binary_words(place: Path) -> list[str]:
    """Read the words at a binary's end. Raises UserError if they are missing or cut off."""
    remedy = "Make it again from its ARPA file, without -v: build_binary FILE.arpa FILE.bin."
    with (
        reading(place, "a binary of KenLM with its words", remedy),
        place.open("rb") as handle,
        mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        if len(content) < COUNTS + 8 or content[HAS_WORDS] != 1:
            raise ValueError("its words are not in it")
        count = int.from_bytes(content[COUNTS : COUNTS + 8], "little")
        start = content.rfind(UNKNOWN.encode() + b"\0")
        words = content[start:].decode("utf-8").split("\0")[:-1] if start > 0 else []
        # A model without <unk> is given one, which not every kind of binary counts.
        if len(words) not in (count, count + 1):
            raise ValueError(f"{len(words)} words are at its end and {count} were expected")
    return words


def read_vocabulary(place: Path) -> list[str]:
    """Read words: ``<unk>``, ``</s>``, then by code point. Raises UserError for no such model."""
    words = {*(_binary_words(place) if is_binary(place) else _arpa_words(place))}
    if END not in words:
        raise UserError(f"{place} has no 1-gram {END}, the end of a sentence; {REMEDY.lower()}")
    return [UNKNOWN, END, *sorted(words - {UNKNOWN, UPPER_UNKNOWN, START, END})]


def unpacked_bytes(place: Path) -> int:
    """Return an n-gram file's unpacked size, which gzip states for files under 4 GB."""
    if not is_compressed(place):
        return place.stat().st_size
    with place.open("rb") as handle:
        handle.seek(-4, 2)
        return max(int.from_bytes(handle.read(4), "little"), place.stat().st_size)
