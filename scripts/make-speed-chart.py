#!/usr/bin/env python3
"""docs/images/speed.svg, from the figures in bench/speed.csv; the last column there has the commands that measured them.

    scripts/make-speed-chart.py [OUTPUT]

Needs matplotlib.
"""
import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
TICKS = {1: "1", 10: "10", 100: "100", 1000: "1000", 10000: "10,000"}


def draw(rows, output):
    matplotlib.rcParams.update({"svg.hashsalt": "tyto", "font.size": 10})
    figure, ax = plt.subplots(figsize=(8, 3.1), layout="constrained")
    for place, row in enumerate(rows):
        least, median, most = (float(row[name]) for name in ("least", "median", "most"))
        ax.plot([least, most], [place, place], color="#9cc4d6", lw=8, solid_capstyle="round")
        ax.plot(median, place, "o", color="#1b6a8f", ms=10)
        ax.annotate(f"{median:g} x", (median, place), (0, 9), textcoords="offset points", ha="center", fontsize=9, color="#1b6a8f")
        for value, side, name in ((least, -1, "least_on"), (most, 1, "most_on")):
            ax.annotate(f"{value:g} {row[name]}", (value, place), (9 * side, 0), textcoords="offset points", va="center",
                        ha="left" if side > 0 else "right", fontsize=8, color="0.35",
                        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    ax.axvline(1, color="0.3", lw=1.2)
    ax.set_xscale("log")
    ax.set_xlim(0.03, 300000)
    ax.set_xticks(list(TICKS), list(TICKS.values()))
    ax.minorticks_off()
    ax.set_yticks(range(len(rows)), [f"{row['task']}\nagainst {row['peer']}" for row in rows], fontsize=9)
    ax.set_ylim(len(rows) - 0.5, -0.7)
    figure.suptitle("CPU time as a multiple of Tyto's, to the same duality gap of 1e-6, on 13 data sets", fontsize=10)
    ax.set_xlabel("1: Tyto. Dot: median. Bar: from the least to the most", fontsize=9)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    figure.savefig(output, metadata={"Date": None}, facecolor="white")


def main():
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "speed.svg"
    with open(ROOT / "bench" / "speed.csv") as file:
        draw(list(csv.DictReader(file)), output)
    print(f"{output}: {output.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
