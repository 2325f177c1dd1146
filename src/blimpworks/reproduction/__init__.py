"""Printed numbers: as tables, recomputed from one another, and beside measured ones."""
