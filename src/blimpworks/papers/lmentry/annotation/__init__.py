"""People's judgements of answers: sheets that they fill in, and how far verdicts agree."""
