"""BLiMP (Warstadt et al. 2020): its released pairs, and a generator of pairs like them."""
