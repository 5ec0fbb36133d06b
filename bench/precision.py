#!/usr/bin/env python3
"""How exact answers get: fits of every dense data set at a tolerance of 1e-14, and their gap as 'tyto verify' finds it, in
extended precision and with none of the solver's code. Standardised, with intercept. A fit that stops short of the tolerance
says 'stalled': double precision has no better point to offer. Needs the data sets in TYTO_DATA; build first.

    python3 bench/precision.py [--tolerance 1e-14] [--strengths 0.1,0.02] [--weights oscar,bh]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from sets import DATA, REAL, ROOT  # noqa: E402


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)


def measure(program, folder, name, weights, strength, tolerance):
    files, target = REAL[name]
    data = [str(DATA / name / file) for file in files]
    if isinstance(target, str):  # else the label, or the last column, which is what the program takes by itself
        data += ["--target", target]
    model, fitted, checked = (str(folder / file) for file in ("model.json", "fit.json", "verify.json"))
    run([program, "fit", *data, "--weights", weights, "--strength", strength, "--tolerance", tolerance, "--model", model,
         "--json", fitted, "--quiet"])
    run([program, "verify", model, *data, "--json", checked, "--quiet"])
    fit, check = (json.loads(pathlib.Path(file).read_text()) for file in (fitted, checked))
    return fit["status"], fit["relative_gap"], check["relative_gap"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tolerance", default="1e-14")
    parser.add_argument("--strengths", default="0.1,0.02")
    parser.add_argument("--weights", default="oscar,bh")
    parser.add_argument("--sets", default=",".join(REAL))
    parser.add_argument("--program", default=str(ROOT / "build" / "tyto"))
    args = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"no data in {DATA}: set TYTO_DATA")
    reached = total = 0
    with tempfile.TemporaryDirectory() as made:
        for name in args.sets.split(","):
            for weights in args.weights.split(","):
                for strength in args.strengths.split(","):
                    status, own, gap = measure(args.program, pathlib.Path(made), name, weights, strength, args.tolerance)
                    total += 1
                    reached += gap <= float(args.tolerance)
                    print(f"{name:18} {weights:6} {strength:>5}  {status:10} gap {own:9.1e}, in extended precision {gap:9.1e}", flush=True)
    print(f"{reached} of {total} at {args.tolerance} or below, in extended precision")


if __name__ == "__main__":
    main()
