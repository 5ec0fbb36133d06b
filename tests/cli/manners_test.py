"""What the program says beside its results: options in vain, reasons under --quiet, summaries, help, and the fields that docs/cli.md lists."""
import json
import random
import re
import unittest
from pathlib import Path

from support import TytoTest, csv_text, libsvm_text

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
SHORT = ["--steps", "4", "--ratio", "0.1"]


class MannersTest(TytoTest):
    def setUp(self):
        super().setUp()
        chance = random.Random(5)
        self.rows = [[chance.gauss(0, 1) for _ in range(4)] for _ in range(20)]
        self.response = [2 * row[0] - row[2] + chance.gauss(0, 0.5) for row in self.rows]
        self.names = ["a", "b", "c", "d", "y"]
        self.write("d.csv", csv_text([[*row, y] for row, y in zip(self.rows, self.response)], self.names))
        self.write("w.txt", "4\n3\n2\n1\n")


class OptionsInVain(MannersTest):
    def said(self, *args):
        code, _, err = self.run_tyto(*args)
        self.assertEqual(code, 0, err)
        return err

    def test_each_is_named(self):
        for command, args, sentence in [
                ("fit", ["--q", "0.2"], "--q has no effect with oscar weights"),
                ("path", ["--q", "0.2", "--weights", "lasso"], "--q has no effect with lasso weights"),
                ("cv", ["--q", "0.2", "--weights", "linf", "--folds", "3"], "--q has no effect with linf weights"),
                ("fit", ["--slope", "2", "--weights", "bh"], "--slope has no effect with bh weights"),
                ("cv", ["--slope", "2", "--weights", "bh", "--folds", "3"], "--slope has no effect with bh weights"),
                ("fit", ["--slope", "2", "--weights", "w.txt"], "--slope has no effect with weights from a file"),
                ("fit", ["--batch", "5"], "--batch has no effect with solver newton"),
                ("fit", ["--inner-steps", "5", "--solver", "apgd"], "--inner-steps has no effect with solver apgd"),
                ("path", ["--step-size", "0.5"], "--step-size has no effect with solver newton"),
                ("fit", ["--seed", "7"], "--seed has no effect with solver newton")]:
            more = SHORT if command != "fit" else []
            self.assertEqual(self.said(command, "d.csv", *args, *more), f"tyto: warning: {sentence}\n")
            self.assertEqual(self.said(command, "d.csv", *args, *more, "--quiet"), "")

    def test_nothing_is_said_where_they_have_one(self):
        for command, args in [("fit", ["--q", "0.2", "--weights", "gaussian"]), ("fit", ["--slope", "2"]),
                              ("fit", ["--solver", "spgd", "--batch", "5", "--seed", "3"]),
                              ("cv", ["--seed", "3", "--q", "0.1,0.2", "--weights", "bh", "--folds", "3", *SHORT])]:
            self.assertEqual(self.said(command, "d.csv", *args), "")

    def test_header_of_a_format_without(self):
        self.write("d.svm", libsvm_text(self.rows, self.response))
        self.assertEqual(self.said("fit", "d.svm", "--header", "yes"), "tyto: warning: --header has no effect on libsvm files\n")


class Quiet(MannersTest):
    def test_the_reason_of_exit_code_1_is_said(self):
        self.succeed("simulate", "--rows", "8", "--cols", "60", "--groups", "4", "--output", "wide.csv", "--quiet")
        self.succeed("path", "d.csv", *SHORT, "--model", "path.json", "--quiet")
        path = json.loads(self.read("path.json"))
        for fit in path["fits"][2:]:
            fit["gap"], fit["primal"] = 0.0, fit["primal"] * 2
        self.write("wrong-path.json", json.dumps(path))
        self.succeed("fit", "d.csv", "--model", "fit.json", "--quiet")
        self.write("wrong.json", json.dumps({**json.loads(self.read("fit.json")), "primal": 1e9}))
        for args, reason in [
                (["fit", "d.csv", "--max-epochs", "0"], r"the fit stopped before its tolerance 1e-06: epoch_limit, relative gap 0\.\d+, rounding .*"),
                (["fit", "wide.csv", "--weights", "bh", "--sigma", "estimate", "--q", "1"], r"the estimate of the noise did not settle: .*"),
                (["path", "d.csv", *SHORT, "--max-epochs", "0"], r"all 4 strengths, 3 of them not converged"),
                (["cv", "d.csv", *SHORT, "--folds", "3", "--max-epochs", "0"], r"not all fits converged; largest relative gap .*"),
                (["cv", "d.csv", *SHORT, "--folds", "3", "--max-seconds", "1e-9"], r"stopped by max_seconds after 0 of 3 folds, nothing is chosen; .*"),
                (["verify", "wrong.json", "d.csv"], r"the certificate does not hold: the primal value is not the one that the model states"),
                (["verify", "wrong-path.json", "d.csv"], r"2 of 4 certificates do not hold; step 2: the certificate does not hold: the primal .*")]:
            code, out, err = self.run_tyto(*args, "--quiet")
            self.assertEqual((code, out), (1, ""), args)
            self.assertRegex(err, rf"\Atyto: {reason}\n\Z")


class Messages(MannersTest):
    def test_a_response_that_is_dropped(self):
        for args, message in [
                (["--drop", "y"], "target: the column called 'y' is dropped; give --target NAME or number"),
                (["--observation-weights", "y"], "target: the column called 'y' holds the observation weights; give --target NAME or number")]:
            code, out, err = self.run_tyto("fit", "d.csv", *args)
            self.assertEqual((code, out, err), (2, "", f"tyto: {message}\n"))

    def test_the_summary_of_predict(self):
        self.succeed("fit", "d.csv", "--model", "m.json", "--quiet")
        code, out, err = self.run_tyto("predict", "m.json", "d.csv", "--output", "p.csv")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\Athe fit: alpha .* 20 rows: RMSE .*\n\Z")
        code, out, err = self.run_tyto("predict", "m.json", "d.csv")
        self.assertEqual((code, out), (0, self.read("p.csv")))  # the predictions have standard output to themselves
        self.assertRegex(err, r"\Athe fit: alpha .*\n\Z")

    def test_what_verify_takes_by_default(self):
        words = " ".join(self.succeed("verify", "--help").split())
        self.assertIn("The one strength that is checked [all]", words)
        self.assertNotIn("the default", words)

    def test_a_mean_just_below_the_mark(self):
        self.succeed("fit", "d.csv", "--weights", "linf", "--strength", "0.5", "--model", "m.json", "--quiet")
        model = json.loads(self.read("m.json"))
        for mean, shown in [(0.4996, "<0.50 ?"), (0.494, "0.49 ?"), (0.5004, "0.50 ")]:
            model["cluster_correlation"][0] = [mean, 0.1]
            self.write("m.json", json.dumps(model))
            self.assertRegex(self.succeed("coef", "m.json"), rf"(?m)^ +0 +{re.escape(shown)} +0\.10 ")


class NotFinite(MannersTest):
    def test_the_messages_of_the_page(self):
        page = DOCS.read_text()
        self.write("data.csv", "age,y\n" + "1,2\n" * 10 + "inf,3\n")
        self.write("data.svm", "1 1:2 3:4\n" * 11 + "2 1:1 3:nan\n")
        self.write("label.svm", "1 1:2 3:4\n" * 11 + "nan 1:1\n")
        for data, part in (("data.csv", "data.csv:12: "), ("data.svm", "data.svm:12: "), ("label.svm", "")):
            code, _, err = self.run_tyto("fit", data)
            self.assertEqual(code, 2)
            self.assertIn(f"`{part}{err.split(': ', 2)[2].strip()}`", page)
        self.succeed("fit", "d.csv", "--model", "m.json", "--quiet")
        self.write("m.json", json.dumps({**json.loads(self.read("m.json")), "gap": None}))
        code, _, err = self.run_tyto("verify", "m.json", "d.csv")
        self.assertEqual(code, 2)
        self.assertIn(f"`{err.removeprefix('tyto: ').strip()}`", page)


class Fields(MannersTest):
    """docs/cli.md names every field of every JSON file."""

    def setUp(self):
        super().setUp()
        self.documented = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]+)`", DOCS.read_text()))))

    def check(self, value, where):
        if isinstance(value, list):
            for one in value:
                self.check(one, where)
        if not isinstance(value, dict):
            return
        for key, inner in value.items():
            self.assertIn(key, self.documented, f"a field of {where}")
            self.check(inner, where)
        if "format" in value:
            self.assertIn(value["format"], self.documented)

    def test_all_are_there(self):
        self.write("rows.txt", "1\n2\n" * 10)
        for name, args in {
                "fit": ["fit", "d.csv"], "given": ["fit", "d.csv", "--weights", "w.txt", "--gamma", "0.5"],
                "noise": ["fit", "d.csv", "--weights", "bh", "--sigma", "estimate", "--observation-weights", "rows.txt"],
                "path": ["path", "d.csv", *SHORT, "--choose", "aic,bic,cp"],
                "cv": ["cv", "d.csv", *SHORT, "--folds", "3", "--slope", "1,2", "--gamma", "0,1"]}.items():
            self.run_tyto(*args, "--json", f"{name}.json", "--model", f"{name}-model.json", "--quiet")
            for file in (f"{name}.json", f"{name}-model.json"):
                self.check(json.loads(self.read(file)), file)
        for name in ("given", "path", "cv"):
            choice = {"path": ["--choose", "bic"]}.get(name, [])
            self.succeed("verify", f"{name}.json", "d.csv", "--json", "v.json")
            self.succeed("coef", f"{name}.json", *choice, "--json", "c.json", "--quiet")
            self.succeed("predict", f"{name}.json", "d.csv", *choice, "--json", "p.json", "--output", "p.csv")
            for file in ("v.json", "c.json", "p.json"):
                self.check(json.loads(self.read(file)), file)


if __name__ == "__main__":
    unittest.main()
