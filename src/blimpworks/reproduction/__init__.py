"""What the papers print: as tables, against what it is computed from, and beside our own."""
