"""Make the prompts of Multi-LMentry."""
