"""Answers of models to prompts: engines, the store of answers, and removal of reasoning."""
