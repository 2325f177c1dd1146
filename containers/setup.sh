#!/usr/bin/env bash
# Fill an image, for both recipes beside this file.
# Usage: setup.sh ENVIRONMENT, as root on a bare Debian, with envs/ beside this directory
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1
apt-get update -qq
# vLLM and torch compile small programs when they run: a compiler and Python's headers stay in the image.
apt-get install -y -qq --no-install-recommends ca-certificates g++ procps python3-dev > /dev/null
bash "$(dirname "$0")/../envs/install.sh" "$1" /opt/blimpworks
apt-get clean
rm -rf /var/lib/apt/lists/*
