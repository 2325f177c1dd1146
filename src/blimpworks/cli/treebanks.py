"""Commands that prepare treebanks."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from blimpworks.campaign.settings.campaign import TreebankOptions
from blimpworks.commands.declare import READ, WRITTEN, Use, recorded
from blimpworks.commands.options import settings


def _treebanks(files: Sequence[Path]) -> list[str]:
    """Name of each file's treebank: its directory's."""
    return [path.absolute().parent.name for path in files]


@recorded(
    "blimpworks.linguistics.treebanks.build:build_tokens",
    packages=("conllu", "numpy", "pyarrow"),
    pandas=False,
)
def build_tokens(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="CoNLL-U files of one language; the directory of each names its treebank.",
        ),
        Use(reads=READ.reads, records=lambda _, files: {"treebanks": _treebanks(files)}),
    ],
    tokens: Annotated[Path, typer.Option(help="The tokens table to write."), WRITTEN],
    sentences: Annotated[Path, typer.Option(help="The sentences table to write."), WRITTEN],
    malformed: Annotated[
        Path, typer.Option(help="The report to write of sentences left out."), WRITTEN
    ],
    options: Annotated[
        TreebankOptions,
        typer.Option(
            help="The treebanks section of a campaign, as JSON.", **settings(TreebankOptions)
        ),
    ],
) -> Mapping[str, Any]:
    """Read the treebanks of a language into tables of tokens and sentences."""
    from blimpworks.linguistics.treebanks.build import build_tokens as build

    named = [*zip(_treebanks(files), files, strict=True)]
    counts = build(named, tokens, sentences, malformed, options)
    logging.info("build-tokens: %s", ", ".join(f"{n} {what}" for what, n in counts.items()))
    return counts
