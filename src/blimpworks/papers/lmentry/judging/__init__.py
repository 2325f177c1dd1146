"""Judge answers to Multi-LMentry's prompts with patterns from language packs."""
