"""Settings of CLAMS: which evaluation sets, how they are judged, where code and paper part."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from blimpworks.campaign.settings.base import Method, Positive, TiePolicy, Variant, distinct
from blimpworks.strict import Strict

Lang = Annotated[str, Field(pattern=r"^[a-z]{3}$")]
Methods = Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)]


class ClamsDecisions(Strict):
    """Where the authors' code departs from the paper's text, or from what was meant.

    Each decision follows ``variant`` of the campaign unless it is set here.
    """

    alternates: Variant | None = None
    """published: a vary statement with attributes yields the grammatical string once more, as an
    ungrammatical one, and loses words that its name has without them, and the last varied word
    alone decides; corrected: it does neither, and all varied words decide. No released grammar
    is touched by it."""
    counting: Variant | None = None
    """published: a correct item too many is counted in each set of sentences that an LSTM is
    tested on, (c + 1) / (n + 1); corrected: c / n."""
    capitals: Variant | None = None
    """published: a capital first letter turns the rest of the first word to lower case;
    corrected: it leaves it."""
    end: Variant | None = None
    """published: the end-of-sentence symbol is not among the words summed up; corrected: it is,
    as "the total probability of each of the sentences" (section 5.2) asks for. Of no effect
    where ``methods`` are given."""


class ClamsOptions(Strict):
    """The evaluation sets of CLAMS and how they are judged."""

    variant: Variant = "published"
    """Behaviour of the authors' code, or of the paper's text where the two differ."""
    decisions: ClamsDecisions = ClamsDecisions()
    grammars: Annotated[tuple[Lang, ...], AfterValidator(distinct)] = ()
    """Languages whose sets are generated here, by the grammars in ``catalogue.grammars`` or
    else by those that the authors released; all others have the released sets."""
    per_paradigm: Positive | None = None
    """At most so many pairs of each set, evenly from all of it; null for all, as in the paper."""
    capitals: bool = True
    """Whether the pairs of Table 1 also stand with a capital first letter (appendix B)."""
    methods: Methods | None = None
    """How models other than masked ones decide a pair: names of methods, or ``name=expression``
    (docs/scoring.md), the first one is shown in exhibits; null for what ``end`` says."""
    masked_methods: Methods = ("masked_critical_word",)
    """The same of masked models (section 5.2)."""
    ties: TiePolicy | None = None
    """What equal values count as; null for what variant and method have."""
    unknown_words: Literal["any", "critical", "score"] = "critical"
    """Pairs that models with a vocabulary of whole words do without: those with any unknown
    word, those whose critical words are unknown, or none. The authors' models know every word
    of their sets."""


def variant_of(options: ClamsOptions, decision: str) -> Variant:
    """Return the variant of a decision: its own, or else the campaign's."""
    chosen: Variant | None = getattr(options.decisions, decision)
    return chosen or options.variant


def methods_of(options: ClamsOptions, architecture: str) -> tuple[Method, ...]:
    """Return the methods that decide a pair for models of an architecture (section 5.2)."""
    if architecture == "masked":
        return options.masked_methods
    published = variant_of(options, "end") == "published"
    return options.methods or (("without_end",) if published else ("full_sentence",))


def counts_one_more(options: ClamsOptions, architecture: str) -> bool:
    """Tell whether each set counts a correct item too many, as in the authors' LSTM script."""
    return architecture == "lstm" and variant_of(options, "counting") == "published"
