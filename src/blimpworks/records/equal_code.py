"""Versions of code with equal numbers: scores and answers of one stay valid under the other."""

from blimpworks.records.digest import code_digest

EQUAL: dict[str, str] = {
    "70ff556488fd6011": "301aa942822323ee",  # kenlm ngram
    "78d2e7cac4bf24f2": "0e2ba6cd296f855a",  # lstm lstm
    "73f1c32fcc5f5cc3": "e8532865d0f0cd72",  # transformers causal
    "40b1f0dd4e689f91": "937def9329af31bc",  # transformers encoder-decoder
    "5b848fcbb51d7f79": "99c66cf510640024",  # transformers masked
    "481195c8ad48dfe7": "cf22ff34dc257724",  # vllm causal
    "faf3f5ac92031958": "1657f03a30de3586",  # transformers, answers
    "b9ffa41418c1e655": "26cd7f834c988002",  # vllm, answers
}
"""Digest of an engine's code, and the digest of an earlier version with the same numbers.

Rows are added after a comparison (docs/engines.md, "What stays valid"). Code without a row scores
under its own digest.
"""


def number_digest(*entries: str) -> str:
    """Return the digest of the code behind entry points, or of an earlier equal version."""
    digest = code_digest(*entries)
    return EQUAL.get(digest, digest)
