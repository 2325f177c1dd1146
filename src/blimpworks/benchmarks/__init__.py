"""Benchmarks that need no code: declarations, their files, and judgements of their items."""
