"""Attribute-varying grammars, the language of CLAMS's evaluation sets."""
