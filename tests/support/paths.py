from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "tests" / "data"
PACKAGE = REPOSITORY / "src" / "blimpworks"
