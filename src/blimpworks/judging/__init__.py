"""From token log-probabilities to judgements: methods, rounding, ties."""
