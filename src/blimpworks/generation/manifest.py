"""The manifest of a model's answers."""

from blimpworks.scoring.run import Manifest


class GenerationManifest(Manifest):
    """Which shards hold the answers to a model's prompts; ``sentences`` counts the prompts."""

    system: bool
    """Whether the model was told system prompts: it has a chat template, and was to."""
