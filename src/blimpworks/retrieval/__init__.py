"""Download pinned files, resume broken downloads, and verify checksums."""
