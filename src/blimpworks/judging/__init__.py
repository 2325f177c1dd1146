"""Judge token log-probabilities: methods, rounding, ties."""
