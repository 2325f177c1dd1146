"""Verdicts on answers to Multi-LMentry's prompts: one engine, patterns from language packs."""
