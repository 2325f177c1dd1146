"""Treebanks: CoNLL-U read into columns."""
