"""From judgements and scores to accuracies, tests and regressions; languages' frequencies."""
