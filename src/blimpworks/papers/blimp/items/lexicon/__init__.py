"""The lexicon that BLiMP's pairs are generated from: typed entries, inflection, restrictions."""
