"""Train n-gram models by KenLM's programs, and read the words of n-gram files.

``train_ngram`` trains; ``read_vocabulary`` reads words. An n-gram file is text in the format ARPA,
perhaps compressed, or a binary of KenLM. A line of ARPA has a log10 probability, an n-gram and a
back-off weight: ``-1.2 the dog -0.3``.
"""

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
from blimpworks.models import checkpoint as checkpoints
from blimpworks.models.text import read_sentences, split_words
from blimpworks.records.job import REPOSITORY

log = logging.getLogger(__name__)

MODEL, VOCABULARY = checkpoints.NGRAM_FILES
UNKNOWN, END = "<unk>", "</s>"
MEMORY = "1G"  # memory for lmplz
PROGRAMS = ("lmplz", "build_binary")


def tool(name: str) -> str:
    """Find a KenLM program beside Python, in ``.tools/bin`` or on PATH, else raise UserError."""
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
    """Return the SHA-256 of each KenLM program that training runs, by name."""
    return {name: sha256_of(Path(tool(name))) for name in PROGRAMS}


def _run(name: str, *arguments: str) -> None:
    process = subprocess.run([tool(name), *arguments], capture_output=True, text=True, check=False)
    if process.returncode != 0:
        lines = [line.strip() for line in process.stderr.splitlines() if line.strip()]
        reason = lines[-1] if lines else "no message"
        raise UserError(
            f"{name} {' '.join(arguments)} failed with exit code {process.returncode}: "
            f"{reason}. Check that the training text is not almost empty."
        )


def train_ngram(
    text: Path, checkpoint: Path, *, name: str, scope: str, recipe_name: str, recipe: NgramRecipe
) -> checkpoints.Checkpoint:
    """Estimate an n-gram model on ``text``, one sentence per line, and replace an earlier model.

    The smoothing is modified Kneser-Ney, with constants for discounts that a small text does not
    determine. Writes the KenLM trie ``model.bin`` and ``vocabulary.txt`` (see ``read_vocabulary``)
    beside ``checkpoint``, then ``checkpoint``. Another run writes the same bytes. Raises UserError
    if KenLM is not installed or fails, the text is empty, or the directory has other files.
    """
    directory = checkpoint.parent
    checkpoints.clear(directory)
    with tempfile.TemporaryDirectory(dir=directory, prefix=checkpoints.SCRATCH) as folder:
        corpus, arpa = Path(folder, "corpus.txt"), Path(folder, "model.arpa")
        seen_words: set[str] = set()
        with corpus.open("w", encoding="utf-8", newline="\n") as handle:
            for sentence in read_sentences(text):
                sentence_words = [word for word, _ in split_words(sentence)]
                seen_words.update(sentence_words)
                handle.write(" ".join(sentence_words) + "\n")
        if not seen_words:
            raise UserError(f"{text} holds no word; expected training text, one sentence per line.")
        vocabulary = (UNKNOWN, END, *sorted(seen_words))
        write_text(directory / VOCABULARY, "".join(f"{word}\n" for word in vocabulary))
        settings = ("-o", str(recipe.order), "--discount_fallback", "-S", MEMORY, "-T", folder)
        _run("lmplz", *settings, "--text", str(corpus), "--arpa", str(arpa))
        with atomic(directory / MODEL) as temporary:
            _run("build_binary", "-T", folder, "trie", str(arpa), str(temporary))
    log.info("%s: %d-gram model of %s", directory, recipe.order, text)
    source = checkpoints.Trained(
        recipe=recipe_name, settings=recipe.model_dump(), seed=None, text_sha256=sha256_of(text)
    )
    described = checkpoints.trained_checkpoint(name, scope, "ngram", source)
    return checkpoints.seal(checkpoint, described)


GZIP = b"\x1f\x8b"  # first bytes of a compressed file
BINARY = b"mmap lm http://kheafield.com/code format version "  # first bytes of a binary
VERSION = b"5\n"
"""Version of the format of KenLM's binaries since 2012."""
HAS_WORDS = 0x64
"""Offset of a byte that is 1 if the words are at a binary's end (``build_binary`` without -v)."""
COUNTS = 0x6C
"""Offset of the 8 bytes with a binary's number of 1-grams."""
START, UPPER_UNKNOWN = "<s>", "<UNK>"  # words of n-gram files, but of no text, so without ids
EXPECTED = "an n-gram model: an ARPA file (.arpa, .arpa.gz), or a binary of KenLM"
REMEDY = "Name another file, or write the model again."


def is_compressed(path: Path) -> bool:
    """Return whether a file is compressed by gzip."""
    with path.open("rb") as handle:
        return handle.read(len(GZIP)) == GZIP


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, decompressed. Raises UserError for a damaged compressed file."""
    with gzip.open(path) if is_compressed(path) else path.open("rb") as handle:
        try:
            yield cast(IO[bytes], handle)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UserError(
                f"{path} is damaged ({error}); expected {EXPECTED}. {REMEDY}"
            ) from error


def is_binary(path: Path) -> bool:
    """Return whether a file is a binary of KenLM, not ARPA. Raises UserError for any other file."""
    with reading(path, EXPECTED, REMEDY), opened(path) as handle:
        head = handle.read(4096)
    if head.lstrip().startswith(b"\\data\\"):
        return False
    if not head.startswith(BINARY):
        raise UserError(f"{path} holds something else; expected {EXPECTED}. {REMEDY}")
    if not head[len(BINARY) :].startswith(VERSION) or is_compressed(path):
        wrong = "compressed" if is_compressed(path) else "of another version of KenLM"
        raise UserError(
            f"{path} is a binary {wrong}; expected one of format 5 as it is. Unpack it, or make "
            "it again from its ARPA file: build_binary FILE.arpa FILE.bin."
        )
    return True


def _arpa_words(path: Path) -> list[str]:
    """Read the words of an ARPA file's 1-grams. Raises UserError if some or all are missing."""
    vocabulary: list[str] = []
    expected: int | None = None
    with reading(path, EXPECTED, REMEDY), opened(path) as handle:
        for line in handle:
            if line.startswith(b"ngram 1="):
                expected = int(line.partition(b"=")[2])
            if line.strip() == b"\\1-grams:":
                break
        for line in handle:  # the lines after the heading, until an empty one
            cells = re.split(r"[\t ]+", line.decode("utf-8").strip("\r\n"))
            if len(cells) < 2:
                break
            vocabulary.append(cells[1])
        if len(vocabulary) != expected:
            count = len(vocabulary)
            raise ValueError(f"it has {count} 1-grams and announces {expected or 'none'}")
    return vocabulary


def _binary_words(path: Path) -> list[str]:
    """Read the words at the end of a binary. Raises UserError if some or all are missing."""
    remedy = "Make it again from its ARPA file, without -v: build_binary FILE.arpa FILE.bin."
    with (
        reading(path, "a binary of KenLM with its words", remedy),
        path.open("rb") as handle,
        mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        if len(content) < COUNTS + 8 or content[HAS_WORDS] != 1:
            raise ValueError("its words are not in it")
        count = int.from_bytes(content[COUNTS : COUNTS + 8], "little")
        start = content.rfind(UNKNOWN.encode() + b"\0")
        vocabulary = content[start:].decode("utf-8").split("\0")[:-1] if start > 0 else []
        # KenLM adds <unk> to a model without it, and counts it in only some types of binaries.
        if len(vocabulary) not in (count, count + 1):
            raise ValueError(f"{len(vocabulary)} words are at its end and {count} were expected")
    return vocabulary


def read_vocabulary(path: Path) -> list[str]:
    """Read words by id: ``<unk>``, ``</s>``, others by code point, no ``<s>``. Raises UserError."""
    vocabulary = {*(_binary_words(path) if is_binary(path) else _arpa_words(path))}
    if END not in vocabulary:
        raise UserError(f"{path} has no 1-gram {END}, the end of a sentence; {REMEDY.lower()}")
    return [UNKNOWN, END, *sorted(vocabulary - {UNKNOWN, UPPER_UNKNOWN, START, END})]


def unpacked_bytes(path: Path) -> int:
    """Return an n-gram file's unpacked size [bytes], or a lower bound if that exceeds 4 GiB."""
    if not is_compressed(path):
        return path.stat().st_size
    with path.open("rb") as handle:
        # gzip writes the unpacked size, modulo 4 GiB, into the last four bytes.
        handle.seek(-4, 2)
        return max(int.from_bytes(handle.read(4), "little"), path.stat().st_size)
