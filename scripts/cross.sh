#!/usr/bin/env bash
# Compiles the library for other systems, as far as that can be done here: scripts/cross.sh [aarch64] [mingw]
# aarch64: all of it, readers included. mingw: the library without readers, for Windows. Nothing is run. TYTO_CROSS_FLAGS: e.g. -fsyntax-only.
set -euo pipefail
cd "$(dirname "$0")/.."
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(aarch64 mingw)

# The headers of the libraries, which are the same everywhere, without those of this system beside them.
headers=build/cross/include
mkdir -p "$headers"
for name in eigen3/Eigen hwy fmt nlohmann archive.h archive_entry.h; do
  [ -e "/usr/include/$name" ] || { echo "cross: no /usr/include/$name; run scripts/setup.sh" >&2; exit 2; }
  ln -sfn "/usr/include/$name" "$headers/$(basename "$name")"
done

flags=(-std=c++20 -O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror -ffp-contract=off
  -Iinclude -Isrc -isystem "$headers" -DTYTO_VERSION='"cross"')
for target in "${targets[@]}"; do
  case $target in
    aarch64) package=g++-aarch64-linux-gnu compiler=aarch64-linux-gnu-g++ sources=$(find src/tyto -name '*.cc' | sort) ;;
    mingw)
      package=g++-mingw-w64-x86-64-posix compiler=x86_64-w64-mingw32-g++-posix
      sources=$(find src/tyto -name '*.cc' | grep -vE '^src/tyto/data/' | sort)
      sources="$sources src/tyto/data/atomic_file.cc src/tyto/data/text.cc"
      ;;
    *) echo "cross: want aarch64 or mingw, got '$target'" >&2; exit 2 ;;
  esac
  command -v $compiler >/dev/null || {
    root=(); [ "$(id -u)" -eq 0 ] || root=(sudo)
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $package >/dev/null
  }
  objects=build/cross/$target
  mkdir -p "$objects"
  # One line a file that does not compile, and the messages; all are tried.
  export compiler objects
  printf '%s\n' $sources | xargs -P "${TYTO_JOBS:-2}" -I{} bash -c '
    object=$objects/$(echo "$0" | tr / _).o
    "$compiler" "$@" -c "$0" -o "$object" || { echo "cross: $compiler: $0 does not compile"; exit 1; }' \
    {} "${flags[@]}" ${TYTO_CROSS_FLAGS:-}
  echo "cross: $target: $(printf '%s\n' $sources | wc -l) files compiled by $compiler"
done
