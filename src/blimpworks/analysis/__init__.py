"""Accuracies, baselines and tests from judgements; parity of scoring variants."""
