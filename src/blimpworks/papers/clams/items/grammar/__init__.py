"""Attribute-varying grammars: the small language that CLAMS's evaluation sets are written in."""
