#!/usr/bin/env bash
# Builds the documentation site into build/site: scripts/docs.sh [--check] [--fast]
# Open build/site/index.html; it needs no server and no network. Packages come from pip (docs/site/requirements.txt) into build/docs-env,
# doxygen from apt; nothing else is fetched. Every example is run, and every warning is an error.
# --check: looks at the pages in a headless Chromium, too: links, consoles, search, screenshots (build/site-shots).
# --fast: installs nothing anew where build/docs-env is there.
# TYTO_BUILD names another build folder than build/.
set -euo pipefail
cd "$(dirname "$0")/.."
check=false fast=false
for option in "$@"; do
  case $option in
    --check) check=true ;;
    --fast) fast=true ;;
    *) sed -n '2,7s/^# //p' scripts/docs.sh; [ "$option" = --help ] && exit 0; echo "docs: want --check or --fast, got $option" >&2; exit 2 ;;
  esac
done
mkdir -p "${TYTO_BUILD:-build}"
build=$(cd "${TYTO_BUILD:-build}" && pwd)
env=$build/docs-env
log=$build/docs-install.log
start=$SECONDS

fail() { echo "docs: $1" >&2; exit 1; }

if ! $fast || [ ! -x "$env/bin/sphinx-build" ]; then
  scripts/setup.sh
  scripts/setup.sh --docs
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >"$log" 2>&1 || { cat "$log"; exit 1; }
  cmake --build "$build" --target tyto_cli tyto
  [ -x "$env/bin/python" ] || python3 -m venv "$env"
  "$env/bin/pip" install --quiet --disable-pip-version-check -r docs/site/requirements.txt >"$log" 2>&1 ||
    fail "pip cannot install what the site needs; see $log"
  "$env/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
    --config-settings "build-dir=$build/docs-module" --config-settings "cmake.define.TYTO_LIBRARY=$build/libtyto.a" \
    --config-settings cmake.define.TYTO_CLI=OFF --config-settings cmake.define.TYTO_READERS=OFF . >>"$log" 2>&1 ||
    { cat "$log"; exit 1; }
fi
echo "docs: packages and program are there ($((SECONDS - start)) s)"

start=$SECONDS
source=$build/site-source
python3 docs/site/stage.py "$source"
rm -rf "$build/site" "$build/site-doxygen"
mkdir -p "$build/site-doxygen"
sed "s|@OUTPUT@|$build/site-doxygen|; s|@ROOT@|$PWD|g" docs/site/Doxyfile | doxygen - >"$build/site-doxygen/log" 2>&1 ||
  { cat "$build/site-doxygen/log"; exit 1; }
export TYTO_PROGRAM=$build/tyto TYTO_DOXYGEN=$build/site-doxygen/xml
# Kernels of notebooks find the program and Python's packages here, and keep their files apart.
export PATH=$build:$env/bin:$PATH JUPYTER_DATA_DIR=$env/share/jupyter MPLCONFIGDIR=$build/site-matplotlib
"$env/bin/sphinx-build" -q -W --keep-going -c "$source/site" -d "$build/site-doctrees" -E "$source" "$build/site" 2> >(grep -v IPKernelApp >&2)
rm -rf "$build/site/.buildinfo" "$build/site/_sources" "$build/site/_static/webpack-macros.html"  # a template of the theme
pages=$(find "$build/site" -name '*.html' | wc -l)
examples=$(find docs/examples -name '*.py' | wc -l)
echo "docs: $pages pages, $examples examples run, $(du -sh "$build/site" | cut -f1), $((SECONDS - start)) s: $build/site/index.html"

if $check; then
  scripts/setup.sh --browser
  python3 tests/docs/browser_check.py "$build/site" "$build/site-shots"
fi
