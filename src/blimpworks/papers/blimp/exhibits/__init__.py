"""Exhibits of BLiMP (Warstadt et al. 2020)."""
