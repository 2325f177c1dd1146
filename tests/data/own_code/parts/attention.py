"""Attention of both models."""

import torch
from torch.nn import functional


def attend(query, key, value, heads, mask=None, *, causal=False):
    """Attention [batch, tokens, width] with several heads."""

    def split(states):
        return states.unflatten(-1, (heads, -1)).transpose(1, 2)

    query, key = split(query), split(key)
    if causal:
        query, key = rotated(query), rotated(key)
    mixed = functional.scaled_dot_product_attention(
        query, key, split(value), mask, is_causal=causal
    )
    return mixed.transpose(1, 2).flatten(2)


def rotated(states):
    """Rotate pairs of features by their token's position."""
    size = states.shape[-1]
    rates = 10000.0 ** (-torch.arange(0, size, 2) / size)
    angles = torch.outer(torch.arange(states.shape[-2]), rates).repeat(1, 2)
    first, second = states.chunk(2, -1)
    return states * angles.cos() + torch.cat([-second, first], -1) * angles.sin()
