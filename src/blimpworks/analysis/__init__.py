"""Turn judgements and scores into accuracies, tests and regressions; count languages' text."""
