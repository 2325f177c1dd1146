#!/usr/bin/env bash
# Set up an environment for NVIDIA GPUs, then measure; run by `make gpu`. Variables:
#   WHEELS  directory of wheels, all of which are installed over what PYTHON has, without network;
#           parts of a large one (NAME.whl.aa, NAME.whl.ab, …) are joined
#   PYTHON  Python with torch for CUDA; without WHEELS it is used as it is
#   MODELS  directory in which the models 1b and 8b are, or are made
#   SHAPE   "1b 8b", or tiny, which needs no GPU; ONLY names of measurements
#   OUTPUT  directory of gpu.json and gpu.md; LIMIT seconds for all, this set-up included
set -euo pipefail
cd "$(dirname "$0")/../.."
shape=${SHAPE:-1b 8b}
if [ "$shape" != tiny ] && ! command -v nvidia-smi > /dev/null; then
  echo "There is no GPU here (no nvidia-smi); SHAPE=tiny tries it out on the processor." >&2
  exit 1
fi

install_wheels() { # into .gpu, over the packages of the Python $1
  local wheels joined=.gpu/wheels part site
  wheels=$(realpath "$WHEELS")
  "$1" -m venv --clear .gpu
  mkdir -p $joined
  for part in "$wheels"/*.whl.*; do
    [ ! -e "$part" ] || cat "$part" >> "$joined/$(basename "${part%.whl.*}").whl"
  done
  site=$(.gpu/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$1" - > "$site/image.pth" << 'PYTHON'
import sysconfig
for path in dict.fromkeys(map(sysconfig.get_path, ("purelib", "platlib"))):
    print(f"import site; site.addsitedir({path!r})")
PYTHON
  find "$wheels" $joined -name '*.whl' -print0 \
    | xargs -0 -r .gpu/bin/python -m pip install -q --no-index --no-deps
}

if [ -n "${WHEELS:-}" ]; then
  install_wheels "${PYTHON:-python3}"
  python=.gpu/bin/python
elif [ -n "${PYTHON:-}" ]; then
  python=$PYTHON
elif [ "$shape" = tiny ]; then
  python=.vllm/bin/python
  [ -x $python ] || python=.venv/bin/python
else
  [ -e .vllm/.vllm-bench ] || bash envs/install.sh vllm-bench
  python=.vllm/bin/python
fi
# shellcheck disable=SC2086
exec "$python" benchmarks/gpu --shape $shape ${MODELS:+--models "$MODELS"} \
  ${OUTPUT:+--output "$OUTPUT"} ${ONLY:+--only $ONLY} ${DTYPE:+--dtype "$DTYPE"} \
  --seconds "${LIMIT:-600}" --spent "$SECONDS"
