"""Resources that several papers read: treebanks, and what is made of them."""
