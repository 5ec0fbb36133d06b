"""'tyto coef': the coefficients of any model in a file, as a table, as CSV and as JSON; and which model is taken where none is named."""
import json
import unittest

from commands_test import FEATURES, RESPONSE, CommandTest

SHORT = ["--steps", "9", "--ratio", "0.01", "--quiet"]


class CoefTest(CommandTest):
    def cv(self, *args):
        self.succeed("cv", self.data, *SHORT, "--json", "cv-result.json", "--model", "cv.json", "--coefficients", "best.csv",
                     "--report", "r.html", *args)
        return json.loads(self.read("cv-result.json"))

    def coef(self, *args):
        return json.loads(self.succeed("coef", *args, "--json", "-", "--quiet"))

    def rows(self, text):
        """(cluster, column, coefficient) of the table that a terminal shows."""
        lines = text.splitlines()
        start = next(k for k, line in enumerate(lines) if line.split()[:1] == ["cluster"]) + 1
        cells = [line.replace(" ? ", " ").split() for line in lines[start:] if line[:8].strip().isdigit()]
        return [(int(row[0]), int(row[3]), float(row[4])) for row in cells]


class Choice(CoefTest):
    def test_one_default_everywhere(self):
        """predict, --coefficients, coef and the report take the best, and the summary says so."""
        result = self.cv()
        best = result["fits"][result["best"]["step"]]
        self.assertNotEqual(result["best"]["step"], result["one_se"]["step"])
        found = self.coef("cv.json")
        self.assertEqual((found["step"], found["coefficients"]), (result["best"]["step"], best["coefficients"]))
        self.assertEqual(self.succeed("coef", "cv.json", "--output", "-", "--quiet"), self.read("best.csv"))
        self.assertEqual(self.succeed("predict", "cv.json", self.data), self.succeed("predict", "cv.json", self.data, "--choose", "best"))
        self.assertIn("best by cross-validation", self.succeed("coef", "cv.json"))
        self.assertIn("best by cross-validation", self.run_tyto("predict", "cv.json", self.data)[2])
        out = self.succeed("cv", self.data, *SHORT[:-1])
        self.assertIn("'tyto predict', 'tyto coef', --coefficients and the report take the best, unless told otherwise\n", out)
        self.assertIn("if (report.errors) return report.errors.best;", self.read("r.html"))

    def test_every_way_to_name_one(self):
        result = self.cv()
        one_se = result["one_se"]["step"]
        for args, step, words in ((["--choose", "one-se"], one_se, "largest strength within one standard error of the best"),
                                  (["--step", "4"], 4, "step 4 of 0 to 8"), (["--choose", "4"], 4, "step 4 of 0 to 8"),
                                  (["--alpha", repr(result["fits"][5]["alpha"])], 5, "step 5 of 0 to 8")):
            for model in ("cv.json", "cv-result.json"):
                found = self.coef(model, *args)
                self.assertEqual((found["format"], found["step"]), ("tyto-coefficients-1", step))
                self.assertEqual(found["coefficients"], result["fits"][step]["coefficients"])
                self.assertIn(words, found["chosen"])
                self.assertIn(words, self.succeed("coef", model, *args).splitlines()[0])

    def test_criteria(self):
        self.succeed("path", self.data, "--steps", "15", "--choose", "aic,bic,cp", "--sigma", "0.01", "--model", "p.json", "--quiet")
        path = json.loads(self.read("p.json"))
        for name in ("aic", "bic", "cp"):
            self.assertEqual(self.coef("p.json", "--choose", name)["step"], path[name]["step"])
        code, out, err = self.run_tyto("coef", "p.json")
        self.assertEqual((code, out, err.count("\n")), (2, "", 1))
        self.assertIn("p.json: holds a path of 15 models: want --step 0 to 14, --alpha, or --choose", err)

    def test_relaxed(self):
        result = self.cv("--gamma", "0,0.5")
        found = self.coef("cv.json")
        fit = result["fits"][result["best"]["step"]]
        self.assertEqual([found[name] for name in ("coefficients", "gamma", "relaxed")],
                         [fit[name] for name in ("coefficients", "gamma", "relaxed")])
        self.assertIn(f"relaxed: gamma {fit['gamma']:g}", self.succeed("coef", "cv.json"))

    def test_mistakes(self):
        self.cv()
        self.write("damaged.json", "{")
        for args, message in ((["cv.json", "--choose", "worst"], "choose: want one of"), (["cv.json", "--choose", "9"], "step: want a number from 0 to 8, got 9"),
                              (["cv.json", "--choose", "99999999999999999999"], "step: want a number from 0 to 8, got 99999999999999999999"),
                              (["cv.json", "--step", "9"], "step: want a number from 0 to 8"),
                              (["cv.json", "--choose", "bic"], "choose: want a model file of 'tyto path --choose bic'"),
                              (["cv.json", "--step", "1", "--choose", "best"], "excludes"), (["gone.json"], "gone.json"),
                              (["damaged.json"], "damaged.json: expected a tyto model"), ([], "MODEL"),
                              (["cv.json", "--output", "cv.json"], "want another file than the input"),
                              (["cv.json", "--output", "-", "--json", "-"], "twice")):
            code, out, err = self.run_tyto("coef", *args)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), args)
            self.assertIn(message, err)


class Table(CoefTest):
    def test_the_strongest_first(self):
        self.succeed("simulate", "--rows", "60", "--cols", "80", "--groups", "4", "--output", "big.csv", "--quiet")
        self.succeed("fit", "big.csv", "--target", "y", "--strength", "0.02", "--model", "m.json", "--quiet")
        fit = json.loads(self.read("m.json"))
        self.assertGreater(fit["nonzeros"], 30)
        by_column = {column: (cluster, value) for (column, value), cluster in zip(fit["coefficients"], fit["cluster_of"])}
        for args, most in (([], 30), (["--all"], fit["nonzeros"])):
            out = self.succeed("coef", "m.json", *args)
            rows = self.rows(out)
            self.assertEqual(len(rows), most)
            self.assertEqual([cluster for cluster, _, _ in rows], sorted(cluster for cluster, _, _ in rows))
            for cluster, column, value in rows:
                self.assertEqual(cluster, by_column[column][0])
                self.assertAlmostEqual(value, by_column[column][1], delta=1e-5 * abs(value))
            self.assertEqual("more)" in out, most == 30)
        code, out, err = self.run_tyto("coef", "m.json", "--output", "-")
        self.assertEqual((code, len(out.splitlines()) - 1), (0, fit["nonzeros"]))
        self.assertIn("mean |r|", err)

    def test_nothing(self):
        self.write("flat.csv", self.table(FEATURES, [2.5] * len(RESPONSE)))
        self.run_tyto("fit", "flat.csv", "--model", "m.json", "--quiet")
        self.assertIn("0 of 8 coefficients are not zero", self.succeed("coef", "m.json"))

    def test_an_unfinished_fit_says_so(self):
        code, _, _ = self.run_tyto("fit", self.data, "--solver", "apgd", "--max-epochs", "1", "--tolerance", "1e-13", "--model", "m.json")
        self.assertEqual(code, 1)
        self.assertIn("warning: the fit is not finished: epoch_limit", self.succeed("coef", "m.json"))


if __name__ == "__main__":
    unittest.main()
