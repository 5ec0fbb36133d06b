#!/usr/bin/env bash
# Fuzzes the commands in one process, with the sanitizers: models, states, data and journals, SECONDS of each [1200].
# TYTO_FUZZ_TARGETS names some of them. Inputs are kept in build/fuzz/corpus, what fails in build/fuzz/failures. Exit code 1 where something does.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-1200}
build=$PWD/build/fuzz
targets=(${TYTO_FUZZ_TARGETS:-model state data journal})

if [ ! -e "$build/build.ninja" ]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DCMAKE_CXX_COMPILER=clang++-14 \
    -DTYTO_FUZZ=ON -DTYTO_TESTS=OFF -DTYTO_BENCH=OFF || exit 2
fi
cmake --build "$build" --target tyto_cli "${targets[@]/#/fuzz_}" || exit 2
python3 tests/fuzz/make_corpus.py "${TYTO_PROGRAM:-$build/tyto}" "$build/corpus" || exit 2

mkdir -p "$build/failures"
failed=0
for target in "${targets[@]}"; do
  log=$build/$target.log
  # A start of the program in this process leaks nothing, but libFuzzer would ask after each of them.
  "$build/tests/fuzz/fuzz_$target" "$build/corpus/$target" -max_total_time="$seconds" -max_len=20000 -timeout=20 -rss_limit_mb=3000 \
    -close_fd_mask=3 -detect_leaks=0 -print_final_stats=1 -artifact_prefix="$build/failures/$target-" >"$log" 2>&1
  code=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ $code -eq 0 ]; then
    echo "fuzz: $target: ${runs:-?} runs in $seconds s, no failure"
  else
    echo "fuzz: $target: FAILED (exit code $code), see $log and $build/failures"
    failed=1
  fi
done
exit $failed
