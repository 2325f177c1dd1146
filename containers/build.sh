#!/usr/bin/env bash
# Make the image of an environment, under the name at which `snakemake --sdm apptainer` looks for it.
# Usage: build.sh core|train|vllm-cpu|vllm-cuda [OPTION of `apptainer build` …]
#        build.sh --name core|train|vllm-cpu|vllm-cuda   (its name alone)
# A site's own index, wheels and certificates come in by pip's variables (PIP_INDEX_URL, …).
set -euo pipefail
cd "$(dirname "$0")/.."
only_name=
[ "${1:-}" != --name ] || { only_name=yes && shift; }
environment=${1:-}
shift || true
case $environment in
  core | train | vllm-cpu | vllm-cuda) ;;
  *) echo "no environment '$environment': expected core, train, vllm-cpu or vllm-cuda" >&2 && exit 2 ;;
esac
image=$(PYTHONPATH=src python3 -c "
from pathlib import Path
from blimpworks.cluster.software import image_of
print(image_of(Path(), '$environment'))")
[ -z "$only_name" ] || { echo "$image" && exit; }
[ ! -e "$image" ] || { echo "$image is there" && exit; }
variables=BLIMPWORKS_IMAGE=1
for name in PIP_INDEX_URL PIP_FIND_LINKS PIP_CERT SSL_CERT_FILE; do
  [ -z "${!name:-}" ] || variables+=" $name=${!name}"
done
trap 'rm -f "$image.part"' EXIT
apptainer build "$@" --build-arg "ENVIRONMENT=$environment" --build-arg "VARIABLES=$variables" \
  "$image.part" containers/blimpworks.def
mv "$image.part" "$image"
