#!/usr/bin/env bash
# Installs R from the system's packages where it is missing, builds the R package into a library of the build folder and runs its
# tests. --check: instead, makes the source package that users get, and runs R CMD check --as-cran on it, without a network.
# TYTO_BUILD names another build folder than build/; TYTO_LIBRARY a libtyto.a of these sources, so that it is not built again.
# Ends with code 77 where R cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
build=${TYTO_BUILD:-build}
mkdir -p "$build"
build=$(cd "$build" && pwd)
log=$build/r-install.log

skip() { echo "test-r: skipped: $1"; exit 77; }

packages=(r-base-core r-cran-matrix r-cran-cpp11 r-cran-testthat r-cran-generics r-cran-ggplot2 r-cran-glmnet)
[ "${1:-}" = "--check" ] && packages+=(r-base-dev r-cran-knitr r-cran-rmarkdown pandoc qpdf)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || skip "R is installed by apt-get, which is not here"
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || skip "need root or sudo to install: ${missing[*]}"
    as_root=(sudo -n)
  fi
  echo "test-r: installing ${missing[*]}"
  { "${as_root[@]}" apt-get update -q && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 \
      install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || skip "apt-get cannot install ${missing[*]}; see $log"
fi

if [ "${1:-}" = "--check" ]; then
  r/tools/vendor.sh "$build/r-check" >/dev/null
  cd "$build/r-check"
  options=(--as-cran)
  command -v pdflatex >/dev/null || options+=(--no-manual)
  export MAKEFLAGS=${MAKEFLAGS:--j$(nproc)} _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_SYSTEM_CLOCK_=false
  rm -f tyto_*.tar.gz
  R CMD build tyto
  ls -l tyto_*.tar.gz
  R CMD check "${options[@]}" tyto_*.tar.gz
  ! grep -q 'WARNING' tyto.Rcheck/00check.log || { echo "test-r: R CMD check has warnings"; exit 1; }
  exit 0
fi

# The package, linked with a library that is there; what has not changed is not compiled again.
library=${TYTO_LIBRARY:-$build/libtyto.a}
if [ ! -e "$library" ]; then
  { cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTYTO_TESTS=OFF && cmake --build "$build" --target tyto; } >"$log" 2>&1 ||
    { cat "$log"; exit 1; }
fi
package=$build/r-package
mkdir -p "$package/src" "$build/r-library"
cp -ru r/. "$package/"
cp -ru binding "$package/src/"
rm -rf "$package/vignettes" "$package/src/Makevars.in"
sed -e "s|@CPPFLAGS@|-I. -I$root/src -I$root/include $(pkg-config --cflags eigen3)|" -e "s|@LIBS@|$library -lhwy_contrib -lhwy -lfmt -larchive|" -e "s|@OBJECTS@||" \
  r/src/Makevars.in >"$package/src/Makevars"
# make knows of sources, not of headers nor of the library.
module=$package/src/tyto.so
if [ ! -e "$module" ] || find src include binding r/src -name '*.h' -newer "$module" | grep -q .; then rm -f "$package"/src/*.o "$package"/src/*/*.o; fi
[ "$library" -ot "$module" ] || rm -f "$module"
# What the tests look at is not how fast the binding is: the library is compiled already.
printf 'CXXFLAGS = -O1 -g0\nCXX20FLAGS = -O1 -g0\n' >"$build/r-Makevars"
MAKEFLAGS=${MAKEFLAGS:--j$(nproc)} R_MAKEVARS_USER=$build/r-Makevars R CMD INSTALL --no-docs --no-test-load --library="$build/r-library" "$package" >"$log" 2>&1 || { cat "$log"; exit 1; }
export TYTO_SOURCES=$root
export R_LIBS="$build/r-library${R_LIBS:+:$R_LIBS}"
cd "$package/tests"
Rscript -e 'Sys.setenv(NOT_CRAN = "true"); testthat::test_dir("testthat", package = "tyto", load_package = "installed", reporter = testthat::CheckReporter$new(), stop_on_failure = TRUE)'
# The examples in R of the documentation's pages, where Python's tests have left an environment.
[ -x "${TYTO_PYTHON:-}" ] && [ -x "${TYTO_PROGRAM:-}" ] || { echo "test-r: examples of pages are not run: TYTO_PYTHON and TYTO_PROGRAM are not set"; exit 0; }
TYTO_R_LIBRARY="$build/r-library" "$TYTO_PYTHON" "$root/tests/docs/pages.py" --r
