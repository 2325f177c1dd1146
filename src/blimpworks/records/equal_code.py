"""Versions of code with equal numbers: scores made by one stay valid under the other."""

from blimpworks.records.digest import code_digest

EQUAL: dict[str, str] = {
    "70ff556488fd6011": "301aa942822323ee",  # kenlm ngram
    "1bd7124d400ed13e": "0e2ba6cd296f855a",  # lstm lstm
    "82d38f53550461f4": "e8532865d0f0cd72",  # transformers causal
    "9e1a020854c2aa34": "937def9329af31bc",  # transformers encoder-decoder
    "848646489e665c18": "99c66cf510640024",  # transformers masked
    "d977279bfa848d1c": "cf22ff34dc257724",  # vllm causal
}
"""Digest of an engine's code, and the digest of an earlier version with the same numbers.

Rows are added after a comparison (docs/engines.md, "What stays valid"). Code without a row scores
under its own digest.
"""


def number_digest(*entries: str) -> str:
    """Return the digest of the code behind entry points, or of an earlier equal version."""
    digest = code_digest(*entries)
    return EQUAL.get(digest, digest)
