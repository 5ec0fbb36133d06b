"""Observation weights, unpenalised columns, a ridge and non-negative coefficients, from the command line: in fit,
path, cv, predict and verify, by what they are the same as."""
import json
import unittest

import oracle
from commands_test import FEATURES, NAMES, RAW, RESPONSE, CommandTest
from support import csv_text

TIMES = [i % 4 for i in range(len(RESPONSE))]  # how often each row counts: 0, 1, 2 or 3 times
TIGHT = ["--tolerance", "1e-12"]


def repeated(values):
    return [value for value, times in zip(values, TIMES) for _ in range(times)]


class Extensions(CommandTest):
    def weighted(self, name="weighted.csv", position=3):
        """The table with a column 'times' somewhere among the features."""
        rows = [[*row[:position], times, *row[position:], y] for row, times, y in zip(FEATURES, TIMES, RESPONSE)]
        return self.write(name, csv_text(rows, [*NAMES[:position], "times", *NAMES[position:], "y"]))

    def assert_same_fit(self, one, other):
        self.assert_close([one["primal"], one["alpha"]], [other["primal"], other["alpha"]], 1e-9)
        self.assert_close(oracle.dense(one), oracle.dense(other), 1e-5)
        self.assert_close([one["intercept"]], [other["intercept"]], 1e-5)

    def test_weights_are_repeated_rows(self):
        twice = self.write("twice.csv", self.table(repeated(FEATURES), repeated(RESPONSE)))
        file = self.write("times.txt", "".join(f"{times}\n" for times in TIMES))
        for args in [[], RAW, ["--weights", "gaussian"]]:
            want = self.fit(*TIGHT, *args, data=twice)
            for data, weights in [(self.weighted(), "times"), (self.weighted(), "3"), (self.data, file)]:
                got = self.fit(*TIGHT, *args, "--observation-weights", weights, data=data)
                self.assert_same_fit(got, want)
                self.assertEqual(got["names"], want["names"])
                given = ["--observation-weights", weights] if weights == file else []  # no file that a model names
                self.verify(data, *given)

    def test_weights_beside_other_formats_and_dropped_rows(self):
        holes = [list(row) for row in FEATURES]
        holes[5][2] = ""
        self.write("holes.csv", csv_text([[*row, y] for row, y in zip(holes, RESPONSE)], [*NAMES, "y"]))
        self.write("times.txt", "".join(f"{times}\n" for times in TIMES))
        got = self.fit(*TIGHT, "--observation-weights", "times.txt", "--missing", "drop-rows", data="holes.csv")
        rows = [row for i, row in enumerate(FEATURES) if i != 5 for _ in range(TIMES[i])]
        response = [y for i, y in enumerate(RESPONSE) if i != 5 for _ in range(TIMES[i])]
        self.assert_same_fit(got, self.fit(*TIGHT, data=self.write("left.csv", self.table(rows, response))))

    def test_prediction_does_without_the_weights(self):
        self.fit("--observation-weights", "times", data=self.weighted())
        self.assert_close(self.predicted(self.data), self.predicted("weighted.csv"), 0)

    def test_a_ridge_is_more_rows(self):
        p, ridge = len(NAMES), 6.25
        rows = [[ridge**0.5 if i == j else 0.0 for j in range(p)] for i in range(p)]
        more = self.write("more.csv", self.table(FEATURES + rows, RESPONSE + [0.0] * p))
        want = self.fit(*TIGHT, *RAW, data=more)
        self.assert_same_fit(self.fit(*TIGHT, *RAW, "--ridge", str(ridge)), want)
        self.verify()

    def test_an_unpenalized_column_keeps_its_least_squares(self):
        for args in [[], ["--no-intercept"], ["--weights", "bh", "--no-standardize"]]:
            got = self.fit(*TIGHT, *args, "--unpenalized", "c1,c6")
            self.assertEqual(got["unpenalized"], [1, 6])
            clusters = dict(zip([column for column, _ in got["coefficients"]], got["cluster_of"]))
            self.assertEqual((clusters[1], clusters[6]), (-1, -1))
            self.assertEqual(got["clusters"], 1 + max(clusters.values()))
            residual = [y - z for y, z in zip(RESPONSE, oracle.predictions(got, FEATURES))]
            along = oracle.correlations(FEATURES, residual)
            for column in [1, 6]:
                self.assertLess(abs(along[column]), 1e-9 * oracle.dot(RESPONSE, RESPONSE))
            self.verify()
            self.assert_same_fit(self.fit(*TIGHT, *args, "--unpenalized", "6,1"), got)

    def test_coefficients_are_not_negative(self):
        free = self.fit("--strength", "0.01")
        self.assertLess(min(value for _, value in free["coefficients"]), 0)
        got = self.fit("--strength", "0.01", "--nonnegative", *TIGHT)
        self.assertGreater(min(value for _, value in got["coefficients"]), 0)
        self.verify()
        # The unpenalised may be.
        got = self.fit("--strength", "0.01", "--nonnegative", "--unpenalized", "c3")
        self.assertLess(dict(map(tuple, got["coefficients"]))[3], 0)
        self.verify()

    def test_path_and_cv_carry_all_of_it(self):
        data = self.weighted()
        args = ["--observation-weights", "times", "--unpenalized", "c1", "--ridge", "0.5", "--nonnegative", "--steps", "12"]
        self.succeed("path", data, *args, "--model", "path.json", "--quiet")
        self.assertIn("12 of 12 certificates hold", self.verify(data, model="path.json"))
        self.succeed("cv", data, *args, "--folds", "4", "--model", "cv.json", "--json", "cv-result.json",
                     "--report", "cv.html", "--quiet")
        self.assertIn("12 of 12 certificates hold", self.verify(data, model="cv.json"))
        result = json.loads((self.folder / "cv-result.json").read_text())
        self.assertLessEqual(result["worst_fold_gap"], 1e-6)
        self.assertTrue(any(column == 1 for column, _ in result["fits"][0]["coefficients"]))
        # A row of weight 0 counts neither in a fit nor in an error: another response there changes nothing.
        text = (self.folder / data).read_text().splitlines()
        rows = [line.split(",") for line in text]
        for row, times in zip(rows[1:], TIMES):
            if times == 0:
                row[-1] = "1000"
        self.write("other.csv", "\n".join(map(",".join, rows)) + "\n")
        self.succeed("cv", "other.csv", *args, "--folds", "4", "--json", "other.json", "--quiet")
        other = json.loads((self.folder / "other.json").read_text())
        self.assert_close([fit["error"] for fit in other["fits"]], [fit["error"] for fit in result["fits"]], 1e-6)

    def test_a_changed_model_does_not_verify(self):
        for args, field, value in [(["--ridge", "1"], "ridge", 0.9), (["--unpenalized", "c1"], "unpenalized", [1, 2]),
                                   (["--nonnegative", "--strength", "0.01"], "nonnegative", False)]:
            self.fit(*args)
            model = json.loads((self.folder / "model.json").read_text())
            self.write("changed.json", json.dumps({**model, field: value}))
            self.verify(code=1, model="changed.json")
        self.fit("--strength", "0.01")
        model = json.loads((self.folder / "model.json").read_text())
        self.write("changed.json", json.dumps({**model, "nonnegative": True}))
        self.assertIn("does not hold", self.verify(code=1, model="changed.json"))

    def test_damaged_models_and_folds_without_weight(self):
        self.fit("--unpenalized", "c1")
        model = json.loads((self.folder / "model.json").read_text())
        for columns in [list(range(8)), [8], [1, 1]]:
            self.write("changed.json", json.dumps({**model, "unpenalized": columns}))
            code, out, err = self.run_tyto("verify", "changed.json", self.data)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        code, _, err = self.run_tyto("verify", "model.json", self.data, "--observation-weights", "c2")
        self.assertEqual(code, 2)
        self.assertIn("observation-weights: want none, as the model was fitted without, got 'c2'", err)
        self.write("one.txt", "1\n" + "0\n" * 24)
        code, _, err = self.run_tyto("cv", self.data, "--observation-weights", "one.txt", "--folds", "3")
        self.assertEqual(code, 2)
        self.assertIn("folds: want rows of positive weight outside each fold, got none outside fold", err)

    def test_mistakes(self):
        data = self.weighted()
        self.write("short.txt", "1\n2\n")
        self.write("negative.txt", "1\n-2\n" + "1\n" * 23)
        for args, message in [
                (["--observation-weights", "nobody"], "observation-weights: no column 'nobody' in"),
                (["--observation-weights", "short.txt"], "short.txt: expected 25 rows as in the matrix, got 2"),
                (["--observation-weights", "negative.txt"],
                 "observation-weights: row 1: want a finite number >= 0, got -2"),
                (["--observation-weights", "c2", "--drop", "c2"],
                 "observation-weights: want a column that is not dropped, got 'c2'"),
                (["--observation-weights", "y", "--target", "y"],
                 "target: want a column that does not hold the observation weights, got 'y'"),
                (["--unpenalized", "nobody"],
                 "unpenalized: want a feature by name, or by number from 0 to 8, got 'nobody'"),
                (["--unpenalized", "c1,c1"], "unpenalized: want columns from 0 to 8, each once, got 1"),
                (["--unpenalized", ",".join([*NAMES, "times"])],
                 "unpenalized: want at least one column that is penalised, got none"),
                (["--ridge", "-1"], "ridge: want a finite number >= 0, got -1"),
                (["--ridge", "nan"], "ridge: want a finite number >= 0, got nan")]:
            code, out, err = self.run_tyto("fit", data, *args, "--model", "bad.json")
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(message, err)
            self.assertEqual(err.count("\n"), 1)
            self.assertFalse((self.folder / "bad.json").exists())


if __name__ == "__main__":
    unittest.main()
