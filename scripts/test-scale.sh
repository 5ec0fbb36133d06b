#!/usr/bin/env bash
# Installs the Python package with Dask and Spark into the virtual environment of test-python.sh and runs the tests on clusters of real
# processes, which they start themselves. TYTO_BUILD and TYTO_LIBRARY as for test-python.sh; TYTO_KILLS: how often workers are killed.
# Ends with code 77 where pip cannot fetch what is needed. Spark's tests also need Java 17 (Debian: openjdk-17-jre-headless).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TYTO_BUILD:-build}
env=$build/python-env  # that of test-python.sh, so that the module is not built again
log=$build/scale-install.log
mkdir -p "$build"

skip() { echo "test-scale: skipped: $1"; exit 77; }

if [ ! -x "$env/bin/python" ] || ! "$env/bin/python" -c 'import pip' 2>/dev/null; then
  python3 -m venv --clear "$env" || skip "$(command -v python3) cannot make a virtual environment; Debian's needs python3-venv"
fi
"$env/bin/pip" install --quiet --disable-pip-version-check 'scikit-build-core>=0.10' 'nanobind>=2.4' numpy scipy scikit-learn \
  pytest pandas pyarrow 'dask[array,dataframe]' distributed 'pyspark>=3.5' >"$log" 2>&1 ||
  skip "pip cannot install the packages that the tests need; see $log"
# What scripts/test-python.sh has just installed is not installed again.
module=$(find "$env" -path '*site-packages/tyto/_core*.so' 2>/dev/null | head -1)
newer() { [ -z "$module" ] || [ "${TYTO_LIBRARY:-$module}" -nt "$module" ] || find python src include binding CMakeLists.txt -newer "$module" | grep -q .; }
options=(--config-settings "build-dir=$build/python-module")
[ -n "${TYTO_LIBRARY:-}" ] && options+=(--config-settings "cmake.define.TYTO_LIBRARY=$TYTO_LIBRARY"
  --config-settings cmake.define.TYTO_CLI=OFF --config-settings cmake.define.TYTO_READERS=OFF)
[ "${CI:-}" = true ] && options+=(--config-settings "cmake.define.TYTO_WERROR=ON")
! newer || "$env/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall "${options[@]}" . >>"$log" 2>&1 ||
  { cat "$log"; exit 1; }
root=$PWD
python=$(cd "$env/bin" && pwd)/python
cd "$build"
# One thread a worker: the cluster has the threads.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
exec "$python" -m pytest -q -p no:cacheprovider "$root/tests/scale" "$@"
