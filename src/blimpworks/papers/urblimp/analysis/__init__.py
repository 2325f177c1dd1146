"""Statistics of UrBLiMP alone."""
