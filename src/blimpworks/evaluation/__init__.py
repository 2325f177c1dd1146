"""Evaluating models on benchmarks with one command: request, run, report card, comparison."""
