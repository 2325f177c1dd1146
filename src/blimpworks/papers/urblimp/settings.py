"""Settings of UrBLiMP: which pairs, how they are judged, and by which people."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from blimpworks.annotation.options import ValidationOptions
from blimpworks.campaign.settings.base import Method, Positive, TiePolicy, Variant, distinct
from blimpworks.strict import Strict

Methods = Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)]
BY_TOKEN: tuple[Method, ...] = ("perplexity", "full_sentence")
PSEUDO = {"perplexity": "pseudo_perplexity"}
"""What the same expression is called over the scores of models that guess masked tokens."""
GUESSING = ("masked", "encoder-decoder")


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
