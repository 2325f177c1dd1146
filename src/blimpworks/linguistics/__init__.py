"""Read treebanks, unify spelling, and apply regular expressions, for benchmarks of any language."""
