"""Mistakes in options and files: one line that says what is wrong, exit code 2, and nothing written."""
import bz2
import gzip
import json
import lzma
import os
import re
import subprocess
import unittest

from support import MTX_COORDINATE as MTX
from support import PROGRAM, TIMEOUT, TytoTest, mtx_text, npy_bytes

OK = "a,b,y\n1,2,3\n4,5,6.5\n7,1,9\n2,2,2\n"
LONG = "a,b,y\n" + "".join(f"{i},{i * i % 17},{i % 5}\n" for i in range(2000))
MATRIX = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.5]]
MODEL = {
    "format": "tyto-model-1", "n": 4, "p": 2, "loss": "gaussian", "weights": "oscar", "q": 0.1, "alpha": 1.0,
    "fit_intercept": True, "standardize": True, "solver": "auto", "screening": "safe", "status": "converged",
    "tolerance": 1e-6, "primal": 4.0, "dual": 4.0, "gap": 0.0, "relative_gap": 0.0, "nonzeros": 1, "clusters": 1,
    "target": "", "dropped": [], "missing": "refuse", "response": "y", "intercept": 1.0,
    "coefficients": [[0, 0.5]], "cluster_of": [0],
    "names": ["a"],
}
FORMATS = "tyto-model-1, tyto-fit-1, tyto-path-model-1, tyto-path-1, tyto-cv-model-1 or tyto-cv-1"
KINDS = "oscar, lasso, linf, bh, gaussian, linear"
like = re.compile  # for a message that holds words of the system or of a library, or a number in any style


def model(**changes):
    return json.dumps({key: value for key, value in {**MODEL, **changes}.items() if value is not None})


def path_model(*fits, **changes):
    """A path file: what is said of each strength moves into `fits`."""
    each = ["alpha", "status", "primal", "dual", "gap", "relative_gap", "nonzeros", "clusters", "intercept",
            "coefficients", "cluster_of", "names"]
    shared = {key: value for key, value in MODEL.items() if key not in each}
    whole = [fit if not isinstance(fit, dict) else {**{key: MODEL[key] for key in each}, **fit} for fit in fits]
    return json.dumps({**shared, "format": "tyto-path-model-1", "fits": whole, **changes})


def usage(words, command=" fit"):
    return like(rf".*{words}.*; 'tyto{command} --help' lists what there is")


def options(*rows):
    """Options of `fit` on good data: (arguments, message)."""
    return [({"a.csv": OK}, ["fit", "a.csv", *args], message) for args, message in rows]


def data(name, *rows):
    """Contents of a file that `fit` reads: (contents, message, arguments ...)."""
    return [({name: contents}, ["fit", name, *args], message) for contents, message, *args in rows]


def weights(*rows):
    return [({"a.csv": OK, "w.txt": contents}, ["fit", "a.csv", "--weights", "w.txt"], message)
            for contents, message in rows]


def models(*rows):
    """A model file that `predict` and `verify`, here in turn, have to refuse."""
    return [({"a.csv": OK, "m.json": contents}, [("predict", "verify")[k % 2], "m.json", "a.csv"], message)
            for k, (contents, message) in enumerate(rows)]


def outputs(*rows):
    return [({"a.csv": OK, "m.json": model()}, args, message) for args, message in rows]


OPTIONS = [
    ({}, [], usage("want a command", "")),
    ({}, ["bogus"], "unknown command 'bogus'; 'tyto --help' lists what there is"),
    ({}, ["--bogus"], "unknown option '--bogus'; 'tyto --help' lists what there is"),
    ({}, ["fit"], usage("DATA")),
    ({}, ["predict"], usage("MODEL", " predict")),
    ({}, ["verify", "m.json"], usage("DATA", " verify")),
    ({}, ["simulate", "extra"], usage("extra", " simulate")),
] + options(
    (["--bogus"], usage("--bogus")),
    (["--strength"], usage("--strength")),
    (["--strength", "1", "--strength", "2"], usage("--strength")),
    (["--strength", "much"], usage("--strength")),
    (["--strength", "0"], like(r"strength: want a number > 0, got 0(\.0+)?")),
    (["--strength", "-1"], like(r"strength: want a number > 0, got -1(\.0+)?")),
    (["--strength", "inf"], "strength: want a number > 0, got inf"),
    (["--q", "0", "--weights", "bh"], like(r"q: want a number in \(0, 1\], got 0(\.0+)?")),
    (["--tolerance", "0"], like(r"tolerance: want a number in \(0, 1\), got 0(\.0+)?")),
    (["--tolerance", "nan"], "tolerance: want a number in (0, 1), got nan"),
    (["--tolerance", "1e-7x"], usage("--tolerance")),
    (["--max-epochs", "-1"], usage("--max-epochs: want a whole number >= 0, got '-1'")),
    (["--max-epochs", "9" * 20], usage("--max-epochs: want a whole number >= 0, got '9{20}'")),
    (["--max-seconds", "-1"], like(r"max-seconds: want a number >= 0, got -1(\.0+)?")),
    (["--threads", "0"], "threads: want a number >= 1, got 0"),
    (["--threads", "1.5"], usage("--threads: want a whole number >= 0, got '1.5'")),
    (["--threads", "9" * 12], usage("--threads")),
    (["--seed", "-1"], usage("--seed: want a whole number >= 0, got '-1'")),
    (["--batch", "-1"], usage("--batch: want a whole number >= 0, got '-1'")),
    (["--inner-steps", "x"], usage("--inner-steps: want a whole number >= 0, got 'x'")),
    (["--step-size", "-1"], like(r"step-size: want a number > 0, or 0 for automatic, got -1(\.0+)?")),
    (["--weights", "bogus"], f"weights: want {KINDS} or a file, got 'bogus'"),
    (["--solver", "bogus"], like("solver: unknown solver 'bogus'; known: auto, .*apgd.*")),
    (["--screening", "bogus"], like("screening: unknown rule 'bogus'; known: none, seed, safe.*")),
    (["--relative-to", "bogus"], "relative-to: want alpha-max, correlation or absolute, got 'bogus'"),
    (["--format", "bogus"], "format: unknown format 'bogus'; known: bed, csv, libsvm, mtx, npy, npz, tyto"),
    (["--missing", "bogus"], "missing: want refuse, mean, drop-rows, drop-columns, got 'bogus'"),
    (["--target", "bogus"], "target: no column 'bogus' in a.csv; known: a, b, y"),
    (["--drop", "bogus"], "drop: no column 'bogus' in a.csv; known: a, b, y"),
    (["--drop", "a,y", "--target", "y"], "target: want a column that is not dropped, got 'y'"),
    (["--drop", "a,b"], "a.csv: expected at least one feature column beside the response, got none"),
    (["--format", "npy"], "a.csv: expected an .npy file, got 'a,b,y\\x0a1,'"),
    (["nothing.csv"], like("nothing.csv: cannot open: .+")),
    (["."], ".: expected a file, got a folder"),
) + [({}, ["simulate", *args], message) for args, message in [
    (["--rows", "0"], "rows: want >= 1, got 0"),
    (["--rows", "-1"], usage("--rows: want a whole number >= 0, got '-1'", " simulate")),
    (["--cols", "0"], "cols: want >= 1, got 0"),
    (["--groups", "-1"], usage("--groups", " simulate")),
    (["--groups", "9", "--cols", "10"], like(r"groups: want groups \* group.size <= cols, got 9 \* \d+ > 10")),
    (["--group-size", "0"], like("group.size: want >= 1, got 0")),
    (["--correlation", "1.5"], "correlation: want 0 to 1, got 1.5"),
    (["--rho", "1"], "rho: want -1 < rho < 1, got 1"),
    (["--snr", "0"], "snr: want > 0, got 0"),
    (["--density", "0"], "density: want 0 < density <= 1, got 0"),
    (["--seed", "-1"], usage("--seed", " simulate")),
    (["--format", "npy"], "format: want csv or libsvm, got 'npy'"),
]]

PATH = [({"a.csv": OK}, ["path", "a.csv", *args], message) for args, message in [
    (["--strength", "0.1"], usage("--strength", " path")),
    (["--relative-to", "absolute"], usage("--relative-to", " path")),
    (["--steps", "0"], "steps: want a number >= 1, got 0"),
    (["--steps", "-1"], usage("--steps: want a whole number >= 0, got '-1'", " path")),
    (["--steps", "2.5"], usage("--steps: want a whole number >= 0, got '2.5'", " path")),
    (["--ratio", "1"], "ratio: want a number in (0, 1), or 0 for automatic, got 1"),
    (["--ratio", "-0.1"], "ratio: want a number in (0, 1), or 0 for automatic, got -0.1"),
    (["--ratio", "nan"], "ratio: want a number in (0, 1), or 0 for automatic, got nan"),
    (["--ratio", "much"], usage("--ratio", " path")),
    (["--ratio", "1e-305"], like("ratio: want a last strength above 1e-300, got .+e-30.")),
    (["--max-explained", "0"], "max-explained: want a number in (0, 1], got 0"),
    (["--max-explained", "90"], "max-explained: want a number in (0, 1], got 90"),
    (["--min-change", "-1"], "min-change: want a number in (0, 1], got -1"),
    (["--max-nonzeros", "0"], "max-nonzeros: want a number >= 1, got 0"),
    (["--max-nonzeros", "few"], usage("--max-nonzeros: want a whole number >= 0, got 'few'", " path")),
    (["--max-clusters", "0"], "max-clusters: want a number >= 1, got 0"),
    (["--tolerance", "0"], "tolerance: want a number in (0, 1), got 0"),
    (["--solver", "bogus"], like("solver: unknown solver 'bogus'; known: auto, .*apgd.*")),
    (["--weights", "bogus"], f"weights: want {KINDS} or a file, got 'bogus'"),
    (["nothing.csv"], like("nothing.csv: cannot open: .+")),
]] + [({"a.csv": OK, "m.json": contents}, [command, "m.json", "a.csv", *args], message)
      for command, contents, args, message in [
    ("predict", path_model({}, {}), [], "m.json: holds a path of 2 models: want --step 0 to 1, or --alpha"),
    ("predict", path_model({}, {}), ["--step", "2"], "step: want a number from 0 to 1, got 2"),
    ("verify", path_model({}, {}), ["--step", "2"], "step: want a number from 0 to 1, got 2"),
    ("verify", path_model({}), ["--step", "-1"], usage("--step: want a whole number >= 0, got '-1'", " verify")),
    ("verify", path_model({}), ["--step", "0", "--alpha", "1"], usage("excludes", " verify")),
    ("predict", path_model({}, {"alpha": 0.5}), ["--alpha", "0.7"],
     "alpha: want a strength of the path, got 0.7; the nearest is 0.5"),
    ("predict", model(), ["--alpha", "nan"], "alpha: want a strength of the path, got nan; the nearest is 1"),
    ("predict", model(), ["--step", "1"], "step: want a number from 0 to 0, got 1"),
    ("verify", path_model(), [], "m.json: damaged model: expected at least one strength in fits, got none"),
    ("verify", path_model(fits=3), [], like("m.json: damaged model: .+")),
    ("verify", path_model(3), [], like("m.json: damaged model: .+")),
    ("predict", path_model({}, {"coefficients": [[7, 1.0]]}), ["--step", "0"],
     "m.json: damaged model: expected coefficients of increasing columns below p, got column 7"),
    ("verify", model(format="tyto-path-1"), [], like("m.json: damaged model: .*'fits'.*")),
]]

CSV = data(
    "a.csv",
    ("", "a.csv: expected data, got an empty file"),
    ("\n\n", "a.csv: no data rows"),
    ("a,b,y\n", "a.csv: no data rows"),
    ("y\n1\n2\n", "a.csv: expected at least one feature column beside the response, got none"),
    ("a,b,y\n1,2,3\n1,2\n", "a.csv:3: expected 3 fields, got 2"),
    ("a,b,y\n1,2,3\n1,2,3,4\n", "a.csv:3: expected 3 fields, got 4"),
    ("a,b,y\n1,two,3\n", "a.csv:2: column 'b': expected a number, got 'two'; try --one-hot b"),
    ("a,b,y\n1,inf,3\n", "a.csv:2: column 'b': expected a finite number, got 'inf'"),
    ("a,b,y\n1,NaN,3\n2,3,4\n",
     "a.csv:2: column 'b': missing value (1 missing value in 1 row); use --missing mean or drop-rows"),
    ("a,b,y\n1,2,3\n1,,NA\n",
     "a.csv:3: column 'b': missing value (2 missing values in 1 row); use --missing mean or drop-rows"),
    ("a,b,y\n1,2,NA\n2,,4\n", "a.csv:2: column 'y': missing value, as in every other row: no row is left",
     "--missing", "drop-rows"),
    ('a,b,y\n1,2,"3\n', "a.csv:2: expected a closing quote, got the end of the file"),
    ("a,a,y\n1,2,3\n", "target: 2 columns are named 'a' in a.csv; give the number of one: 0, 1", "--target", "a"),
    ("a,b,y\n1,2,1e308\n4,5,-1e308\n", "y: want finite numbers whose squares can be added"),
    ("a,b,y\n1e300,2,1\n4,5,2\n", "design: column 0: want finite numbers whose squares can be added"),
) + data(
    "junk",
    (b"\x00\x01\x02\xff\xfe\x80" * 50, "junk: expected bed, csv, libsvm, mtx, npy, npz, tyto, got none of them"),
    (b"\xff\xfe" + "a,y\n1,2\n".encode("utf-16-le")[:-1], "junk: expected UTF-16 text, got half a character at its end"),
) + [
    ({"a.csv": OK, "b.csv": "a,y\n1,2\n"}, ["fit", "a.csv", "b.csv"],
     "b.csv:1: expected 3 columns as in a.csv, got 2"),
    ({"a.csv": OK, "b.csv": "a,c,y\n1,2,3\n"}, ["fit", "a.csv", "b.csv"],
     "b.csv:1: expected column 'b' as in a.csv, got 'c'"),
    ({"a.csv": OK, "b.svm": "1 1:2\n"}, ["fit", "a.csv", "b.svm"], "b.svm: expected csv as in a.csv, got libsvm"),
]

CUT = {"a.csv.gz": gzip.compress(LONG.encode()), "a.csv.bz2": bz2.compress(LONG.encode()),
       "a.csv.xz": lzma.compress(LONG.encode())}
COMPRESSED = [({name: whole[:len(whole) // 2]}, ["fit", name], like(rf"{re.escape(name)}: cannot decompress: .+"))
              for name, whole in CUT.items()]
COMPRESSED += data("a.csv.gz", (gzip.compress(b""),
                                "a.csv.gz: expected data, got none: the compressed file is empty or cut off"))

LIBSVM = data(
    "a.svm",
    ("1 1:2 2:x\n", "a.svm:1: expected a finite number for feature 2, got 'x'"),
    ("1 1:1\none 1:2\n", "a.svm:2: expected a number as label, got 'one'"),
    ("1 2:2 1:3\n", "a.svm:1: expected increasing indices, got 1 after 2"),
    ("1 0:2\n", "a.svm:1: expected an index of at least 1 (indices start at 1), got 0"),
    ("1 99999999999:2\n", "a.svm:1: expected an index up to 2147483647, got '99999999999:2'"),
    ("1 2147483647:2\n", like("a.svm: expected indices up to .*, got 2147483647; give the number of features")),
    ("1\n2\n", "a.svm: expected at least one feature, got labels only"),
    ("1 1:2\n", "drop: want none for libsvm files, got 'y'", "--drop", "y"),
    ("1 1:2\n", "target: want none for libsvm files, whose label is the response, got 'y'", "--target", "y"),
)

NPY = data(
    "a.npy",
    (npy_bytes(MATRIX)[:50], "a.npy: expected the header of an .npy file, got the end of the file"),
    (npy_bytes(MATRIX)[:-8], "a.npy: expected 48 bytes of data for the shape (2, 3), got 40"),
    (npy_bytes(MATRIX, shape="(9999999999999, 9999999999)"),
     like(r"a.npy: expected .* bytes of data for the shape \(9999999999999, 9999999999\), got 48")),
    (npy_bytes(MATRIX, shape="(2, 3, 1)"), "a.npy: expected an array of one or two dimensions, got more"),
    (npy_bytes(MATRIX, descr=">f8"), "a.npy: expected little-endian numbers, got '>f8'"),
    (npy_bytes(MATRIX, descr="|O"), "a.npy: expected real numbers such as '<f8' or '<f4', got '|O'"),
    (npy_bytes([[1.0, float("inf")], [1.0, 2.0]]), "a.npy: element [0, 1]: expected a finite number, got inf"),
    (npy_bytes(MATRIX), "target: no column '7' in a.npy; known: 0 to 2, or a file", "--target", "7"),
    (npy_bytes(MATRIX), like("y.txt: cannot open: .+"), "--target", "y.txt"),
) + [
    ({"a.npy": npy_bytes(MATRIX), "y.txt": "1\n2\n3\n"}, ["fit", "a.npy", "--target", "y.txt"],
     "y.txt: expected 2 rows as in the matrix, got 3"),
    ({"a.npy": npy_bytes(MATRIX), "y.csv": OK}, ["fit", "a.npy", "--target", "y.csv"],
     "target: want one of the columns of y.csv (--response y.csv --target NAME): a, b, y"),
]

MATRIX_MARKET = [({"a.mtx": contents, "y.txt": "1\n2\n"}, ["fit", "a.mtx", "--target", "y.txt"], message)
                 for contents, message in [
    (MTX, "a.mtx: expected a line with the size, got the end of the file"),
    (MTX + "2 2 1\n3 1 1\n", "a.mtx:3: expected a row from 1 to 2, got 3"),
    (MTX + "2 2 1\n1 1 x\n", "a.mtx:3: expected a finite number, got 'x'"),
    (MTX + "2 2 2\n1 1 1\n", "a.mtx: expected 2 entries, got 1"),
    (MTX + "2 2 1\n1 1 1\n1 2 1\n", "a.mtx:4: expected the end after 1 entries, got '1 2 1'"),
    (MTX.replace("real", "complex") + "2 2 1\n1 1 1 1\n", "a.mtx:1: expected real, integer or pattern, got 'complex'"),
    (mtx_text([[1.0], [2.0], [3.0]]), "y.txt: expected 3 rows as in the matrix, got 2"),
]] + data("a.mtx", (mtx_text(MATRIX), "response: want a file with the response of a.mtx (--response FILE), got none"))

WEIGHTS = weights(
    ("", "w.txt: expected data, got an empty file"),
    ("1\n", "weights: want 2 numbers, one for each column, got 1"),
    ("3\n2\n1\n", "weights: want 2 numbers, one for each column, got 3"),
    ("1\n2\n", "weights: entry 2: want a non-increasing sequence, got a larger one"),
    ("1\n-1\n", like(r"weights: entry 2: want a finite number >= 0, got -1(\.0+)?")),
    ("0\n0\n", "weights: want at least one that is not 0"),
    ("2\nx\n", "w.txt:2: column 0: expected a number, got 'x'"),
    ("2\nnan\n", like("w.txt:2: column 0: missing value.*")),
)

NO_MODEL = "m.json: expected a tyto model (JSON), got something else"
TOO_DEEP = "m.json: expected JSON, got it nested deeper than 64 levels"
MODELS = models(
    ("", NO_MODEL),
    ("[1, 2]", NO_MODEL),
    (b"\x00\xff\x93", NO_MODEL),
    (model()[:200], NO_MODEL),
    ("[" * 100000, TOO_DEEP),
    ("[" * 200000 + "]" * 200000, TOO_DEEP),
    (model(fits=[]), "m.json: damaged model: expected at least one strength in fits, got none"),
    (model(fits=[]), "m.json: damaged model: expected at least one strength in fits, got none"),
    (model(fits=[{}, {}]), "m.json: damaged model: expected no fits in the file of one model, got some"),
    (model(fits={"a": {}}), "m.json: damaged model: expected at least one strength in fits, got none"),
    (model(gap="NAN").replace('"NAN"', "null"), "m.json: damaged model: gap: expected a finite number, got null"),
    (model(gap=True), "m.json: damaged model: gap: expected a finite number, got true"),
    (model(cluster_of=[1e300]), "m.json: damaged model: cluster_of: expected whole numbers, got 1e+300"),
    (model(cluster_of=[7]), "m.json: damaged model: expected clusters from -1 to p - 1, got 7"),
    (model(format="tyto-model-2"), f"m.json: expected format {FORMATS}, got 'tyto-model-2'"),
    (model(format=3), f"m.json: expected format {FORMATS}, got ''"),
    (model(alpha=None), like("m.json: damaged model: .*'alpha'.*")),
    (model(p="two"), like("m.json: damaged model: .*number.*")),
    (model(p=-1), like("m.json: damaged model: .+")),
    (model(coefficients=[[2, 1.0]]),
     "m.json: damaged model: expected coefficients of increasing columns below p, got column 2"),
    (model(coefficients=[[-1, 1.0]]),
     "m.json: damaged model: expected coefficients of increasing columns below p, got column -1"),
    (model(coefficients=[[0]]), like("m.json: damaged model: .+")),
    (model(names=["a", "b"]), "m.json: damaged model: expected one cluster and one name for each coefficient"),
    (model(coefficients=[[0, 1.0], [0, 2.0]], names=["a", "a"], cluster_of=[0, 0]),
     "m.json: damaged model: expected coefficients of increasing columns below p, got column 0"),
    (model(p=2.5), "m.json: damaged model: expected a whole number > 0 as p, got 2.5"),
    (model(n=-4), "m.json: damaged model: expected a whole number > 0 as n, got -4"),
    (model(coefficients=[[0, 1e308]], intercept=1e308).replace("1e+308", "1e999"), NO_MODEL),
) + [
    ({"a.csv": OK}, ["predict", "m.json", "a.csv"], like("m.json: cannot read.*")),
    ({"a.csv": OK}, ["predict", ".", "a.csv"], ".: cannot read: it is a folder"),
    ({"a.csv": OK, "m.json": model(dropped=["c"])}, ["verify", "m.json", "a.csv"],
     "drop: no column 'c' in a.csv; known: a, b, y"),
    ({"a.csv": OK}, ["predict", ".", "a.csv"], like(".*(directory|folder).*")),
    ({"a.csv": OK, "m.json": model(p=2**62)}, ["verify", "m.json", "a.csv"], like(".*(memory|columns|p).*")),
    ({"a.svm": "1 1:2\n", "m.json": model(p=2**62)}, ["predict", "m.json", "a.svm"], like(".*(memory|columns|p).*")),
    ({"a.csv": OK, "m.json": model(rounding=-1.0)}, ["verify", "m.json", "a.csv"],
     "m.json: rounding: expected a number >= 0, got -1"),
    ({"a.csv": OK, "m.json": model(weight_values=[1.0])}, ["verify", "m.json", "a.csv"],
     "m.json: expected p weights, got 1"),
    ({"a.csv": "b,y\n1,2\n", "m.json": model()}, ["predict", "m.json", "a.csv"],
     "data: want a column 'a', which the model uses, got none of that name"),
    ({"a.csv": "1,2,3,4\n", "m.json": model()}, ["predict", "m.json", "a.csv"],
     "a.csv: expected 2 columns, or one more for the response, got 4"),
    ({"a.csv": OK + "1,2,3\n", "m.json": model()}, ["verify", "m.json", "a.csv"],
     "data: want 4 rows, as in the model, got 5"),
    ({"a.csv": OK.replace("a,", "c,"), "m.json": model()}, ["verify", "m.json", "a.csv"],
     "data: want column 'a' at place 0, got 'c'"),
]

WRITES = [  # where the output cannot go, and what is said
    ("no/x", "no/x: cannot write: no folder no"),
    ("a.csv/x", "a.csv/x: cannot write: no folder a.csv"),
    (".", ".: cannot write: it is a folder"),
    ("x" * 300, like("x{300}: cannot write: .+")),
    ("/dev/full", like("/dev/full: cannot write: .+")),
]
OUTPUTS = outputs(*[(["fit", "a.csv", "--model", where], message) for where, message in WRITES],
                  *[([*args, where], message) for where, message in WRITES[:1] for args in (
                      ["fit", "a.csv", "--json"], ["fit", "a.csv", "--coefficients"], ["simulate", "--output"],
                      ["simulate", "--truth"], ["predict", "m.json", "a.csv", "--output"],
                      ["predict", "m.json", "a.csv", "--json"], ["verify", "m.json", "a.csv", "--json"])],
                  (["fit", "a.csv", "--model", "x", "--json", "x"],
                   "output: want one place for each result, got 'x' twice"),
                  (["fit", "a.csv", "--model", "./a.csv"], "output: want another file than the input 'a.csv'"),
                  (["fit", "a.csv", "--model", "x", "--json", "./x"],
                   "output: want one place for each result, got 'x' twice"),
                  (["predict", "m.json", "a.csv", "--output", "m.json"],
                   "output: want another file than the input 'm.json'"),
                  (["predict", "m.json", "a.csv", "--output", "-", "--json", "-"],
                   "output: want one place for each result, got '-' twice"))

# Results that a command could write: the first exists already, the others do not.
RESULTS = {"fit": ["--model", "--json", "--coefficients"], "path": ["--model", "--json", "--coefficients"],
           "predict": ["--output", "--json"], "verify": ["--json"], "simulate": ["--output", "--truth"]}


class Malformed(TytoTest):
    def refused(self, files, args, message):
        """Runs one row in a folder of its own, so that its messages name plain files."""
        for name, contents in files.items():
            self.write(name, contents)
        self.write("result0", "old\n")
        extra = []
        for k, option in enumerate(RESULTS.get(args[0] if args else "", [])):
            if option not in args:
                extra += [option, f"result{k}"]
        before = self.contents()
        code, out, err = self.run_tyto(*args[:1], *extra, *args[1:])
        self.assertEqual(code, 2, err)
        self.assertEqual(out, "")
        self.assertEqual(err[:6] + err[-1:], "tyto: \n")
        self.assertEqual(err.count("\n"), 1, err)
        if isinstance(message, str):
            self.assertEqual(err[6:-1], message)
        else:
            self.assertTrue(message.fullmatch(err[6:-1]), f"want {message.pattern}, got {err}")
        self.assertEqual(self.contents(), before, "files were changed or left behind")

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def check(self, table):
        for files, args, message in table:
            with self.subTest(args=args, message=message, files=str(files)[:200]):
                for path in self.folder.iterdir():
                    path.unlink()
                self.refused(files, args, message)

    def test_options(self): self.check(OPTIONS)
    def test_path(self): self.check(PATH)
    def test_csv(self): self.check(CSV)
    def test_compressed(self): self.check(COMPRESSED)
    def test_libsvm(self): self.check(LIBSVM)
    def test_npy(self): self.check(NPY)
    def test_matrix_market(self): self.check(MATRIX_MARKET)
    def test_weights(self): self.check(WEIGHTS)
    def test_models(self): self.check(MODELS)
    def test_outputs(self): self.check(OUTPUTS)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_folder_without_permission(self):
        locked = self.folder / "locked"
        locked.mkdir(mode=0o500)
        self.write("a.csv", OK)
        code, out, err = self.run_tyto("fit", "a.csv", "--model", "locked/x")
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, "tyto: locked/x: cannot write: no permission for folder locked\n")

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "simulate", "--rows", "5"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stderr), (2, "tyto: standard output: cannot write: No space left on device\n"))


if __name__ == "__main__":
    unittest.main()
