#!/usr/bin/env python3
"""Calls that are nearly right, and what the program answers. Each answer is one line, exit code 2, and nothing is written."""
import os
import unittest

from support import TytoTest

# What is typed, and what is answered.
MISTYPED = [
    ("ft data.csv", "unknown command 'ft'; did you mean 'fit'?"),
    ("predcit model.json data.csv", "unknown command 'predcit'; did you mean 'predict'?"),
    ("train data.csv", "unknown command 'train'; did you mean 'fit'?"),
    ("cross-validate data.csv", "unknown command 'cross-validate'; did you mean 'cv'?"),
    ("data.csv", "unknown command 'data.csv', which is a file: 'tyto fit data.csv' fits a model to it; "
                 "'tyto --help' lists what there is"),
    ("", "want a command; 'tyto --help' lists what there is"),
    ("--verison", "unknown option '--verison'; did you mean '--version'?"),
    ("fit data.csv --targt y", "unknown option '--targt'; did you mean '--target'?"),
    ("fit data.csv --lambda 0.1", "unknown option '--lambda'; did you mean '--strength'?"),
    ("cv data.csv --nfolds 5", "unknown option '--nfolds'; did you mean '--folds'?"),
    ("fit data.csv --toleranse=1e-3", "unknown option '--toleranse'; did you mean '--tolerance'?"),
    ("fit data.csv --max-iter 10", "unknown option '--max-iter'; did you mean '--max-epochs'?"),
    ("fit data.csv --family binomial", "unknown option '--family'; did you mean '--loss'?"),
    ("fit data.csv --frobnicate", "unknown option '--frobnicate'; 'tyto fit --help' lists what there is"),
    ("fit data.csv --strength abc", "--strength: want a number, got 'abc'; 'tyto fit --help' lists what there is"),
    ("fit data.csv --strength 0,1", "--strength: want a number, got '0,1'; 'tyto fit --help' lists what there is"),
    ("fit data.csv --strength", "--strength: want a value, got none; 'tyto fit --help' lists what there is"),
    ("fit data.csv --weights oskar", "weights: want oscar, lasso, linf, bh, gaussian, linear or a file, got 'oskar'; did you mean 'oscar'?"),
    ("fit data.csv --loss binomal", "did you mean 'binomial'?"),
    ("fit data.csv --solver newtn", "solver: unknown solver 'newtn'; known: auto, newton, apgd, spgd; did you mean 'newton'?"),
    ("fit data.csv --screening saef", "did you mean 'safe'?"),
    ("cv data.csv --error msse", "did you mean 'mse'?"),
    ("fit data.csv --missing means", "missing: want refuse, mean, drop-rows, drop-columns, got 'means'; did you mean 'mean'?"),
    ("fit data.csv --target Y", "target: no column 'Y' in data.csv; known: age, height, y; did you mean 'y'?"),
    ("fit data.csv --target y --drop heigth", "drop: no column 'heigth' in data.csv; known: age, height, y; did you mean 'height'?"),
    ("fit data.csv --offset ag", "offset: no column 'ag' in data.csv; known: age, height, y; did you mean 'age'?"),
    ("fit data.csv --format cvs", "format: unknown format 'cvs'; known: bed, csv, libsvm, mtx, npy, npz, tyto; did you mean 'csv'?"),
    ("fit dta.csv", "dta.csv: cannot open: No such file or directory"),
    ("fit words.csv", "words.csv:2: 4 columns are not numbers: 'sex' (2 words: f, m), 'joined' (dates such as '2020-01-01'), "
                      "'patient' (identifiers or free text such as 'P0'), 'age' ('?4' in line 6); try --one-hot sex --drop joined,patient"),
    ("fit classes.csv", "classes.csv:2: column 'y': expected a number, got 'no' (2 words: no, yes); a response of two words is for "
                        "--loss binomial"),
    ("fit thousands.csv", "thousands.csv:2: '1,234' may be a decimal number or a thousand and more; --decimal , or --decimal . says "
                          "which, and thousands have to be written without a mark"),
    ("fit german.csv --decimal .", "german.csv:2: 2 columns are not numbers: 'a' (identifiers or free text such as '0,5'), "
                                   "'y' (identifiers or free text such as '1,5'); --decimal , says that a comma is a decimal mark"),
    ("fit holes.csv", "holes.csv:3: column 'a': missing value (1 missing value in 1 row); use --missing mean or drop-rows"),
    ("predict model.json other.csv", "data: want a column 'height', which the model uses, got none of that name; is it 'Height'?"),
    ("coef model.json --choose bset", "choose: want one of best, one-se, aic, bic, cp, or a step, got 'bset'; did you mean 'best'?"),
]

# What is taken, although it is written otherwise.
TAKEN = [
    ("fit data.csv --standardise --quiet", "fit data.csv --quiet"),
    ("fit data.csv --no-standardise --quiet", "fit data.csv --no-standardize --quiet"),
    ("fit data.csv --unpenalised age --quiet", "fit data.csv --unpenalized age --quiet"),
    ("fit data.csv --Max_Epochs=50 --quiet", "fit data.csv --max-epochs=50 --quiet"),
    ("fit data.csv -target y --quiet", "fit data.csv --target y --quiet"),
    ("FIT data.csv --quiet", "fit data.csv --quiet"),
    ("help fit", "fit --help"),
    ("help", "--help"),
    ("version", "--version"),
]


class Mistyped(TytoTest):
    def setUp(self):
        super().setUp()
        rows = [(20 + 3 * i % 17, 150 + 7 * i % 23, i % 5) for i in range(30)]
        table = lambda rows: "\n".join(",".join(map(str, row)) for row in rows) + "\n"
        self.write("data.csv", "age,height,y\n" + table((a, h, 0.1 * a + 0.2 * h + e) for a, h, e in rows))
        self.write("other.csv", "age,Height,y\n1,2,3\n")
        self.write("words.csv", "sex,joined,patient,age,y\n" + table(
            ("mf"[i % 2], f"2020-01-{i % 28 + 1:02}", f"P{i}", "?4" if i == 4 else i, i) for i in range(30)))
        self.write("classes.csv", "a,y\n" + table((i, ["no", "yes"][i % 2]) for i in range(8)))
        self.write("thousands.csv", "a;y\n1,234;1\n2,345;2\n")
        self.write("german.csv", "a;y\n" + "".join(f"{i},5;{i + 1},5\n" for i in range(30)))
        self.write("holes.csv", "a,y\n1,2\nNA,3\n3,4\n")
        self.succeed("fit", "data.csv", "--strength", "0.01", "--model", "model.json")

    def test_what_is_answered(self):
        before = sorted(os.listdir(self.folder))
        for typed, answer in MISTYPED:
            with self.subTest(typed):
                code, out, err = self.run_tyto(*typed.split())
                self.assertEqual((code, out), (2, ""))
                self.assertEqual(err.count("\n"), 1, err)
                self.assertTrue(err.startswith("tyto: "), err)
                self.assertTrue(err.strip().endswith(answer), f"{typed}\nwant {answer}\ngot  {err}")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertGreaterEqual(len(MISTYPED), 30)

    def test_what_is_taken(self):
        for typed, meant in TAKEN:
            with self.subTest(typed):
                extra = ["--model", "-"] if "--quiet" in typed else []
                self.assertEqual(self.run_tyto(*typed.split(), *extra), self.run_tyto(*meant.split(), *extra))

    def test_help_is_wrapped(self):
        for width in (60, 80, 100):
            for command in ("fit", "cv", "predict"):
                os.environ["COLUMNS"] = str(width)
                self.addCleanup(os.environ.pop, "COLUMNS", None)
                lines = self.succeed(command, "--help").splitlines()
                self.assertLessEqual(max(map(len, lines)), width, [line for line in lines if len(line) > width])
        for heading in ("Data:", "Penalty:", "Solver:", "Results:"):
            self.assertIn(heading, lines if heading == "Data:" else self.succeed("fit", "--help").splitlines())


if __name__ == "__main__":
    unittest.main()
