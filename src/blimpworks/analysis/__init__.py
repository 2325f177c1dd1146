"""Compute accuracies, baselines and tests from judgements, and compare scoring variants."""
