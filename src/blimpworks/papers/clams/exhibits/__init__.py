"""Tables and figures of CLAMS."""
