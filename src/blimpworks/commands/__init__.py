"""Declare commands, look them up by name, and share options."""
