"""Commands that prepare treebanks."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blimpworks.campaign.settings.campaign import TreebankOptions
from blimpworks.commands.declare import READ, Use, recorded
from blimpworks.commands.options import argument, settings, written


def _treebanks(files: Sequence[Path]) -> list[str]:
    """Name of each file's treebank: its directory's."""
    return [path.absolute().parent.name for path in files]


@recorded(
    "blimpworks.linguistics.treebanks.build:build_tokens",
    packages=("conllu", "numpy", "pyarrow"),
    pandas=False,
)
def build_tokens(
    files: list[Path] = argument(
        "CoNLL-U files of one language; the directory of each names its treebank.",
        metavar="FILE...",
        use=Use(reads=READ.reads, records=lambda _, files: {"treebanks": _treebanks(files)}),
    ),
    tokens: Path = written("The tokens table to write."),
    sentences: Path = written("The sentences table to write."),
    malformed: Path = written("The report to write of sentences left out."),
    options: TreebankOptions = settings(
        TreebankOptions, "The treebanks section of a campaign, as JSON."
    ),
) -> Mapping[str, Any]:
    """Read the treebanks of a language into tables of tokens and sentences."""
    from blimpworks.linguistics.treebanks.build import build_tokens as build

    named = [*zip(_treebanks(files), files, strict=True)]
    counts = build(named, tokens, sentences, malformed, options)
    logging.info("build-tokens: %s", ", ".join(f"{n} {what}" for what, n in counts.items()))
    return counts
