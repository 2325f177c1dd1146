"""Sentences to token log-probabilities to judgements."""
