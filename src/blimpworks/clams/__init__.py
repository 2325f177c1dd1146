"""CLAMS: its evaluation sets."""
