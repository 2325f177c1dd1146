"""Verbs that prepare treebanks."""

from pathlib import Path
from typing import Annotated

import typer


def build_tokens(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="CoNLL-U files of one language; the directory of each names its treebank.",
        ),
    ],
    tokens: Annotated[Path, typer.Option(help="The tokens table to write.")],
    sentences: Annotated[Path, typer.Option(help="The sentences table to write.")],
    malformed: Annotated[Path, typer.Option(help="The report to write of sentences left out.")],
    options: Annotated[str, typer.Option(help="The treebanks section of a campaign, as JSON.")],
) -> None:
    """Read the treebanks of a language into tables of tokens and sentences."""
    import logging

    from blimpworks.campaign.settings.campaign import TreebankOptions
    from blimpworks.campaign.settings.parsing import parse_options
    from blimpworks.linguistics.treebanks.build import build_tokens as build
    from blimpworks.records.job import Job

    parsed = parse_options(TreebankOptions, options)
    named = [(path.absolute().parent.name, path) for path in files]
    outputs = [tokens, sentences, malformed]
    params = {
        "treebanks": [name for name, _ in named],
        "options": parsed.model_dump(exclude_unset=True),
    }
    with Job("build_tokens", inputs=files, outputs=outputs, params=params) as job:
        counts = build(named, tokens, sentences, malformed, parsed)
        job.note(**counts)
    logging.info("build-tokens: %s", ", ".join(f"{n} {what}" for what, n in counts.items()))


def register(app: typer.Typer) -> None:
    """Add the verb ``build-tokens`` to ``app``."""
    app.command("build-tokens")(build_tokens)
