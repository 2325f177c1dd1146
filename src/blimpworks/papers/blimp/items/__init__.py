"""BLiMP's items."""
