"""UrBLiMP: minimal pairs of Urdu."""
