#!/usr/bin/env bash
# Makes a release: scripts/release.sh VERSION [--dry-run]
# Checks the tree, writes the version and the date to the places that tests compare, commits and tags, and fills dist/ with the
# wheel, the source distribution, the Debian packages, the source archive and their hashes. Nothing is sent anywhere.
# TYTO_PACKAGE_BUILD: the build folder of the Debian packages; see scripts/wheel.sh for that of the wheel.
# --dry-run: does all of it for the version that the tree has, without changing, committing or tagging anything.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?want a version, e.g. 0.2.0}
dry=${2:-}
build=${TYTO_PACKAGE_BUILD:-build/package}
fail() { echo "release: $1" >&2; exit 2; }

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "version: want three numbers with points, got '$version'"
[ -z "$dry" ] || [ "$dry" = "--dry-run" ] || fail "want --dry-run or nothing, got '$dry'"
current=$(sed -n 's/^project(tyto VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
if [ -z "$dry" ]; then
  [ -z "$(git status --porcelain)" ] || fail "the tree has changes that are not committed"
  ! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "v$version is there already"
  ! grep -rlF 'tyto.example' pyproject.toml cmake .github >/dev/null ||
    fail "addresses: want those of the project instead of tyto.example: $(grep -rlF tyto.example pyproject.toml cmake .github | tr '\n' ' ')"
elif [ "$version" != "$current" ]; then
  fail "a dry run is for the version that the tree has, $current, got $version"
fi
# The section of what is not released yet must say something.
awk '/^## \[Unreleased\]/ {on = 1; next} /^## \[/ {on = 0} on && /^- / {found = 1} END {exit !found}' CHANGELOG.md ||
  fail "CHANGELOG.md: nothing under [Unreleased]"

if [ -z "$dry" ]; then
  sed -i "s/^project(tyto VERSION $current /project(tyto VERSION $version /" CMakeLists.txt
  sed -i "s/^version: .*/version: $version/" CITATION.cff
  sed -i "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [$version] - $(date -u +%Y-%m-%d)/" CHANGELOG.md
  python3 tests/packages/version_test.py
  git commit -qam "Release $version"
fi

rm -rf dist
scripts/wheel.sh --sdist
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTYTO_TESTS=OFF -DTYTO_PYTHON=OFF -DTYTO_STATIC_ARCHIVE=OFF >/dev/null
cmake --build "$build" >/dev/null
(cd "$build" && rm -f ./*.deb && cpack -G DEB >/dev/null)
cp "$build"/*.deb dist/
# The same bytes from the same commit, wherever and whenever it is made.
git archive --format=tar --prefix="tyto-$version/" HEAD | xz -T1 -9 >"dist/tyto-$version-source.tar.xz"
(cd dist && sha256sum ./*.whl ./*.tar.gz ./*.deb ./*.tar.xz >SHA256SUMS)
[ -n "$dry" ] || git tag -a "v$version" -m "Tyto $version"
echo "release: $version is in dist/"
cat dist/SHA256SUMS
