"""Statistics that CLAMS alone has."""
