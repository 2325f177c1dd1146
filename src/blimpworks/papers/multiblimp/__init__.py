"""MultiBLiMP 1.0: agreement minimal pairs from Universal Dependencies and UniMorph."""
