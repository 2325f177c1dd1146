"""Running on a cluster: what jobs ask for, how their attempts end, and how far they are."""
