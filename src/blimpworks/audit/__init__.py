"""Audit results by provenance records: origins of numbers, altered files, differences of runs."""
