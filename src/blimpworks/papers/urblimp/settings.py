"""Settings of UrBLiMP: which pairs, how they are judged, and by which people."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from blimpworks.campaign.settings.base import Method, Positive, TiePolicy, Variant, distinct
from blimpworks.strict import Strict

NotNegative = Annotated[int, Field(ge=0)]
Methods = Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)]
BY_TOKEN: tuple[Method, ...] = ("perplexity", "full_sentence")
PSEUDO = {"perplexity": "pseudo_perplexity"}
"""What the same expression is called over the scores of models that guess masked tokens."""
GUESSING = ("masked", "encoder-decoder")


class ValidationOptions(Strict):
    """Which pairs people judge, and how many of each (section 2.3 of the paper)."""

    participants: Positive = 17
    """People, each with a list of their own."""
    per_pair: Positive = 3
    """Judgements of each pair, by as many people; at most as many as there are."""
    per_paradigm: Positive = 57
    """Pairs of each paradigm that are drawn; 57, three judgements each and 17 people make about
    ten a paradigm and 191 in all on a list (the paper: about 190)."""
    checks: NotNegative = 8
    """Attention checks on each list: a sentence against its words in a scrambled order."""
    practice: NotNegative = 20
    """Pairs to practise on at the head of each list, which don't count."""
    seed: int = 2025
    """Of the draw, the lists and the scrambled orders."""
    check_threshold: float = Field(0.75, ge=0, le=1)
    """Share of a list's attention checks that a participant has to pass to be counted."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the lists, ``p01`` and on, until people give them theirs."""
        width = max(2, len(str(self.participants)))
        return tuple(f"p{number:0{width}}" for number in range(1, self.participants + 1))

    @model_validator(mode="after")
    def _enough_people(self) -> "ValidationOptions":
        if self.per_pair > self.participants:
            raise ValueError(
                f"per_pair is {self.per_pair}, expected at most participants "
                f"({self.participants}): nobody judges a pair twice"
            )
        return self


class UrblimpOptions(Strict):
    """The pairs of UrBLiMP, made by rules from treebanks, and how they are judged."""

    variant: Variant = "published"
    """published: the sentence of the lower (pseudo-)perplexity is preferred, so that a pair's
    sentences are compared by token whatever their lengths; corrected: that of the higher
    log-probability in sum, as a deletion changes the number of tokens. Both are always judged."""
    languages: tuple[str, ...] | Literal["all"] = "all"
    """Languages to make pairs in, of the campaign's: all that have rules, or these."""
    files: tuple[str, ...] | None = None
    """Treebank files that pairs are made of, by name: a language's other files are left to
    training text. Languages with none of these, and null: all."""
    per_paradigm: Positive | None = None
    """At most so many pairs of each paradigm, evenly from all of it; null for all."""
    methods: Methods | None = None
    """How a pair is decided: names of methods, or ``name=expression`` (docs/scoring.md), the
    first is the one that exhibits show; null for what the variant has. ``perplexity`` is
    ``pseudo_perplexity`` of models that guess masked tokens."""
    ties: TiePolicy | None = None
    """What equal values count as; null for what the variant has."""
    unknown_words: Literal["any", "critical", "score"] = "score"
    """Pairs that models with a vocabulary of whole words do without: those with any unknown
    word, those whose critical words are unknown, or none."""

    validation: ValidationOptions = ValidationOptions()
    annotations: tuple[Path, ...] = ()
    """Filled validation sheets; with any, people's accuracy and agreement are measured."""

    @field_validator("methods")
    @classmethod
    def _of_all_models(cls, methods: Methods | None) -> Methods | None:
        for plain, pseudo in PSEUDO.items():
            if pseudo in (methods or ()):
                raise ValueError(
                    f"{pseudo} is what {plain} is called of models that guess masked tokens; "
                    f"name {plain}"
                )
        return methods

    def methods_of(self, architecture: str) -> tuple[Method, ...]:
        """How models of an architecture decide a pair (section 3.1)."""
        by_default = BY_TOKEN if self.variant == "published" else BY_TOKEN[::-1]
        names = self.methods or by_default
        return tuple(PSEUDO.get(name, name) if architecture in GUESSING else name for name in names)
