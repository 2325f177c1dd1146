"""Sheets that people fill in with a spreadsheet: written, read back and checked row by row."""
