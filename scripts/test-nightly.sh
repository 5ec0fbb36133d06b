#!/usr/bin/env bash
# What takes too long for scripts/test.sh: the exact oracle on 20,000 problems, other ones every day; all tests under all checks of
# the undefined-behaviour sanitizer; 20,000 problems of each loss; workers of Dask and Spark killed; the wheel; builds for other
# systems; R CMD check of the R package; fuzzing, where scripts/fuzz.sh is
# there; the documentation site, built and looked at in a browser. Goes on after a failure, and ends with code 1 then.
# TYTO_SEED: the problems of another day. TYTO_PROBLEMS: how many.
set -uo pipefail
cd "$(dirname "$0")/.."
seed=${TYTO_SEED:-$(date +%Y%m%d)}
failed=()

oracle() {
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DTYTO_TESTS=ON && cmake --build build --target tyto_fit_lines tyto_cli tyto &&
    TYTO_FIT_LINES=build/tests/tyto_fit_lines python3 tests/oracle/exact_oracle.py --problems "${TYTO_PROBLEMS:-20000}" --seed "$seed"
}

sanitizers() {
  cmake --preset asan -DTYTO_WERROR=OFF -DTYTO_SANITIZE_BUT= -DTYTO_RELEASE_BUILD="$PWD/build" && cmake --build --preset asan &&
    ctest --preset asan
}

losses() {
  cmake --build build --target tyto_tests &&
    TYTO_LOSS_PROBLEMS=2500 build/tests/tyto_tests --gtest_filter='*LossSafety*'
}

r_package() {
  scripts/test-r.sh --check
  local code=$?
  [ $code -eq 0 ] || [ $code -eq 77 ]
}

# The wheel in a bare environment, and its size and audit.
wheel() {
  scripts/setup.sh --wheel && scripts/wheel.sh
  local code=$?
  [ $code -eq 0 ] || [ $code -eq 77 ]
}

# What can be compiled for other systems.
cross() {
  scripts/cross.sh aarch64 mingw
}

# Workers of Dask and executors of Spark, twenty times over.
kills() {
  TYTO_KILLS=20 TYTO_LIBRARY="$PWD/build/libtyto.a" scripts/test-scale.sh -k killed
  local code=$?
  [ $code -eq 0 ] || [ $code -eq 77 ]
}

fuzz() {
  [ ! -x scripts/fuzz.sh ] || scripts/fuzz.sh
}

docs() {
  scripts/docs.sh --check
}

scripts/setup.sh || exit
for part in oracle losses kills wheel cross sanitizers r_package fuzz docs; do
  echo "nightly: $part"
  $part || failed+=("$part")
done
[ ${#failed[@]} -eq 0 ] || { echo "nightly: failed: ${failed[*]}"; exit 1; }
echo "nightly: all passed"
