#!/usr/bin/env bash
# clang-format and clang-tidy over the tree, or over the files named: scripts/lint.sh [--fix] [FILE...]
# --fix formats in place. All of the tree takes a quarter of an hour on two cores; `git diff --name-only main` names what changed.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "${1:-}" = "--help" ] && { sed -n '2,3s/^# //p' scripts/lint.sh; exit 0; }
fix=(--dry-run --Werror)
[ "${1:-}" = "--fix" ] && { fix=(-i); shift; }
[ $# -eq 0 ] && set -- '*.cc' '*.h'
mapfile -t files < <(git ls-files -- "$@" | grep -E '\.(cc|h)$')
[ ${#files[@]} -eq 0 ] && { echo "lint: want names of C++ files of this tree, got $*" >&2; exit 2; }
scripts/setup.sh --lint
clang-format-14 "${fix[@]}" "${files[@]}"
build=${TYTO_BUILD:-build}/lint
# The Python module needs nanobind, which pip brings.
python=()
if python3 -m venv "$build-env" && "$build-env/bin/pip" install --quiet --disable-pip-version-check 'nanobind>=2.4'; then
  python=(-DTYTO_PYTHON=ON "-DPython_EXECUTABLE=$(cd "$build-env" && pwd)/bin/python")
else
  echo "lint: pip cannot install nanobind: python/src is left out"
  mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '^python/src/')
fi
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_BUILD_TYPE=Release -DTYTO_BENCH=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=OFF "${python[@]}" >/dev/null
printf '%s\n' "${files[@]}" | grep '\.cc$' | xargs -P "$(nproc)" -n 1 clang-tidy-14 -p "$build" --quiet --warnings-as-errors='*'
