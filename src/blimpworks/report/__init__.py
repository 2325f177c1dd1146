"""Build the reproduction report: a static site of printed, recomputed and measured numbers."""
