#!/usr/bin/env bash
# Run by Snakemake inside the conda environment once it is created.
set -euo pipefail
bash "$(dirname "$0")/build_kenlm.sh" "$CONDA_PREFIX"
