"""What a pair counts as when its two sentences tie, by benchmark, variant and method.

A policy is data, so a reader can compare them; a campaign may set another. Near ties are no
matter of policy: they count as what they are, and are reported beside (see ``judging.judge``).
"""

from blimpworks.campaign.paper import ANY
from blimpworks.campaign.registry import benchmarks, find_benchmark
from blimpworks.campaign.settings.base import TiePolicy, Variant
from blimpworks.errors import UserError

TIES: dict[str, float] = {"wrong": 0.0, "right": 1.0, "half": 0.5}
"""What a tie counts as."""


def tie_policy(benchmark: str, variant: Variant, method: str) -> TiePolicy:
    """What ties of ``method`` count as on ``benchmark``.

    Raises UserError for a benchmark that has no pairs, or is unknown.
    """
    policies = find_benchmark(benchmark).ties
    if variant not in policies:
        known = ", ".join(name for name, each in benchmarks().items() if each.ties)
        raise UserError(f"{benchmark} ({variant}) has no policy for ties; expected one of {known}.")
    return policies[variant].get(method, policies[variant][ANY])
