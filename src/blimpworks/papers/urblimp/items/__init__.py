"""Items of UrBLiMP, by rules over treebanks."""
