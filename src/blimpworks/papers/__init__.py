"""The papers, a room each: all that is of one paper alone."""
