#!/usr/bin/env bash
# From nothing to a result: installs what is needed, builds build/tyto, fits models to data that it makes itself, and
# writes a report to look at.
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

run "$tyto" simulate --rows 200 --cols 2000 --groups 3 --group-size 5 --correlation 0.95 --snr 10 --output "$demo/data.csv" --truth "$demo/truth.csv"
run "$tyto" fit "$demo/data.csv" --target y --weights bh --strength 0.4 --model "$demo/model.json" --coefficients "$demo/coefficients.csv"
run "$tyto" predict "$demo/model.json" "$demo/data.csv" --output "$demo/predictions.csv"
run "$tyto" verify "$demo/model.json" "$demo/data.csv"
run "$tyto" cv "$demo/data.csv" --target y --weights bh --model "$demo/cv.json" --report "$demo/report.html"
run "$tyto" coef "$demo/cv.json" --output "$demo/best.csv"

selected=$(tail -n +2 "$demo/coefficients.csv" | wc -l)
right=$(tail -n +2 "$demo/coefficients.csv" | cut -d, -f2 | grep -c '^g' || true)
cat <<EOT

3 groups of 5 correlated features (g1_1 ... g3_5) among 2000 carry the signal. The model has $selected features: $right of these
15, and $((selected - right)) others. A cluster is features of equal magnitude once columns are standardised. Correlated ones tend to
share one, but magnitudes also tie by coincidence: |r| says how alike its features are. (The error of 'predict' above is on the data
that was fitted.)

Program:      $tyto        ('$tyto --help' to go on)
Model:        $demo/model.json
Coefficients: $demo/coefficients.csv (truth: $demo/truth.csv); $demo/best.csv, of the best model of the cross-validation
Report:       $demo/report.html
              of the cross-validation; it opens at the best strength, which 'coef' and 'predict' take, too ('--choose one-se': the
              largest strength within one standard error of it). Open it in a browser: file://$(cd "$demo" && pwd)/report.html
EOT
