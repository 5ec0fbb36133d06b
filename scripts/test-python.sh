#!/usr/bin/env bash
# Installs the Python package into a virtual environment of the build folder and runs its tests.
# TYTO_BUILD names another build folder than build/; TYTO_LIBRARY a libtyto.a of these sources, so that it is not built again.
# Ends with code 77 where pip cannot fetch what is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TYTO_BUILD:-build}
env=$build/python-env
log=$build/python-install.log
mkdir -p "$build"

skip() { echo "test-python: skipped: $1"; exit 77; }

if [ ! -x "$env/bin/python" ] || ! "$env/bin/python" -c 'import pip' 2>/dev/null; then
  python3 -m venv --clear "$env" || skip "$(command -v python3) cannot make a virtual environment; Debian's needs python3-venv"
fi
# First what only pip can bring, so that a failure after it is ours.
"$env/bin/pip" install --quiet --disable-pip-version-check 'scikit-build-core>=0.10' 'nanobind>=2.4' numpy scipy scikit-learn \
  pytest pandas matplotlib tqdm mypy jsonschema >"$log" 2>&1 || skip "pip cannot install the packages that the tests need; see $log"
"$env/bin/pip" install --quiet --disable-pip-version-check polars h5py zarr pyarrow >>"$log" 2>&1 ||
  echo "test-python: no polars, h5py, zarr or pyarrow: their tests are skipped"

options=(--config-settings "build-dir=$build/python-module")
# The program is not built again: scripts/wheel.sh tests the whole wheel.
[ -n "${TYTO_LIBRARY:-}" ] && options+=(--config-settings "cmake.define.TYTO_LIBRARY=$TYTO_LIBRARY"
  --config-settings cmake.define.TYTO_CLI=OFF)
[ "${CI:-}" = true ] && options+=(--config-settings "cmake.define.TYTO_WERROR=ON")
"$env/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall "${options[@]}" . >>"$log" 2>&1 ||
  { cat "$log"; exit 1; }
# From elsewhere, so that it is the installed package that is tested.
root=$PWD
python=$(cd "$env/bin" && pwd)/python
cd "$build"
# A test that hangs shows where.
exec "$python" -m pytest -q -p no:cacheprovider -o faulthandler_timeout=300 "$root/python/tests" "$@"
