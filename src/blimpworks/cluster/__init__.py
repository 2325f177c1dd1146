"""Running on a cluster: what jobs ask for, what became of them, and how far they are."""
