"""Statistics that MultiBLiMP 1.0 alone has: what drives accuracy and margins, which model leads."""
