"""Declaring commands, looking them up by name, and their common options."""
