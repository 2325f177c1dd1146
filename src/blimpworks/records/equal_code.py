"""Versions of code that give the same numbers, so that what one has scored the other need not."""

from blimpworks.records.digest import code_digest

EQUAL: dict[str, str] = {
    "c0777d3578286b2e": "301aa942822323ee",  # kenlm ngram
    "517f65e4a2141d99": "0e2ba6cd296f855a",  # lstm lstm
    "8811957318b57928": "e8532865d0f0cd72",  # transformers causal
    "76ab1bcaff0678ca": "937def9329af31bc",  # transformers encoder-decoder
    "5a00bae602c60759": "99c66cf510640024",  # transformers masked
    "dd4746e7ac2cf45e": "cf22ff34dc257724",  # vllm causal
}
"""Digest of an engine's code that gives the same numbers as an earlier one, and the digest of that.

A row is added after a comparison (docs/engines.md, "What stays valid"). Other code, such as an
edited engine's, has no row, and scores under its own digest.
"""


def number_digest(*entries: str) -> str:
    """Digest of the code behind entry points (``module:name``), or of an earlier equal version."""
    digest = code_digest(*entries)
    return EQUAL.get(digest, digest)
