"""blimpworks: rebuild the tables and figures of five papers on linguistic competence."""

__version__ = "0.1.0"
