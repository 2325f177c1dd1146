"""Versions of code that give the same numbers, so that what one has scored the other need not."""

from blimpworks.records.digest import code_digest

EQUAL: dict[str, str] = {
    "46742cfac5e17f51": "301aa942822323ee",  # kenlm ngram
    "2f18403fae651652": "0e2ba6cd296f855a",  # lstm lstm
    "51025716766a3d83": "e8532865d0f0cd72",  # transformers causal
    "530575a45372a480": "937def9329af31bc",  # transformers encoder-decoder
    "b012c7d021f89072": "99c66cf510640024",  # transformers masked
    "abdd194189c1dd12": "cf22ff34dc257724",  # vllm causal
}
"""Digest of an engine's code that gives the same numbers as an earlier one, and the digest of that.

A row is added after a comparison (docs/engines.md, "What stays valid"). Other code, such as an
edited engine's, has no row, and scores under its own digest.
"""


def number_digest(*entries: str) -> str:
    """Digest of the code behind entry points (``module:name``), or of an earlier equal version."""
    digest = code_digest(*entries)
    return EQUAL.get(digest, digest)
