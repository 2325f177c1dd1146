"""Load modules once, in the process that commands of tests are forked from, but none of ours."""

import pandas as pd  # noqa: F401
import pyarrow.parquet as pq  # noqa: F401
import pydantic.json_schema
import typer.main  # noqa: F401
from snakemake.cli import parse_args

# Commands load these when they begin to work: plugins, schemas and what prints.
parse_args(["-n"])
pydantic.TypeAdapter(int).json_schema()
