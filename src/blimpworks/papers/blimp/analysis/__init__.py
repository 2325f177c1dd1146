"""Statistics that this paper alone has."""
