"""What made every product: recorded when it is written, read back by the audit commands."""
