"""Verbs that build MultiBLiMP: lexicon, candidates, agreement, pairs, sampling."""

from pathlib import Path
from typing import Annotated, Any

import typer

from blimpworks.campaign.settings.campaign import TreebankOptions
from blimpworks.campaign.settings.parsing import parse_options
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.records.job import Job

Lang = Annotated[str, typer.Option(help="ISO 639-3 code.")]
Input = Annotated[Path, typer.Option(help="Table to read.")]
Output = Annotated[Path, typer.Option(help="Table to write.")]
Options = Annotated[str, typer.Option(help="Settings of this stage, as JSON.")]
Special = Annotated[str, typer.Option(help="Treatments of its spelling, comma-separated.")]


def _params(lang: str, settings: MultiblimpOptions) -> dict[str, Any]:
    return {"lang": lang, "options": settings.model_dump(mode="json", exclude_unset=True)}


def _listed(special: str) -> list[str]:
    return [name for name in special.split(",") if name]


def build_lexicon(
    tokens: Input,
    output: Output,
    lang: Lang,
    special: Special,
    options: Options,
    unimorph: Annotated[list[Path] | None, typer.Argument(help="UniMorph tables.")] = None,
) -> None:
    """Make a language's lexicon from UniMorph tables and its treebanks."""
    from blimpworks.papers.multiblimp.items.lexicon import build_lexicon as build

    settings = parse_options(MultiblimpOptions, options)
    params = _params(lang, settings) | {"special": special}
    sources = [tokens, *(unimorph or [])]
    with Job("build_lexicon", inputs=sources, outputs=[output], params=params) as job:
        job.note(entries=build(tokens, unimorph or [], lang, _listed(special), output, settings))


def find_candidates(
    tokens: Input,
    output: Output,
    funnel: Output,
    lang: Lang,
    special: Special,
    options: Options,
    treebanks: Options,
) -> None:
    """Find the subjects and verbs that could agree."""
    from blimpworks.papers.multiblimp.items.candidates import find_candidates as find

    settings = parse_options(MultiblimpOptions, options)
    reading = parse_options(TreebankOptions, treebanks)
    params = _params(lang, settings) | {"special": special}
    params["treebanks"] = reading.model_dump(mode="json", exclude_unset=True)
    with Job("find_candidates", inputs=[tokens], outputs=[output, funnel], params=params) as job:
        counts = find(tokens, lang, _listed(special), output, funnel, settings, reading)
        job.note(counts=counts)


def measure_agreement(
    candidates: Input,
    lexicon: Input,
    output: Output,
    counts: Output,
    lang: Lang,
    options: Options,
) -> None:
    """Count and test how far a language's verbs agree with their subjects."""
    from blimpworks.papers.multiblimp.items.agreement import measure_agreement as measure

    settings = parse_options(MultiblimpOptions, options)
    params = _params(lang, settings)
    inputs = [candidates, lexicon]
    made = [output, counts]
    with Job("measure_agreement", inputs=inputs, outputs=made, params=params) as job:
        job.note(evidence=measure(candidates, lexicon, lang, output, counts, settings))


def build_pairs(
    candidates: Input,
    lexicon: Input,
    agreement: Input,
    tokens: Input,
    sentences: Input,
    output: Output,
    funnel: Output,
    lang: Lang,
    special: Special,
    options: Options,
) -> None:
    """Make every minimal pair that passes the checks."""
    from blimpworks.papers.multiblimp.items.pairs import PairInputs
    from blimpworks.papers.multiblimp.items.pairs import build_pairs as build

    settings = parse_options(MultiblimpOptions, options)
    params = _params(lang, settings) | {"special": special}
    inputs = [candidates, lexicon, agreement, tokens, sentences]
    with Job("build_pairs", inputs=inputs, outputs=[output, funnel], params=params) as job:
        treatments = _listed(special)
        found = build(PairInputs(*inputs), lang, treatments, output, funnel, settings)
        job.note(counts=found)


def sample_items(
    pairs: Input,
    output: Output,
    funnel: Output,
    lang: Lang,
    untested: Annotated[str, typer.Option(help="Constructions kept untested (sv, sp).")],
    options: Options,
) -> None:
    """Draw the balanced set of items from all pairs."""
    from blimpworks.papers.multiblimp.items.sampling import sample_items as sample

    settings = parse_options(MultiblimpOptions, options)
    params = _params(lang, settings) | {"untested": untested}
    with Job("sample_items", inputs=[pairs], outputs=[output, funnel], params=params) as job:
        job.note(counts=sample(pairs, lang, _listed(untested), output, funnel, settings))


def build_released_items(
    file: Annotated[Path, typer.Argument(help="Released file of a language, LANG/data.tsv.")],
    output: Output,
    lang: Lang,
    options: Options,
    revision: Annotated[str, typer.Option(help="Commit of the data set; empty if unknown.")] = "",
    pairs: Annotated[int | None, typer.Option(help="How many pairs the file must have.")] = None,
) -> None:
    """Make a language's items of the release's own pairs."""
    from blimpworks.papers.multiblimp.items.released import build_released_items as build

    settings = parse_options(MultiblimpOptions, options)
    params = _params(lang, settings) | {"revision": revision, "pairs": pairs}
    with Job("build_released_items", inputs=[file], outputs=[output], params=params) as job:
        job.note(items=build(file, lang, output, settings.phenomena, revision or None, pairs))


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    made = (build_lexicon, find_candidates, measure_agreement, build_pairs, sample_items)
    for verb in (*made, build_released_items):
        app.command()(verb)
