"""Methods that need no more of a sentence than its critical region."""

from collections.abc import Sequence

REGIONAL = frozenset({"critical_region"})


def regional(methods: Sequence[str]) -> bool:
    """Whether none of ``methods`` looks outside the critical region's tokens."""
    return all(name in REGIONAL for name in methods)
