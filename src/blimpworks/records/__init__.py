"""Records that jobs write about themselves, journals of attempts, and digests of code."""
