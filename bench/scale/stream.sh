#!/usr/bin/env bash
# A file streamed with 1 GB of memory: peak memory, and time beside that of reading it. bench/scale/stream.sh FILE.npy [TYTO]
set -euo pipefail
file=$1 tyto=${2:-build/tyto}
ls -l "$file"
echo "reading it (cat):"
/usr/bin/time -f "%e s wall, %U + %S s CPU" cat "$file" >/dev/null
echo "a path of 100 strengths:"
/usr/bin/time -f "%e s wall, %U + %S s CPU, peak %M KB" "$tyto" path "$file" --weights bh --ratio 0.001 --tolerance 1e-10 --memory 1G | tail -3
