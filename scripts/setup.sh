#!/usr/bin/env bash
# Installs what the build and the tests need (Debian 12, Ubuntu 24.04 or newer). Does nothing where all is there.
# --wheel: what packages need as well. --lint: clang's tools as well. --docs: what the documentation site needs. --browser: a browser for the
# tests of reports, where the system has one as a package.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config git python3 python3-venv python3-dev
  libeigen3-dev libhwy-dev libfmt-dev libarchive-dev nlohmann-json3-dev libcli11-dev
  libjs-chart.js
  libgtest-dev libbenchmark-dev
  curl ca-certificates unzip bzip2 dpkg-dev file
)
[ "${1:-}" = "--docs" ] && packages=(doxygen)
[ "${1:-}" = "--wheel" ] && packages+=(libzstd-dev liblzma-dev libbz2-dev zlib1g-dev bc xz-utils)
[ "${1:-}" = "--figures" ] && packages+=(librsvg2-bin fonts-dejavu-core)
[ "${1:-}" = "--lint" ] && packages+=(clang-14 libclang-rt-14-dev clang-tidy-14 clang-format-14)
if [ "${1:-}" = "--browser" ]; then
  for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
    command -v $name >/dev/null && exit 0
  done
  # Elsewhere the package only asks for a snap.
  grep -q '^ID=debian' /etc/os-release || { echo "setup: no browser package here; tests that need one are skipped"; exit 0; }
  packages=(chromium)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: need root or sudo to install: ${missing[*]}" >&2; exit 2; }
  root=(sudo)
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get update -q >/dev/null
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
