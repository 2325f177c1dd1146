"""CLAMS: evaluation sets, and the grammars that generate them."""
