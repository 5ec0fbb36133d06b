#!/usr/bin/env bash
# What takes too long for scripts/test.sh: the exact oracle on 20,000 problems, other ones every day; all tests under all checks of
# the undefined-behaviour sanitizer; fuzzing, where scripts/fuzz.sh is there. Goes on after a failure, and ends with code 1 then.
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

fuzz() {
  [ ! -x scripts/fuzz.sh ] || scripts/fuzz.sh
}

scripts/setup.sh || exit
for part in oracle sanitizers fuzz; do
  echo "nightly: $part"
  $part || failed+=("$part")
done
[ ${#failed[@]} -eq 0 ] || { echo "nightly: failed: ${failed[*]}"; exit 1; }
echo "nightly: all passed"
