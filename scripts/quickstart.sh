#!/usr/bin/env bash
# From nothing to a result: installs what is needed, builds build/tyto, and fits a model to data that it makes itself.
# TYTO_BUILD names another build folder than build/.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TYTO_BUILD:-build}

scripts/setup.sh
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTYTO_TESTS=OFF -DTYTO_BENCH=OFF >"${TMPDIR:-/tmp}/tyto-configure.$$" 2>&1 ||
  { cat "${TMPDIR:-/tmp}/tyto-configure.$$"; exit 1; }
rm -f "${TMPDIR:-/tmp}/tyto-configure.$$"
cmake --build "$build" --target tyto_cli

tyto=$build/tyto
demo=$build/quickstart
mkdir -p "$demo"
run() { echo; echo "\$ $*"; "$@"; }

run "$tyto" simulate --rows 100 --cols 2000 --groups 4 --group-size 5 --snr 10 --output "$demo/data.csv" --truth "$demo/truth.csv"
run "$tyto" fit "$demo/data.csv" --target y --strength 0.15 --model "$demo/model.json" --coefficients "$demo/coefficients.csv"
run "$tyto" predict "$demo/model.json" "$demo/data.csv" --output "$demo/predictions.csv"
run "$tyto" verify "$demo/model.json" "$demo/data.csv"

cat <<EOT

The data has 4 groups of 5 correlated features (g1_1 ... g4_5) among 2000; the fit above found them without being told.
Program:      $tyto        ('$tyto --help' to go on)
Model:        $demo/model.json
Coefficients: $demo/coefficients.csv (truth: $demo/truth.csv)
EOT
