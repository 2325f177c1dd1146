"""Statistics of CLAMS alone."""
