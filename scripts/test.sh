#!/usr/bin/env bash
# Installs what is needed, builds build/tyto and the tests with address and undefined-behaviour sanitizers, runs them all.
# Arguments go to ctest: scripts/test.sh -L quick. What takes longer than this is in scripts/test-nightly.sh.
# TYTO_BUILD names another build folder than build/; TYTO_DATA a folder with real data sets (tests that need it skip).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TYTO_BUILD:-build}

werror=OFF  # a newer compiler's new warnings must not keep a user from testing
[ "${CI:-}" = true ] && werror=ON
# Checks of every access to memory, which the address sanitizer looks at anyway: with them the library takes twice as long
# to compile. The nightly tests have them all.
but=null,alignment,object-size,pointer-overflow,vptr

scripts/setup.sh
scripts/setup.sh --browser || echo "test: no browser could be installed; tests that need one are skipped"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTYTO_WERROR=$werror -DTYTO_TESTS=OFF -DTYTO_BENCH=OFF
cmake --build "$build" --target tyto_cli tyto tyto_manual
cmake -S . -B "$build/asan" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DTYTO_WERROR=$werror -DTYTO_TESTS=ON \
  -DTYTO_SANITIZE=address,undefined -DTYTO_SANITIZE_BUT=$but -DTYTO_RELEASE_BUILD="$(cd "$build" && pwd)"
cmake --build "$build/asan"
ctest --test-dir "$build/asan" --output-on-failure -j "$(nproc)" "$@"
