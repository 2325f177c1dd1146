"""Attention of both models."""

import torch
from torch.nn import functional


def attend(query, key, value, heads, mask=None, rates=None):
    """Attention [batch, tokens, width] with several heads; causal with ``rates``."""

    def split(states):
        return states.unflatten(-1, (heads, -1)).transpose(1, 2)

    query, key = split(query), split(key)
    if rates is not None:
        query, key = rotated(query, rates), rotated(key, rates)
    mixed = functional.scaled_dot_product_attention(
        query, key, split(value), mask, is_causal=rates is not None
    )
    return mixed.transpose(1, 2).flatten(2)


def rotated(states, rates):
    """Rotate pairs of features by their token's position, each pair at its rate."""
    angles = torch.outer(torch.arange(states.shape[-2]), rates).repeat(1, 2)
    first, second = states.chunk(2, -1)
    return states * angles.cos() + torch.cat([-second, first], -1) * angles.sin()
