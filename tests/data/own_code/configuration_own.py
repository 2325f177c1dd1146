"""Configuration of two small models whose code is in no library."""

from transformers import PreTrainedConfig


class OwnConfig(PreTrainedConfig):
    model_type = "own"
