"""How MultiBLiMP's items are made from treebanks, or read from the release."""
