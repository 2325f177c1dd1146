"""Train and retrieve language models as checkpoints."""
