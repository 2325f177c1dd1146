"""Declare the settings of UrBLiMP (section ``urblimp`` of a campaign): pairs, methods, people."""

from pathlib import Path
from typing import Literal

from pydantic import field_validator

from blimpworks.annotation.options import ValidationOptions
from blimpworks.campaign.settings.base import Methods, Positive, TiePolicy, Variant
from blimpworks.strict import Strict

METHODS: dict[Variant, Methods] = {
    "published": ("perplexity", "full_sentence"),
    "corrected": ("full_sentence", "perplexity"),
}
"""Methods of each variant; the first is shown."""
PSEUDO = {"perplexity": "pseudo_perplexity"}
"""{method: its name for models that guess masked tokens}."""
BIDIRECTIONAL = ("masked", "encoder-decoder")
"""Architectures that predict a token from the tokens before and after it."""


class UrblimpOptions(Strict):
    """The pairs of UrBLiMP, made by rules from treebanks, and the methods that judge them."""

    variant: Variant = "published"
    """published: the sentence of lower (pseudo-)perplexity is preferred, a mean per token whatever
    the lengths; corrected: that of the higher sum of log-probabilities, because a deletion changes
    the number of tokens. Both are always judged."""
    languages: tuple[str, ...] | Literal["all"] = "all"
    """Languages of the campaign to make pairs in: a list, or all languages that have rules."""
    files: tuple[str, ...] | None = None
    """Treebank files that pairs are made of, by name; a language's other files remain for training
    text. All files are used if this is null, and in languages with none of the named files."""
    per_paradigm: Positive | None = None
    """Most pairs of each paradigm, taken evenly; null for all."""
    methods: Methods | None = None
    """Methods that decide a pair: names, or ``name=expression`` (docs/scoring.md).

    Exhibits show the first one; null for those of the variant. Models that guess masked tokens take
    ``pseudo_perplexity`` for ``perplexity``."""
    ties: TiePolicy | None = None
    """Value of a tie; null for that of the variant."""
    unknown_words: Literal["any", "critical", "score"] = "score"
    """Pairs that models with a vocabulary of whole words leave out. any: pairs with an unknown
    word; critical: pairs with an unknown critical word; score: none."""

    validation: ValidationOptions = ValidationOptions()
    annotations: tuple[Path, ...] = ()
    """Filled validation sheets; with any, people's accuracy and agreement are measured."""

    @field_validator("methods")
    @classmethod
    def _of_all_models(cls, methods: Methods | None) -> Methods | None:
        for plain, pseudo in PSEUDO.items():
            if pseudo in (methods or ()):
                raise ValueError(
                    f"{pseudo} is the name of {plain} for models that guess masked tokens, which "
                    f"replaces it; name {plain}"
                )
        return methods

    def methods_of(self, architecture: str) -> Methods:
        """Return the methods that decide a pair for models of an architecture (section 3.1)."""
        names = self.methods or METHODS[self.variant]
        pseudo = PSEUDO if architecture in BIDIRECTIONAL else {}
        return tuple(pseudo.get(name, name) for name in names)
