#!/usr/bin/env bash
# Set up .venv and .tools for local runs and tests, or .vllm for scoring with vLLM.
# Usage: install.sh core|train|dev|vllm-cpu|vllm-cuda|vllm-bench [DIRECTORY]
# A DIRECTORY, as images have one, takes the place of all three, and gets what is pinned alone:
# the package is read from a checkout.
# Debian packages that are missing are installed when run as root on a Debian system.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=$1
uv=0.13.8
case $environment in
  vllm-*) venv=.vllm kenlm=no ;;
  *) venv=.venv kenlm=yes ;;
esac
venv=$(realpath -ms "${2:-$venv}")
tools=${2:+$venv}

missing=()
need() { command -v "$1" > /dev/null || missing+=("$2"); }
need python3 python3
need git git
python3 -c 'import ensurepip, venv' 2> /dev/null || missing+=(python3-venv)
if [ $kenlm = yes ]; then
  need cmake cmake
  need make make
  need g++ g++
  [ -e /usr/include/zlib.h ] || missing+=(zlib1g-dev)
  for library in program_options system thread test; do
    [ -d "/usr/include/boost/$library" ] || missing+=("libboost-${library//_/-}-dev")
  done
fi
# Some tests open the report in a browser, others start a SLURM: they are skipped without.
want() {
  command -v "$1" > /dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    missing+=("$2")
  else
    echo "no $1: $3 will be skipped" >&2
  fi
}
if [ "$environment" = dev ]; then
  want chromium chromium "tests of the report in a browser"
  want munged munge "tests on a real SLURM"
  want slurmctld slurmctld "tests on a real SLURM"
  want slurmd slurmd "tests on a real SLURM"
  want squeue slurm-client "tests on a real SLURM"
  want slurmdbd slurmdbd "tests on a real SLURM"
  want mariadbd mariadb-server "tests on a real SLURM"
fi
# Figures draw words of Urdu and Hindi; without a font they number them.
want_font() {
  compgen -G "/usr/share/fonts/$1" > /dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    missing+=("$2")
  else
    echo "no font of Debian's package $2 found: without one of $3, figures number its words" >&2
  fi
}
if [ $kenlm = yes ]; then
  want_font "opentype/fonts-hosny-amiri/Amiri-Regular.ttf" fonts-hosny-amiri Urdu
  want_font "truetype/lohit-devanagari/*" fonts-lohit-deva Hindi
fi
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
  else
    echo "missing: ${missing[*]} (Debian's names). Install them, then run this again." >&2
    exit 1
  fi
fi

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "python3 is $(python3 -V), expected 3.11 or later." >&2
  exit 1
}
echo "setting up $venv for $environment, once; this takes a minute or two"
# The two builds of vLLM are the same package by other names: one must not be put over the other.
[ $kenlm = yes ] || [ -e "$venv/.$environment" ] || rm -rf "$venv"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
export PATH="$venv/bin:$PATH" VIRTUAL_ENV="$venv"
export PIP_DISABLE_PIP_VERSION_CHECK=1
pip install -q "uv==$uv"
# uv does not read pip's settings; a site's own wheels (such as torch's CPU build) lie there.
links=$(pip config get global.find-links 2> /dev/null || pip config get :env:.find-links 2> /dev/null || true)
[ $kenlm = no ] || bash envs/build_kenlm.sh "${tools:-.tools}" &
building=$!
override=
[ ! -e "envs/$environment.overrides" ] || override="--override envs/$environment.overrides"
# A module is compiled when it is first used, but for images, where nothing can be compiled later.
# Where PYTHONDONTWRITEBYTECODE is set, as in many images, each process would compile it anew.
compile=
if [ -n "${2:-}" ]; then
  compile=--compile-bytecode
elif [ $kenlm = yes ] && [ -n "${PYTHONDONTWRITEBYTECODE:-}" ]; then
  compile=--compile-bytecode
fi
# shellcheck disable=SC2086
uv pip install -q $compile ${links:+--find-links $links} $override -r "envs/$environment.txt"
[ -n "${2:-}" ] || uv pip install -q --no-deps -e .
# All of vLLM's packages are too many to compile, so that it is what a server imports, which takes
# half the time of its start. What cannot be imported here (builds for GPUs may want one) costs that
# time alone.
if [ -z "$compile" ] && [ -n "${PYTHONDONTWRITEBYTECODE:-}" ]; then
  PYTHONDONTWRITEBYTECODE='' "$venv/bin/python" -c "
import vllm.entrypoints.openai.api_server, vllm.v1.engine.core, vllm.v1.worker.cpu_model_runner
import vllm.model_executor.models.llama" > /dev/null 2>&1 || true
fi
if [ $kenlm = yes ]; then
  echo "packages are in $venv; waiting for KenLM"
fi
wait "$building"
touch "$venv/.$environment"
