"""What a pair counts as when its two sentences tie, by benchmark, variant and method.

A policy is data, so a reader can compare them; a campaign may set another. Near ties are no
matter of policy: they count as what they are, and are reported beside (see ``judge``).
"""

from collections.abc import Mapping

from blimpworks.campaign.benchmarks import paper_of
from blimpworks.campaign.settings.base import TiePolicy, Variant
from blimpworks.errors import UserError

TIES: dict[str, float] = {"wrong": 0.0, "right": 1.0, "half": 0.5}
"""What a tie counts as."""
ANY = "any"
"""Stands for the methods that a benchmark has no line of their own for."""

POLICIES: dict[tuple[str, Variant], dict[str, TiePolicy]] = {
    # Section 6 counts P(good) > P(bad); text and code agree.
    ("multiblimp", "published"): {ANY: "wrong"},
    ("multiblimp", "corrected"): {ANY: "wrong"},
    # Strictly greater, in text and code. Seven pairs are twice the same sentence (2 of passive_1,
    # 5 of principle_A_case_2): wrong for every model, they cap those two at 99.8 and 99.5 %.
    # A model can't do better than chance on them, which is what half says.
    ("blimp", "published"): {ANY: "wrong"},
    ("blimp", "corrected"): {ANY: "half"},
    # The LSTM code wants a surprisal no greater than the other's, so that ties are right, which
    # two words outside the vocabulary always are; BERT's wants a strictly greater logit. Half
    # keeps a model that can't tell at chance in both.
    ("clams", "published"): {ANY: "right", "masked_critical_word": "wrong"},
    ("clams", "corrected"): {ANY: "half"},
    # Perplexity of the good sentence strictly lower (section 4).
    ("urblimp", "published"): {ANY: "wrong"},
    ("urblimp", "corrected"): {ANY: "wrong"},
}


def tie_policy(benchmark: str, variant: Variant, method: str) -> TiePolicy:
    """What ties of ``method`` count as on ``benchmark``.

    Raises UserError for a benchmark that has no pairs, or is unknown.
    """
    if (paper_of(benchmark), variant) not in POLICIES:
        known = ", ".join(dict.fromkeys(name for name, _ in POLICIES))
        raise UserError(f"{benchmark} ({variant}) has no policy for ties; expected one of {known}.")
    policies: Mapping[str, TiePolicy] = POLICIES[paper_of(benchmark), variant]
    return policies.get(method, policies[ANY])
