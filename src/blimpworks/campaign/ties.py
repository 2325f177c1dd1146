"""Policies for ties of a pair's sentences, by benchmark, variant and method.

A campaign may set another policy. Near ties are reported but count by their decision
(``judging.judge``).
"""

from blimpworks.campaign.paper import ANY
from blimpworks.campaign.registry import benchmarks, find_benchmark
from blimpworks.campaign.settings.base import TiePolicy, Variant
from blimpworks.errors import UserError

TIES: dict[str, float] = {"wrong": 0.0, "right": 1.0, "half": 0.5}
"""Value of a tie, by policy."""


def tie_policy(benchmark: str, variant: Variant, method: str) -> TiePolicy:
    """Return the policy for ties of ``method`` on ``benchmark``.

    Raises UserError for a benchmark without pairs, or an unknown one.
    """
    policies = find_benchmark(benchmark).ties
    if variant not in policies:
        known = ", ".join(name for name, each in benchmarks().items() if each.ties)
        raise UserError(f"{benchmark} ({variant}) has no policy for ties; expected one of {known}.")
    return policies[variant].get(method, policies[variant][ANY])
