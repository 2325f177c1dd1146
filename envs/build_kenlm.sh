#!/usr/bin/env bash
# Build KenLM's estimator (lmplz, build_binary, query) from the pinned source package.
# Usage: build_kenlm.sh PREFIX   (programs go to PREFIX/bin)
# The Python package carries the sources of these programs but does not install them.
set -euo pipefail
prefix=$(mkdir -p "$1/bin" && cd "$1" && pwd)
version=0.3.0
sha256=c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8
stamp="$prefix/.kenlm-$sha256"
[ -e "$stamp" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python -m pip download -q --no-deps --no-binary kenlm "kenlm==$version" -d "$work"
echo "$sha256  $work/kenlm-$version.tar.gz" | sha256sum -c --quiet
tar -xzf "$work/kenlm-$version.tar.gz" -C "$work"
cmake -S "$work/kenlm-$version" -B "$work/build" -DCMAKE_BUILD_TYPE=Release > "$work/log" 2>&1 &&
  cmake --build "$work/build" --target lmplz build_binary query -j 2 >> "$work/log" 2>&1 || {
  tail -n 20 "$work/log" >&2
  echo "KenLM did not build: it needs cmake, a C++ compiler and Boost (program_options, system, thread, test)." >&2
  exit 1
}
install -m 755 "$work"/build/bin/{lmplz,build_binary,query} "$prefix/bin/"
touch "$stamp"
