#!/usr/bin/env bash
# Builds what a wheel is made of, as static libraries below a folder: scripts/wheel-deps.sh FOLDER [NAME...]
# For machines without Debian's packages: cibuildwheel's containers, macOS. Needs a network, git, CMake, a compiler and npm.
# Sources are commits, which git checks. TYTO_GIT_BASE: where they are instead of https://github.com.
set -euo pipefail
into=${1:?want a folder}
shift
mkdir -p "$into"
into=$(cd "$into" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
base=${TYTO_GIT_BASE:-https://github.com}

# What, where, which commit, the folder of its CMakeLists.txt, options.
sources=(
  "eigen https://gitlab.com/libeigen/eigen 3147391d946bb4b6c68edd901f2add6ac1f31f8c . -DEIGEN_BUILD_DOC=OFF -DEIGEN_BUILD_PKGCONFIG=OFF"
  "highway $base/google/highway 457c891775a7397bdb0376bb1031e6e027af1c48 . -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_TESTS=OFF"
  "fmt $base/fmtlib/fmt a33701196adfad74917046096bf5a2aa0ab0bb50 . -DFMT_DOC=OFF -DFMT_TEST=OFF"
  "json $base/nlohmann/json 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03 . -DJSON_BuildTests=OFF"
  "cli11 $base/CLIUtils/CLI11 291c58789c031208f08f4f261a858b5b7083e8e2 . -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DCLI11_BUILD_DOCS=OFF"
  "zlib $base/madler/zlib 51b7f2abdade71cd9bb0e7a373ef2610ec6f9daf . -DZLIB_BUILD_EXAMPLES=OFF"
  "bzip2 $base/libarchive/bzip2 6a8690fc8d26c815e798c588f796eabe9d684cf0 make"
  "xz $base/tukaani-project/xz 9331ce4009ddc839f5191d234cc41b2d4797376d . -DXZ_NLS=OFF"
  "zstd $base/facebook/zstd 794ea1b0afca0f020f4e57b6732332231fb23c70 build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF"
  "libarchive $base/libarchive/libarchive b439d586f53911c84be5e380445a8a259e19114c . -DENABLE_TEST=OFF -DENABLE_TAR=OFF -DENABLE_CPIO=OFF -DENABLE_CAT=OFF -DENABLE_UNZIP=OFF -DENABLE_OPENSSL=OFF -DENABLE_LIBXML2=OFF -DENABLE_EXPAT=OFF -DENABLE_LZ4=OFF -DENABLE_LZO=OFF -DENABLE_ACL=OFF -DENABLE_XATTR=OFF -DENABLE_ICONV=OFF -DENABLE_PCREPOSIX=OFF -DENABLE_PCRE2POSIX=OFF"
)

build() {
  local name=$1 address=$2 commit=$3 folder=$4
  shift 4
  git init -q "$work/$name"
  git -C "$work/$name" fetch -q --depth 1 "$address" "$commit"
  git -C "$work/$name" checkout -q FETCH_HEAD
  [ "$(git -C "$work/$name" rev-parse HEAD)" = "$commit" ] || { echo "wheel-deps: $name: want $commit" >&2; exit 1; }
  if [ "$folder" = make ]; then
    make -s -C "$work/$name" libbz2.a CFLAGS="-O2 -fPIC -D_FILE_OFFSET_BITS=64"
    mkdir -p "$into/lib" "$into/include"
    cp "$work/$name/libbz2.a" "$into/lib/" && cp "$work/$name/bzlib.h" "$into/include/"
  else
    cmake -S "$work/$name/$folder" -B "$work/$name/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$into" -DCMAKE_INSTALL_LIBDIR=lib \
      -DCMAKE_PREFIX_PATH="$into" -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@" >"$work/$name.log" 2>&1 &&
      cmake --build "$work/$name/build" --target install -j "${TYTO_JOBS:-2}" >>"$work/$name.log" 2>&1 || { tail -30 "$work/$name.log"; exit 1; }
  fi
  echo "wheel-deps: $name"
}

for line in "${sources[@]}"; do
  read -r -a words <<<"$line"
  [ $# -eq 0 ] || [[ " $* " == *" ${words[0]} "* ]] || continue
  build "${words[@]}"
done

# The chart library of reports, one script.
if [ $# -eq 0 ] || [[ " $* " == *" chart.js "* ]]; then
  (cd "$work" && npm pack --silent chart.js@3.9.1 && tar xzf chart.js-3.9.1.tgz package/dist/chart.min.js)
  found=$(python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$work/package/dist/chart.min.js")
  [ "$found" = fbc45926e6b46845a0f905552a0e0b1331049bff1115ecf94dbe0904d895e710 ] || { echo "wheel-deps: chart.js: got another file" >&2; exit 1; }
  mkdir -p "$into/share/javascript/chart.js"
  cp "$work/package/dist/chart.min.js" "$into/share/javascript/chart.js/"
  echo "wheel-deps: chart.js"
fi
