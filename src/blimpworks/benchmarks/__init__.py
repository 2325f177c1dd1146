"""Benchmarks that are data alone: a declaration, its files, and how their items are judged."""
