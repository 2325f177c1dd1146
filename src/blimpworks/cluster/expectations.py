"""What the items of a benchmark are expected to be like before they are built."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from blimpworks.campaign.benchmarks import LMENTRY, URBLIMP, declared_paradigms, paper_of
from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.methods import regional
from blimpworks.campaign.parts import Part, items_table
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.papers.blimp.paradigms import GENERATED, PHENOMENON_OF, RELEASED_PAIRS
from blimpworks.papers.clams.decisions import methods_of as clams_methods
from blimpworks.papers.clams.settings import ClamsOptions
from blimpworks.papers.urblimp.phenomena import PARADIGMS

PAIRS = 1240
"""Pairs of a language of MultiBLiMP whose number the paper does not give: its mean (about
125,000 in 101)."""
SENTENCE = 30.0
"""Tokens of a sentence (an assumption: treebank sentences have some 15 words, and multilingual
vocabularies cut words of most languages into about two)."""
URBLIMP_PAIRS = 9000
"""Pairs of UrBLiMP: some 2,000 of 1,087 sentences of UD_Urdu-UDTB; its training part, which the
mirror lacks, has 4,043 more."""
TOKENS = {"clams": 10.0, "blimp": 11.0, GENERATED: 11.0, URBLIMP: 55.0}
"""The same of benchmarks that are otherwise. CLAMS's sentences have 8.7 words
(7.6 to 9.9 by language, the stop counted) and an end, and its words are frequent ones; BLiMP's
8.5 with the stop, some of them cut in two; UDTB's 27."""
CRITICAL = 2.0
"""Tokens of a critical region, which is one word in most pairs."""


class ClamsSets(NamedTuple):
    """Evaluation sets of CLAMS in a language."""

    sets: int
    pairs: int
    capitals: int
    """Pairs that stand again with a capital first letter."""


CLAMS = {
    "eng": ClamsSets(22, 157_346, 51_780),
    "fra": ClamsSets(7, 49_360, 49_360),
    "deu": ClamsSets(7, 47_820, 47_820),
    "heb": ClamsSets(7, 40_820, 0),
    "rus": ClamsSets(7, 40_120, 40_120),
}
"""As released (half the lines of the files). The English ones are Marvin and Linzen's; those of
the seven constructions, with animate nouns, have capitals."""
CLAMS_OURS = ClamsSets(7, 51_780, 51_780)
"""By grammars of ours: like the seven English ones."""
CONSTRUCTIONS = 7
"""Sets that stand with capitals too."""


PROMPTS = 106_000
"""Prompts of a language of Multi-LMentry: the paper's mean (Table 2: 956,244 in nine)."""
TEMPLATES = 118
"""Templates of a language, those of subsets too: of at most 1,000 prompts each, from Table 54
(some have a few dozen prompts)."""
PROMPT = 60.0
"""Tokens of a prompt with system prompt and chat template (an assumption)."""
WRITTEN = 4.0
"""What a written token costs, to one that is read or scored: each goes through the model by
itself, in step with the others of its batch (an assumption)."""


class Expectation(NamedTuple):
    """What an items table is expected to hold for a model."""

    pairs: int
    """Rows of the table: pairs, or prompts."""
    tokens: float
    """Of a sentence, those that the model has to score; of a prompt, what reading it and
    writing the longest answer costs, in tokens that are scored."""
    texts: int = 2
    """Of a row: a pair has two sentences, a prompt is one. Texts that rows share are done once,
    so this is the most."""


ExpectationsOf = Callable[[Part], Mapping[Path, Expectation]]
"""What is expected of each items table that a part scores."""


def _clams_pairs(options: ClamsOptions, lang: str) -> int:
    # The authors released no English grammars, so sets that are generated are by ours.
    ours = lang in options.grammars and lang == "eng"
    found = CLAMS_OURS if ours else CLAMS.get(lang, CLAMS_OURS)
    most = options.per_paradigm or found.pairs
    capitals = min(found.capitals, most * CONSTRUCTIONS) if options.capitals else 0
    return min(found.pairs, most * found.sets) + capitals


def _blimp_pairs(campaign: Campaign, benchmark: str) -> int:
    if benchmark == GENERATED:
        paradigms, made = len(declared_paradigms(campaign)), campaign.blimp.pairs
    else:
        paradigms, made = len(PHENOMENON_OF), RELEASED_PAIRS
    return paradigms * min(made, campaign.blimp.per_paradigm or made)


def expected_pairs(campaign: Campaign, catalogue: Catalogue, benchmark: str, lang: str) -> int:
    """Pairs of a language: the paper's number, or a mean; of CLAMS those of its released sets.

    Of Multi-LMentry its prompts.

    Of BLiMP those of its 67 paradigms, or of all that are declared where they are generated.
    """
    if benchmark == "clams":
        return _clams_pairs(campaign.clams, lang)
    if paper_of(benchmark) == "blimp":
        return _blimp_pairs(campaign, benchmark)
    if benchmark == LMENTRY:
        return min(PROMPTS, TEMPLATES * (campaign.lmentry.per_template or PROMPTS))
    if benchmark == URBLIMP:
        most = campaign.urblimp.per_paradigm
        return min(URBLIMP_PAIRS, most * len(PARADIGMS)) if most else URBLIMP_PAIRS
    return catalogue.languages[lang].paper_n or PAIRS


def scores_regions(campaign: Campaign, row: ModelRow, benchmark: str) -> bool:
    """Whether a model scores critical regions alone: a masked one whose methods need no more."""
    if row.architecture != "masked":
        return False
    if benchmark == "clams":
        return regional(clams_methods(campaign.clams, row.architecture))
    return benchmark == "multiblimp" and regional(campaign.multiblimp.methods)


def _prompts(campaign: Campaign, number: int) -> Expectation:
    """What answering ``number`` prompts takes, if all answers run into the limit."""
    return Expectation(number, PROMPT + WRITTEN * campaign.lmentry.answers.max_tokens, texts=1)


def expected_items(campaign: Campaign, catalogue: Catalogue, part: Part) -> dict[Path, Expectation]:
    """What is expected of each items table that a part scores, whether it exists or not."""
    row = catalogue.models[part.model]
    found = {}
    for benchmark, lang in part.sets:
        if benchmark == LMENTRY:
            number = expected_pairs(campaign, catalogue, benchmark, lang)
            found[items_table(campaign, benchmark, lang)] = _prompts(campaign, number)
            continue
        partial = scores_regions(campaign, row, benchmark)
        tokens = CRITICAL if partial else TOKENS.get(benchmark, SENTENCE)
        pairs = expected_pairs(campaign, catalogue, benchmark, lang)
        found[items_table(campaign, benchmark, lang)] = Expectation(pairs, tokens)
    return found
