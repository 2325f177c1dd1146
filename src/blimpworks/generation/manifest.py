"""Define the manifest of a model's answers."""

from blimpworks.scoring.run import Manifest


class GenerationManifest(Manifest):
    """Names the shards with the answers to a model's prompts, which ``sentences`` counts."""

    system: bool
    """Whether system prompts were sent: it has a chat template, and the options ask for them."""
