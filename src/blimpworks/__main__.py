"""Allow ``python -m blimpworks``."""

from blimpworks.cli import main

main()
