"""Compute statistics of this paper alone."""
