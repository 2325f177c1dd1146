"""The papers' tables and figures, each a function of tables."""
