"""Accuracies, tests and regressions from judgements and scores; languages' frequencies."""
