"""Versions of code with equal numbers: scores made by one stay valid under the other."""

from blimpworks.records.digest import code_digest

EQUAL: dict[str, str] = {
    "c0777d3578286b2e": "301aa942822323ee",  # kenlm ngram
    "517f65e4a2141d99": "0e2ba6cd296f855a",  # lstm lstm
    "8811957318b57928": "e8532865d0f0cd72",  # transformers causal
    "76ab1bcaff0678ca": "937def9329af31bc",  # transformers encoder-decoder
    "5a00bae602c60759": "99c66cf510640024",  # transformers masked
    "dd4746e7ac2cf45e": "cf22ff34dc257724",  # vllm causal
}
"""Digest of an engine's code, and the digest of an earlier version with the same numbers.

Rows are added after a comparison (docs/engines.md, "What stays valid"). Code without a row scores
under its own digest.
"""


def number_digest(*entries: str) -> str:
    """Return the digest of the code behind entry points, or of an earlier equal version."""
    digest = code_digest(*entries)
    return EQUAL.get(digest, digest)
