"""Turn sentences into token log-probabilities."""
