#!/usr/bin/env python3
"""False discovery rate and power, in the manner of Bogdan et al. (2015): runs build/bench/tyto_fdr, draws and judges.

SLOPE with sigma known and estimated at q = 0.05, 0.1, 0.2 against the lasso chosen by cross-validation, on orthogonal, gaussian
and correlated designs. Prints a table and the time it took, and whether the rate stays within two standard errors of q, or below,
on the orthogonal design (exit code 1 if not). Build first, with -DTYTO_BENCH=ON; matplotlib goes into a virtual environment in the
build folder.

    python3 bench/fdr.py [--replications 500] [--threads 1] [--figure docs/images/fdr.svg] [--csv FILE | --from FILE]
"""
import argparse
import csv
import io
import os
import pathlib
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLOPE = ["slope, sigma known", "slope, sigma estimated"]
LASSO = ["lasso, cv", "lasso, cv one-se"]
COLOURS = {0.05: "#1b6ca8", 0.1: "#2a9d5c", 0.2: "#c2571a"}


def enter(folder):
    """Starts the program again where matplotlib is, unless it is there already."""
    try:
        import matplotlib  # noqa: F401
        return
    except ImportError:
        pass
    if pathlib.Path(sys.prefix).resolve() == folder.resolve():
        sys.exit(f"no matplotlib in {folder}: remove it to have it made again")
    python = folder / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode:
        print(f"making {folder} (once)", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "matplotlib"], check=True)
    os.execv(python, [str(python), *sys.argv])


def read(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        for name in ("q", "fdr", "fdr_se", "power", "power_se"):
            row[name] = float(row[name])
        row["signals"] = int(row["signals"])
    return rows


def of(rows, design, method, q):
    return sorted((row for row in rows if (row["design"], row["method"], row["q"]) == (design, method, q)),
                  key=lambda row: row["signals"])


def designs(rows):
    return list(dict.fromkeys(row["design"] for row in rows))


def table(rows):
    lines = []
    for design in designs(rows):
        first = next(row for row in rows if row["design"] == design)
        signals = sorted({row["signals"] for row in rows if row["design"] == design})
        lines.append(f"\n{design}, {first['n']} x {first['p']}: false discovery rate (power), by number of signals")
        lines.append(f"{'':32}" + "".join(f"{k:>15}" for k in signals))
        curves = [(method, q) for q in COLOURS for method in SLOPE] + [(method, 0.0) for method in LASSO]
        for method, q in curves:
            cells = "".join(f"{row['fdr']:>8.3f} " + (f"({row['power']:.2f})" if row["signals"] else "      ")
                            for row in of(rows, design, method, q))
            lines.append(f"{method + (f', q {q:g}' if q else ''):32}{cells}")
    return "\n".join(lines)


def violations(rows):
    """Where the rate is more than two standard errors above q, on the orthogonal design."""
    return [row for row in rows if row["design"] == "orthogonal" and row["method"] in SLOPE
            and row["fdr"] > row["q"] + 2 * row["fdr_se"]]


def shown(points, measure):
    """Without signals there is no power."""
    return [point for point in points if measure == "fdr" or point["signals"] > 0]


def draw(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "tyto", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    names = designs(rows)
    figure, axes = plt.subplots(2, len(names), figsize=(3.3 * len(names), 5.4), sharex="col", sharey="row", squeeze=False)
    for column, design in enumerate(names):
        for measure, axis in zip(("fdr", "power"), axes[:, column]):
            for q, colour in COLOURS.items():
                for method, style in zip(SLOPE, ("-", "--")):
                    points = shown(of(rows, design, method, q), measure)
                    axis.errorbar([p["signals"] for p in points], [p[measure] for p in points],
                                  yerr=[2 * p[f"{measure}_se"] for p in points], color=colour, linestyle=style, linewidth=1.3,
                                  elinewidth=0.8, label=f"SLOPE, q {q:g}, sigma {method.split()[-1]}")
                if measure == "fdr":
                    axis.axhline(q, color=colour, linewidth=0.7, linestyle=":")
            for method, style in zip(LASSO, ("-", "--")):
                points = shown(of(rows, design, method, 0.0), measure)
                axis.plot([p["signals"] for p in points], [p[measure] for p in points], color="#666666", linestyle=style,
                          linewidth=1.3, label="lasso, " + ("best of cv" if method == LASSO[0] else "cv, one std. error"))
        first = next(row for row in rows if row["design"] == design)
        axes[0, column].set_title(f"{design}, {first['n']} x {first['p']}")
        axes[1, column].set_xlabel("number of signals")
    axes[0, 0].set_ylabel("false discovery rate")
    axes[1, 0].set_ylabel("power")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False, fontsize=7.5)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=500)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--figure", type=pathlib.Path, help="SVG or PNG to draw")
    parser.add_argument("--csv", type=pathlib.Path, help="keep the numbers here")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="draw and judge these numbers again")
    args = parser.parse_args()
    if args.figure:
        enter(args.build / "fdr-env")
    if args.source:
        text = args.source.read_text()
    else:
        program = args.build / "bench" / "tyto_fdr"
        if not program.exists():
            sys.exit(f"no {program}: build with -DTYTO_BENCH=ON")
        start = time.monotonic()
        text = subprocess.run([program, str(args.replications), str(args.threads)], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        print(f"{args.replications} replications of each setting in {time.monotonic() - start:.0f} s on {args.threads} thread(s)")
    if args.csv:
        args.csv.write_text(text)
    rows = read(text)
    print(table(rows))
    if args.figure:
        draw(rows, args.figure)
    above = violations(rows)
    for row in above:
        print(f"above q: {row['method']}, q {row['q']:g}, {row['signals']} signals: {row['fdr']:.4f} +- {row['fdr_se']:.4f}")
    print("\northogonal design: the rate is " + ("not held" if above else "within two standard errors of q, or below, everywhere"))
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
