"""Language models: trained here or retrieved, one checkpoint format."""
