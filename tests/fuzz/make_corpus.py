#!/usr/bin/env python3
"""Writes the inputs that fuzzing begins with, from the program's own output: make_corpus.py PROGRAM FOLDER.

FOLDER/model, state, data and journal get small files, each one input of the target of that name."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from support import mtx_text, npy_bytes  # noqa: E402

# What reads a state has to be asked for the same (state.cc).
STATE = ["cv", "data.csv", "--folds", "3", "--steps", "3", "--threads", "1", "--resume", "state.json"]
MODELS = {
    "fit": ["fit", "data.csv"], "lasso": ["fit", "data.csv", "--weights", "lasso", "--strength", "0.5"],
    "ridge": ["fit", "data.csv", "--ridge", "2", "--nonnegative"],
    "free": ["fit", "data.csv", "--unpenalized", "x3", "--no-standardize"],
    "relaxed": ["fit", "data.csv", "--gamma", "0.5"], "sigma": ["fit", "data.csv", "--weights", "bh", "--sigma", "estimate"],
    "weighted": ["fit", "data.csv", "--observation-weights", "v.txt"], "file": ["fit", "data.csv", "--weights", "w.txt"],
    "path": ["path", "data.csv", "--steps", "3", "--choose", "aic,bic"], "cv": ["cv", "data.csv", "--folds", "3", "--steps", "3"],
}
ROWS = [[1.5, 0.0, -2.0], [0.25, 3.0, 0.0], [-1.0, 0.5, 1e3]]
MATRICES = {
    0: ["a,b,y\n1,2,3\n4,,6.5\n7,1,9\n2,2,2\n", "1 2 3\n4 5 6\n7 8 1\n", '"a";b;"y ""z"""\n1,5;2;3\n4;NA;6\n', ",a,y\nr1,1,2\nr2,3,4\nr3,1e-3,5\n"],
    1: ["1 1:2 3:-1.5\n-1 2:1e5 # c\n0.5 qid:3 1:1 2:2 3:3\n", "+1 1:1\n-1 1:2\n3 4:1\n"],
    2: [npy_bytes(ROWS), npy_bytes(ROWS, fortran=True), npy_bytes(ROWS, descr="<i8")],
    3: [mtx_text(ROWS), "%%MatrixMarket matrix array real general\n% c\n3 2\n1\n2\n3\n4\n5\n6.5\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"],
}
JOURNAL = """{"cap":3.0,"commit":"c","compiler":"g","data":[{"name":"NAME"}],"format":"tyto-reproduce-2","machine":"m","shrink":1,"trials":2,"tune":false,"version":"0.1.0"}
{"algorithm":"published apgd","cpu_seconds":0.5,"epochs":9,"experiment":"figure1","gap":1e-7,"multiplier":0.1,"n":20,"nonzeros":2,"p":9,"primal":3.5,"rmse":1.5,"screened":3,"seed":1,"set":"NAME","status":"converged","strength":1,"tolerance":1e-6,"trial":1}
{"algorithm":"published apgd+seed","published_stop":[4,0.001],"setting":"x","cpu_seconds":0.25,"epochs":9,"experiment":"figure1","gap":1e-7,"multiplier":0.1,"n":20,"nonzeros":2,"p":9,"primal":3.5,"screened":3,"seed":1,"set":"NAME","status":"converged","strength":1,"tolerance":1e-6,"trace":[[0,1.0,9],[4,0.1,5]],"trial":1}
"""


def run(program, folder, args):
    done = subprocess.run([program, *args, "--quiet"], cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"make_corpus: {args}: {done.stderr}")


def main(program, folder):
    program, folder = str(Path(program).resolve()), Path(folder)
    for name in ("model", "state", "data", "journal"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        shutil.copy(HERE / "data.csv", work)
        (work / "w.txt").write_text("2\n1.5\n1\n0.5\n")
        (work / "v.txt").write_text("".join(f"{k + 0.5}\n" for k in range(12)))
        models = folder.resolve() / "model"
        for name, args in MODELS.items():
            run(program, work, [*args, "--model", str(models / name), "--json", str(models / f"{name}-whole")])
        run(program, work, STATE)
        state = (work / "state.json").read_text()
        (folder / "state" / "whole").write_text(state)
        lines = state.splitlines()
        (folder / "state" / "part").write_text("\n".join(lines[:3] + [lines[3].rstrip(","), " ]}"]) + "\n")
    for choice, texts in MATRICES.items():
        for k, text in enumerate(texts):
            contents = text if isinstance(text, bytes) else text.encode()
            for flags in (0, 8 | 64, 16 | 32):
                (folder / "data" / f"{choice}-{k}-{flags}").write_bytes(bytes([choice | flags]) + contents)
    (folder / "journal" / "one").write_text(JOURNAL.replace("NAME", "duke"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("make_corpus: want PROGRAM FOLDER")
    main(*sys.argv[1:])
