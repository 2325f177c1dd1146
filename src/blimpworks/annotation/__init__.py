"""Sheets that people fill in with a spreadsheet."""
