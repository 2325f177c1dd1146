"""The reproduction report: a static site of what is printed, recomputed and measured."""
