"""What every job writes about itself, and the digests of code that it names."""
