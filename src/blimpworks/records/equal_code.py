"""Versions of code that give the same numbers, so that what one has scored the other need not."""

from blimpworks.records.digest import code_digest

EQUAL: dict[str, str] = {
    "46742cfac5e17f51": "301aa942822323ee",  # kenlm ngram
    "e9e1b9a62b63cdba": "0e2ba6cd296f855a",  # lstm lstm
    "87037d51dd55b584": "e8532865d0f0cd72",  # transformers causal
    "26200d3cdbbd6a67": "937def9329af31bc",  # transformers encoder-decoder
    "e0adbfd1f7c41b89": "99c66cf510640024",  # transformers masked
    "a620ceb1a885a3ad": "cf22ff34dc257724",  # vllm causal
}
"""Digest of an engine's code that gives the same numbers as an earlier one, and the digest of that.

A row is added after a comparison (docs/engines.md, "What stays valid"). Other code, such as an
edited engine's, has no row, and scores under its own digest.
"""


def number_digest(*entries: str) -> str:
    """Digest of the code behind entry points (``module:name``), or of an earlier equal version."""
    digest = code_digest(*entries)
    return EQUAL.get(digest, digest)
