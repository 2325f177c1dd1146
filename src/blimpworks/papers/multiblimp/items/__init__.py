"""Make MultiBLiMP's items from treebanks, or read them from the release."""
