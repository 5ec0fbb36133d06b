#!/bin/sh
# Speed and memory of the readers on files of more than 200 MB, one core. Usage: bench/reading.sh PROGRAM [FOLDER]
# PROGRAM is the built tyto_read_file; FOLDER gets the generated files (about 900 MB) and keeps them, without it they
# go to a temporary folder and are removed.
set -eu
program=${1:?usage: reading.sh PROGRAM [FOLDER]}
folder=${2:-}
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"

# generate NAME CODE: the code writes lines to `out`; `number` holds 4096 texts of random numbers.
generate() {
  [ -s "$folder/$1" ] && return
  python3 - "$folder/$1" <<EOF
import random, sys
random.seed(1)
number = ["%.*f" % (random.randint(3, 12), random.gauss(0, 1)) for _ in range(4096)]
pick = lambda: number[int(random.random() * 4096)]
with open(sys.argv[1] + ".part", "w") as out:
$2
import os
os.rename(sys.argv[1] + ".part", sys.argv[1])
EOF
}

generate sparse.svm '
    for i in range(64000):  # 200 of 100,000 features each
        columns = sorted({int(100000 * random.random() ** 2) + 1 for _ in range(200)})
        out.write("%d %s\n" % (i % 2, " ".join(["%d:%s" % (j, pick()) for j in columns])))'
generate tall.csv '
    out.write(",".join("x%d" % j for j in range(50)) + ",y\n")
    for i in range(420000):
        out.write(",".join([pick() for j in range(51)]) + "\n")'
generate wide.csv '
    out.write(",".join("x%d" % j for j in range(50000)) + ",y\n")
    for i in range(430):
        out.write(",".join([pick() for j in range(50001)]) + "\n")'
generate dense.svm '
    for i in range(2000):
        out.write("%d %s\n" % (i % 2, " ".join(["%d:%s" % (j, pick()) for j in range(1, 7001)])))'

printf '%-12s %8s %8s %8s %8s %8s %10s %7s\n' file rows cols MB seconds MB/s peak-MB ratio
for name in sparse.svm dense.svm tall.csv wide.csv; do
  size=$(wc -c < "$folder/$name")
  cat "$folder/$name" > /dev/null  # into the page cache
  "$program" "$folder/$name" | awk -v name="$name" -v size="$size" '
    { value[$1] = $2 }
    END { printf "%-12s %8d %8d %8.0f %8.2f %8.0f %10.0f %7.2f\n", name, value["rows"], value["cols"], size / 1e6,
          value["cpu_seconds"], size / 1e6 / value["cpu_seconds"], value["peak_rss_bytes"] / 1e6,
          value["peak_rss_bytes"] / value["matrix_bytes"] }'
done
