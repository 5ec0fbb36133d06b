#!/usr/bin/env bash
# clang-format and clang-tidy over the tree; `scripts/lint.sh --fix` formats in place.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --lint
mapfile -t files < <(git ls-files '*.cc' '*.h')
if [ "${1:-}" = "--fix" ]; then
  clang-format-14 -i "${files[@]}"
else
  clang-format-14 --dry-run --Werror "${files[@]}"
fi
build=${TYTO_BUILD:-build}/lint
# The Python module needs nanobind, which pip brings.
python=()
if python3 -m venv "$build-env" && "$build-env/bin/pip" install --quiet --disable-pip-version-check 'nanobind>=2.4'; then
  python=(-DTYTO_PYTHON=ON "-DPython_EXECUTABLE=$(cd "$build-env" && pwd)/bin/python")
else
  echo "lint: pip cannot install nanobind: python/src is left out"
  mapfile -t files < <(git ls-files '*.cc' '*.h' ':!python/src')
fi
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_BUILD_TYPE=Release -DTYTO_BENCH=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=OFF "${python[@]}" >/dev/null
printf '%s\n' "${files[@]}" | grep '\.cc$' | xargs -P "$(nproc)" -n 1 clang-tidy-14 -p "$build" --quiet --warnings-as-errors='*'
