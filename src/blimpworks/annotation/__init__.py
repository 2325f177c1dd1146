"""Validate items by people: lists of pairs, sheets to fill in with a spreadsheet, accuracies."""
