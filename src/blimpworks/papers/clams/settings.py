"""Declare the settings of CLAMS (section ``clams`` of a campaign): pairs, methods, grammars."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from blimpworks.campaign.settings.base import Methods, Positive, TiePolicy, Variant, distinct
from blimpworks.strict import Strict

Lang = Annotated[str, Field(pattern=r"^[a-z]{3}$")]


class ClamsDecisions(Strict):
    """Points where the authors' code departs from the paper's text, or from what was meant.

    Each decision follows the campaign's ``variant`` unless it is set here.
    """

    alternates: Variant | None = None
    """published: if all items of a vary statement have attributes (``V[s]``), the grammatical
    sentence is also given as an ungrammatical one. A word with an item's name but without its
    attributes (``V[p]``) is lost, with all words before it. Of several varied words, the last one
    decides. corrected: no sentence is repeated, no word is lost, and all varied words decide. No
    released grammar is concerned."""
    counting: Variant | None = None
    """Accuracy of an LSTM on a set with c of n pairs right. published: (c + 1) / (n + 1), because
    the authors' script counts from 1; corrected: c / n."""
    capitals: Variant | None = None
    """published: with a capital first letter, the rest of the first word is lower-cased; corrected:
    it stays."""
    end: Variant | None = None
    """published: the sum leaves out the end-of-sentence symbol; corrected: it includes it, as "the
    total probability of each of the sentences" (section 5.2) asks for. Without effect if
    ``methods`` are given."""


class ClamsOptions(Strict):
    """The evaluation sets of CLAMS, and the methods that judge them."""

    variant: Variant = "published"
    """Behaviour of the authors' code, or of the paper's text where the two differ."""
    decisions: ClamsDecisions = ClamsDecisions()
    grammars: Annotated[tuple[Lang, ...], AfterValidator(distinct)] = ()
    """Languages with generated sets, by the grammars in ``catalogue.grammars`` or else by the
    authors' released ones; all others have the released sets."""
    per_paradigm: Positive | None = None
    """Most pairs of each set, taken evenly; null for all, as in the paper."""
    capitals: bool = True
    """Whether to judge the pairs of Table 1 with a capital first letter too (appendix B)."""
    methods: Methods | None = None
    """Methods that decide a pair for all models but masked ones: names, or ``name=expression``
    (docs/scoring.md). Exhibits show the first one; null for the method that ``end`` implies."""
    masked_methods: Methods = ("masked_critical_word",)
    """Methods for masked models (section 5.2)."""
    ties: TiePolicy | None = None
    """Value of a tie; null for that of variant and method."""
    unknown_words: Literal["any", "critical", "score"] = "critical"
    """Pairs that models with a vocabulary of whole words leave out. any: pairs with an unknown
    word; critical: pairs with an unknown critical word; score: none. The authors' models know every
    word of their sets."""


def variant_of(options: ClamsOptions, decision: str) -> Variant:
    """Return the variant of a decision: the one set for it, or else that of the campaign."""
    chosen: Variant | None = getattr(options.decisions, decision)
    return chosen or options.variant


def methods_of(options: ClamsOptions, architecture: str) -> Methods:
    """Return the methods that decide a pair for models of an architecture (section 5.2)."""
    if architecture == "masked":
        return options.masked_methods
    published = variant_of(options, "end") == "published"
    return options.methods or (("without_end",) if published else ("full_sentence",))


def counts_one_more(options: ClamsOptions, architecture: str) -> bool:
    """Tell whether accuracy is (c + 1) / (n + 1), with c of n pairs right, as the authors' is."""
    return architecture == "lstm" and variant_of(options, "counting") == "published"
