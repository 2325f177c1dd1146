"""Tables and figures of Multi-LMentry."""
