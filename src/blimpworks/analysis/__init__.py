"""From judgements to accuracies."""
