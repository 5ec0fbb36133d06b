#!/usr/bin/env bash
# docs/paper.md and its pictures, from a folder that `tyto reproduce` wrote: scripts/make-paper-figures.sh DIR
set -euo pipefail
[ $# -eq 1 ] && [ -f "$1/figure1.svg" ] && [ -f "$1/figure2.svg" ] && [ -f "$1/paper.md" ] ||
  { echo "make-paper-figures: want a folder that tyto reproduce wrote, got '${1:-}'" >&2; exit 2; }
from=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
scripts/setup.sh --figures
mkdir -p docs/images
for k in 1 2; do
  rsvg-convert --background-color white "$from/figure$k.svg" -o "docs/images/paper-figure$k.png.tmp"
  mv "docs/images/paper-figure$k.png.tmp" "docs/images/paper-figure$k.png"
done
cp "$from/paper.md" docs/paper.md.tmp
mv docs/paper.md.tmp docs/paper.md
ls -l docs/paper.md docs/images/paper-figure*.png
