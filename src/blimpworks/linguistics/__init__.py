"""Treebanks, spelling and regular expressions, which several papers use."""
