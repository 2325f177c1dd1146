"""What items of all benchmarks have in common."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

Thing = TypeVar("Thing")


def item_id(*parts: object) -> str:
    """Content hash of a pair's defining parts: 16 hexadecimal digits."""
    return blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).hexdigest()


def evenly(pairs: Sequence[Thing], most: int | None) -> Sequence[Thing]:
    """At most ``most`` of some things, evenly spaced; all of them for None."""
    if most is None or len(pairs) <= most:
        return pairs
    return [pairs[i * len(pairs) // most] for i in range(most)]
