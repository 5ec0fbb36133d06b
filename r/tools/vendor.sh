#!/usr/bin/env bash
# Makes the source package that users get: vendor.sh FOLDER writes r/ to FOLDER/tyto, with the library's sources and those of
# Highway, fmt, JSON for Modern C++ and Eigen in src/, as packages of R may not download anything.
# Eigen, fmt and JSON are the headers that the system has. Of Highway the sources are needed as well: TYTO_HIGHWAY names a folder with
# them, else apt-get brings those of the version that is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -eq 1 ] || { echo "usage: vendor.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
package=$(cd "$1" && pwd)/tyto
rm -rf "$package"
mkdir -p "$package"
cp -r r/. "$package/"
rm -rf "$package/tools" "$package/src/Makevars.in"
src=$package/src
version=$(sed -n 's/^project(tyto VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "^Version: $version$" r/DESCRIPTION || { echo "vendor: r/DESCRIPTION: want version $version, that of CMakeLists.txt" >&2; exit 1; }

highway_sources() {
  [ -n "${TYTO_HIGHWAY:-}" ] && { echo "$TYTO_HIGHWAY"; return; }
  local folder=$1 installed
  installed=$(dpkg-query -W -f='${Version}' libhwy-dev)
  mkdir -p "$folder/lists/partial" "$folder/parts"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$folder/parts/$(basename "$file")"
  done
  [ -e /etc/apt/sources.list ] && sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$folder/parts/all.list"
  local apt=(apt-get -q -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$folder/parts" -o "Dir::State::lists=$folder/lists")
  (cd "$folder" && "${apt[@]}" update && "${apt[@]}" source --download-only "highway=$installed" && mkdir -p sources &&
    tar xf highway_*.orig.tar.* -C sources --strip-components=1) >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
  echo "$folder/sources"
}

# The library, without what resumes runs or is for C++ programs. Its readers read files that are not compressed.
cp -r src/tyto "$src/tyto"
cp include/tyto/*.h "$src/tyto/"
cp -r binding "$src/binding"
rm -rf "$src/tyto/api" "$src/tyto/all.h" "$src/tyto/select/cv_state.cc" "$src/tyto/select/cv_state.h"
cp r/tools/archive/*.h "$src/"

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
highway=$(highway_sources "$temporary")
mkdir -p "$src/hwy/contrib/sort" "$src/hwy/ops"
cp "$highway"/hwy/*.h "$src/hwy/"
cp "$highway"/hwy/ops/*.h "$src/hwy/ops/"
cp "$highway"/hwy/contrib/sort/*.h "$src/hwy/contrib/sort/"
rm -f "$src/hwy/nanobenchmark.h" "$src/hwy/print.h" "$src/hwy/print-inl.h" "$src/hwy/contrib/sort/result-inl.h"
for name in targets per_target aligned_allocator abort contrib/sort/vqsort contrib/sort/vqsort_f64d contrib/sort/vqsort_kv128d; do
  [ -e "$highway/hwy/$name.cc" ] && cp "$highway/hwy/$name.cc" "$src/hwy/$name.cc"
done
# A package of R must not end the process or write to its standard error: what Highway aborts for is thrown.
for file in "$src"/hwy/targets.cc "$src"/hwy/abort.cc; do
  [ -e "$file" ] || continue
  sed -i -e 's/fprintf(stderr,/hwy_ignore(/' -e 's/fflush(stderr);//' -e 's/^  abort();.*/  throw std::runtime_error(buf);/' -e 's/^  exit(1);.*/  throw std::runtime_error(buf);/' \
    -e '0,/^#include/s//#include <stdexcept>\nstatic inline void hwy_ignore(...) {}\n#include/' "$file"
done

mkdir -p "$src/fmt" "$src/Eigen/src"
cp /usr/include/fmt/{core,format,format-inl,ranges}.h "$src/fmt/"
cp -r /usr/include/nlohmann "$src/nlohmann"
eigen=$(pkg-config --variable=includedir eigen3 2>/dev/null || true)
[ -d "$eigen/eigen3" ] && eigen=$eigen/eigen3
[ -d "$eigen/Eigen" ] || eigen=/usr/include/eigen3
for name in Core SparseCore Cholesky QR Jacobi Householder; do
  cp "$eigen/Eigen/$name" "$src/Eigen/"
  cp -r "$eigen/Eigen/src/$name" "$src/Eigen/src/"
done
cp -r "$eigen/Eigen/src/plugins" "$eigen/Eigen/src/misc" "$src/Eigen/src/"

# Pragmas that switch off warnings are not wanted in packages of R.
find "$src/hwy" "$src/fmt" "$src/nlohmann" "$src/Eigen" -type f -exec sed -i -E '/^[[:space:]]*#[[:space:]]*pragma[[:space:]]+(GCC|clang)[[:space:]]+diagnostic/d' {} +
# Fused where the code says so and nowhere else, as in the library's own build.
cat >"$src/no_contraction.h" <<'HEADER'
#pragma once
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
HEADER
find "$src/tyto" -name '*.cc' -exec sed -i '1i #include "no_contraction.h"' {} +

# Kernels are compiled for every instruction set by including themselves again: they stay as they are.
mv "$src/tyto/math" "$src/math"
python3 r/tools/unity.py "$src"
mv "$src/math" "$src/tyto/math"

objects=$(cd "$src" && find tyto hwy -name '*.cc' | LC_ALL=C sort | sed 's/\.cc$/.o/' | tr '\n' ' ')
sed -e "s|@CPPFLAGS@|-I. -DEIGEN_MPL2_ONLY -DFMT_HEADER_ONLY -DTYTO_VERSION='\"$version\"'|" -e "s|@LIBS@||" -e "s|@OBJECTS@|$objects|" \
  r/src/Makevars.in >"$src/Makevars"

{
  echo "The package contains sources of other projects, in src/: hwy (Highway), fmt, nlohmann (JSON for Modern C++), Eigen."
  echo "Pragmas that switch off warnings were removed from them, and Highway throws where it aborted. Their terms:"
  for name in libhwy-dev libfmt-dev nlohmann-json3-dev libeigen3-dev; do
    printf '\n==== %s %s ====\n\n' "$name" "$(dpkg-query -W -f='${Version}' "$name")"
    cat "/usr/share/doc/$name/copyright"
  done
} >"$package/inst/COPYRIGHTS"
echo "$package"
