"""How commands are declared, found by their names, and what they have in common."""
