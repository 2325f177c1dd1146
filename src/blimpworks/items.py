"""What items of all benchmarks have in common."""

from hashlib import blake2b


def item_id(*parts: object) -> str:
    """Content hash of a pair's defining parts: 16 hexadecimal digits."""
    return blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).hexdigest()
