"""Compare printed numbers with recomputed and measured ones."""
