"""Tables and figures of MultiBLiMP 1.0 (Jumelet, Weissweiler, Nivre and Bisazza 2025)."""
