"""Running on a cluster: what jobs need, how long they take, how they fared."""
