"""Loaded once, by the process that commands of tests are forked from: no module of ours."""

import pandas as pd  # noqa: F401
import pyarrow.parquet as pq  # noqa: F401
import pydantic.json_schema
import typer.main  # noqa: F401
from snakemake.cli import parse_args

# What commands load when they begin to work: plugins, schemas and what is printed with.
parse_args(["-n"])
pydantic.TypeAdapter(int).json_schema()
