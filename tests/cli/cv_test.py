"""'tyto cv': the JSON, errors as 'fit' and 'predict' give them fold by fold, the model file, stop and resume."""
import json
import signal
import subprocess
import time
import unittest

import oracle
from commands_test import FEATURES, NAMES, RESPONSE, CommandTest
from path_test import EACH, TOP
from report_test import page_data
from support import PROGRAM, TIMEOUT

CHOICE = {"step": int, "alpha": float, "q": float, "slope": float, "gamma": float, "nonzeros": int, "error": float, "standard_error": float}
ALL = {**TOP, "measure": str, "folds": int, "repeats": int, "best": dict, "one_se": dict, "worst_fold_gap": float,
       "curves": list, "scores": list, "compared": list, "warnings": list}
SHORT = ["--steps", "9", "--ratio", "0.01"]
NUMBERS = ("best", "one_se", "curves", "scores", "worst_fold_gap", "passes")


class CvTest(CommandTest):
    def cv(self, *args, code=0, data=None):
        """The JSON result of a cross-validation, which also leaves model.json behind."""
        found, out, err = self.run_tyto("cv", data or self.data, "--json", "-", "--model", "model.json", *args)
        self.assertEqual(found, code, f"{args}: {err}")
        return json.loads(out)

    def assert_same_numbers(self, one, two):
        for name in NUMBERS:
            self.assertEqual(one[name], two[name], name)
        for a, b in zip(one["fits"], two["fits"], strict=True):
            self.assertEqual((a["coefficients"], a["gap"], a["error"]), (b["coefficients"], b["gap"], b["error"]))


class Result(CvTest):
    def test_fields(self):
        result = self.cv("--quiet", "--folds", "5", "--steps", "20")
        for name, kind in ALL.items():
            self.assertIs(type(result[name]), kind, name)
        self.assertEqual(result["format"], "tyto-cv-1")
        self.assertEqual((result["measure"], result["folds"], result["repeats"]), ("mse", 5, 1))
        self.assertEqual((len(result["fits"]), len(result["scores"]), len(result["curves"])), (20, 5, 1))
        for fit in result["fits"]:
            for name, kind in {**EACH, "error": float, "standard_error": float}.items():
                self.assertIs(type(fit[name]), kind, name)
            self.assertEqual(fit["names"], [NAMES[column] for column, _ in fit["coefficients"]])
        self.assertEqual(result["curves"][0]["alphas"], [fit["alpha"] for fit in result["fits"]])
        self.assertEqual(result["curves"][0]["error"], [fit["error"] for fit in result["fits"]])
        for score in result["scores"]:
            self.assertEqual((score["rows"], set(score["statuses"])), (5, {"converged"}))
            self.assertLessEqual(max(score["relative_gaps"]), 1e-6)
        errors = [fit["error"] for fit in result["fits"]]
        best, one_se = result["best"], result["one_se"]
        for choice in (best, one_se):
            for name, kind in CHOICE.items():
                self.assertIs(type(choice[name]), kind, name)
            fit = result["fits"][choice["step"]]
            for name in ("alpha", "nonzeros", "error", "standard_error"):
                self.assertEqual(choice[name], fit[name])
        self.assertEqual(best["error"], min(errors))
        bound = best["error"] + best["standard_error"]
        self.assertEqual(one_se["step"], next(k for k, error in enumerate(errors) if error <= bound))
        self.assertGreaterEqual(one_se["alpha"], best["alpha"])
        path = json.loads(self.succeed("path", self.data, "--steps", "20", "--json", "-"))
        self.assertEqual([fit["coefficients"] for fit in path["fits"]], [fit["coefficients"] for fit in result["fits"]])

    def test_errors_are_those_of_fit_and_predict(self):
        """Each fold by hand: its rows in files, one cold fit for each strength, its predictions scored."""
        folds = [row * 7 % 25 % 3 for row in range(25)]
        self.write("folds.txt", "".join(f"{10 * fold}\n" for fold in folds))
        result = self.cv("--fold-file", "folds.txt", "--steps", "4", "--ratio", "0.05", "--tolerance", "1e-12")
        self.assertEqual(result["folds"], 3)
        for fold, score in enumerate(result["scores"]):
            parts = {"held.csv": [row for row in range(25) if folds[row] == fold],
                     "train.csv": [row for row in range(25) if folds[row] != fold]}
            for name, rows in parts.items():
                self.write(name, self.table([FEATURES[row] for row in rows], [RESPONSE[row] for row in rows]))
            share = len(parts["train.csv"]) / 25
            for fit, error in zip(result["fits"], score["errors"]):
                self.fit("--strength", repr(share * fit["alpha"]), "--relative-to", "absolute",
                         "--tolerance", "1e-12", data="train.csv")
                self.succeed("predict", "model.json", "held.csv", "--output", "p.csv", "--json", "e.json", "--quiet")
                self.assert_close([error], [json.loads(self.read("e.json"))["mse"]], 1e-6)
        sizes = [score["rows"] for score in result["scores"]]
        for k, fit in enumerate(result["fits"]):
            mean = sum(n * score["errors"][k] for n, score in zip(sizes, result["scores"])) / 25
            self.assert_close([fit["error"]], [mean], 1e-12)

    def test_measures(self):
        by = {name: self.cv("--error", name, *SHORT) for name in ("mse", "mae", "r2")}
        mean = sum(RESPONSE) / 25
        variance = sum((y - mean) ** 2 for y in RESPONSE) / 25
        for mse, r2 in zip(by["mse"]["fits"], by["r2"]["fits"]):
            self.assertAlmostEqual(r2["error"], 1 - mse["error"] / variance, places=10)
        self.assertEqual(by["r2"]["best"]["error"], max(fit["error"] for fit in by["r2"]["fits"]))
        self.assertEqual(by["r2"]["one_se"]["step"], by["mse"]["one_se"]["step"])
        self.assertEqual(by["mae"]["best"]["error"], min(fit["error"] for fit in by["mae"]["fits"]))

    def test_threads_and_seed(self):
        args = ["--folds", "6", "--repeats", "2", *SHORT]
        one = self.cv("--threads", "1", *args)
        for threads in (2, 7):
            self.assert_same_numbers(one, self.cv("--threads", threads, *args))
        self.assertNotEqual(one["curves"], self.cv("--seed", "5", *args)["curves"])

    def test_grid_of_q(self):
        result = self.cv("--weights", "bh", "--q", "0.5,0.05", *SHORT)
        self.assertEqual([curve["q"] for curve in result["curves"]], [0.5, 0.05])
        self.assertEqual(result["q"], result["best"]["q"])
        self.assertEqual(result["best"]["error"], min(min(curve["error"]) for curve in result["curves"]))
        self.assertIn("9 of 9 certificates hold", self.verify())
        for curve in result["curves"]:
            alone = self.cv("--weights", "bh", "--q", repr(curve["q"]), *SHORT)
            self.assertEqual(alone["curves"], [curve])

    def test_leave_one_out_and_few_rows(self):
        result = self.cv("--folds", "25", "--steps", "3")
        self.assertEqual([score["rows"] for score in result["scores"]], [1] * 25)
        self.write("three.csv", self.table(FEATURES[:3], RESPONSE[:3]))
        self.cv("--folds", "3", data="three.csv")

    def test_rows_left_out(self):
        rows = self.table(FEATURES, RESPONSE).splitlines()
        rows[4] = "NA" + rows[4][rows[4].index(","):]
        self.write("holes.csv", "\n".join(rows) + "\n")
        self.write("folds.txt", "".join(f"{row % 2}\n" for row in range(25)))
        self.write("short.csv", "\n".join(rows[:4] + rows[5:]) + "\n")
        self.write("short.txt", "".join(f"{row % 2}\n" for row in range(25) if row != 3))
        holes = self.cv("--fold-file", "folds.txt", "--missing", "drop-rows", *SHORT, data="holes.csv")
        self.assert_same_numbers(holes, self.cv("--fold-file", "short.txt", *SHORT, data="short.csv"))

    def test_summary(self):
        out = self.succeed("cv", self.data, "--target", "y", "--repeats", "2").splitlines()
        self.assertEqual(out[1].split(), "step alpha nonzeros clusters mse std. error".split())
        chosen = [line for line in out if " step " in line and ":" in line]
        self.assertRegex(chosen[0], r"\Abest: +step \d+, alpha \S+: mse \S+ \+- \S+, \d+ non-zeros in \d+ clusters, R2 \S+ on the data fitted\Z")
        self.assertRegex(chosen[1], r"\Aone std. error: +step \d+, alpha \S+: mse ")
        self.assertEqual(len(chosen), 2)
        self.assertRegex(out[-1], r"\A10 folds, 2 times, all fits converged; largest relative gap ")
        self.assertEqual(self.succeed("cv", self.data, "--quiet"), "")

    def test_report(self):
        result = self.cv("--report", "r.html", *SHORT)
        page = self.read("r.html")
        for number in (result["best"]["error"], result["scores"][3]["errors"][4]):
            self.assertIn(f"{number:.6g}"[:6], page)
        self.assertIn("mean squared error", page)

    def test_slopes_of_oscar(self):
        self.succeed("cv", self.data, "--slope", "0,1,20", "--steps", "15", "--json", "cv.json", "--model", "m.json", "--quiet")
        result = json.loads((self.folder / "cv.json").read_text())
        self.assertEqual([curve["slope"] for curve in result["curves"]], [0, 1, 20])
        least = [min(curve["error"]) for curve in result["curves"]]
        self.assertEqual(result["best"]["slope"], [0, 1, 20][least.index(min(least))])
        self.assertEqual(result["best"]["error"], min(least))
        self.assertIn("15 of 15 certificates hold", self.succeed("verify", "m.json", self.data))
        self.succeed("cv", self.data, "--weights", "lasso", "--steps", "15", "--json", "lasso.json", "--quiet")
        lasso = json.loads((self.folder / "lasso.json").read_text())
        for a, b in zip(lasso["curves"][0]["error"], result["curves"][0]["error"]):
            self.assertAlmostEqual(a, b, delta=1e-4 * b)  # slope 0 is the lasso
        for args, message in [(["--slope", "1,1"], "slope: want each number once, got 1 twice"),
                              (["--slope", "-1"], "slope: want a finite number >= 0, got -1"),
                              (["--slope", "1,2", "--weights", "bh"], "slope: want one number where the weights are not oscar")]:
            code, _, err = self.run_tyto("cv", self.data, *args)
            self.assertEqual((code, err.count("\n")), (2, 1))
            self.assertIn(message, err)

    def test_what_was_chosen_is_said(self):
        """Of every parameter that is compared: in the summary, in both files and in the report."""
        for args, name, values in ((["--slope", "0,1,20"], "slope", [0, 1, 20]), (["--weights", "bh", "--q", "0.5,0.05"], "q", [0.5, 0.05]),
                                   (["--weights", "gaussian", "--q", "0.5,0.05"], "q", [0.5, 0.05]), (["--gamma", "0,0.5,1"], "gamma", [0, 0.5, 1])):
            with self.subTest(args=args):
                out = self.succeed("cv", self.data, *SHORT, *args, "--json", "cv.json", "--model", "m.json", "--report", "r.html")
                result = json.loads(self.read("cv.json"))
                least = {curve[name]: min(curve["error"]) for curve in result["curves"]}
                best = min(values, key=least.get)
                want = [{"name": name, "values": values, "errors": [least[value] for value in values], "chosen": best}]
                self.assertEqual(result["compared"], want)
                self.assertEqual(json.loads(self.read("m.json"))["compared"], want)
                self.assertEqual(result["best"][name], best)
                listed = [", ".join(f"{number:.6g}" for number in numbers) for numbers in (values, want[0]["errors"])]
                self.assertIn(f"{name} {best:g} is the best of {listed[0]}: mse {listed[1]}\n", out)
                errors = page_data(self.read("r.html"))["errors"]
                self.assertEqual((errors["compared"][0]["name"], errors["compared"][0]["chosen"]), (name, best))
                if name != "gamma":
                    shape = f"shape q = {best:g}" if name == "q" else f"slope {best:g}"
                    self.assertIn(shape, out.splitlines()[1])  # after the line that names the target
                    self.assertIn(shape, page_data(self.read("r.html"))["shape"])
        self.assertEqual(self.cv(*SHORT)["compared"], [])

    def test_the_end_of_the_grid(self):
        warning = "the best is the last strength: a smaller --ratio may do better"
        out = self.succeed("cv", self.data, "--steps", "4", "--ratio", "0.3", "--json", "cv.json", "--model", "m.json", "--report", "r.html")
        self.assertIn(f"warning: {warning}\n", out)
        self.assertEqual(json.loads(self.read("cv.json"))["warnings"], [warning])
        self.assertEqual(json.loads(self.read("m.json"))["warnings"], [warning])
        self.assertEqual(page_data(self.read("r.html"))["warnings"], [warning])
        self.assertIn(warning, self.succeed("coef", "m.json"))
        self.assertNotIn(warning, self.succeed("coef", "m.json", "--step", "1"))
        self.assertEqual(self.cv("--steps", "30")["warnings"], [])

    def test_no_false_discovery_rate(self):
        """The strength is chosen by error: q is a shape."""
        for command in ("cv", "path"):
            out = self.succeed(command, self.data, "--weights", "bh", "--q", "0.1", "--report", "r.html", *SHORT)
            data = page_data(self.read("r.html"))
            self.assertIn("weights bh, shape q = 0.1", out)
            self.assertEqual(data["shape"], "bh, shape q = 0.1")
            self.assertNotIn("discover", out + json.dumps(data) + self.read("r.html").replace('"False discoveries"', ""))
        help_text = " ".join(self.succeed("cv", "--help").split())
        self.assertIn("Not a false discovery rate: the strength is chosen by error", help_text)

    def test_progress_on_a_terminal(self):
        self.succeed("simulate", "--rows", "100", "--cols", "300", "--output", "big.csv", "--quiet")
        lines = self.progress_on_a_terminal("cv", "big.csv", "--tolerance", "1e-10", "--steps", "30", "--repeats", "3")
        for line in lines:
            self.assertRegex(line, r"\A\d+ of 30 folds done(   about \S+ \S+ left)?   \S+ s\Z")
        self.assertTrue(any("left" in line for line in lines))

    def test_nothing_correlated(self):
        self.write("flat.csv", self.table(FEATURES, [2.5] * 25))
        code, out, err = self.run_tyto("cv", "flat.csv", "--json", "-", "--model", "model.json")
        self.assertEqual((code, json.loads(out)["best"]["error"]), (0, 0))
        self.assertIn("tyto: warning: nothing is left in the model", err)
        self.verify("flat.csv")

    def test_not_converged(self):
        result = self.cv("--max-epochs", "1", "--tolerance", "1e-12", "--solver", "apgd", *SHORT, code=1)
        self.assertIn("epoch_limit", result["scores"][0]["statuses"])
        self.assertGreater(result["worst_fold_gap"], 1e-12)
        self.assertIn("9 of 9 certificates hold", self.verify())


class Mistakes(CvTest):
    def test_bad_options(self):
        self.write("short.txt", "0\n1\n")
        self.write("one.txt", "3\n" * 25)
        self.write("half.txt", "0.5\n" * 25)
        self.write("words.txt", "a\n" * 25)
        rows = [
            (["--folds", "1"], "folds: want a number >= 2, got 1"),
            (["--folds", "26"], "folds: want a number from 2 to 25, the number of rows, got 26"),
            (["--folds", "nan"], "want a whole number >= 0, got 'nan'"),
            (["--folds", "-3"], "want a whole number >= 0, got '-3'"),
            (["--repeats", "0"], "repeats: want a number >= 1, got 0"),
            (["--error", "auc"], "error: want a measure for gaussian data, got auc, which is for two classes"),
            (["--q", "0.1,0.2"], "q: want one number where the weights are not bh or gaussian, got several"),
            (["--weights", "bh", "--q", "0.1,nan"], "q"),
            (["--weights", "bh", "--q", "0.1,0.1"], "q: want each number once"),
            (["--steps", "0"], "steps: want a number >= 1, got 0"),
            (["--fold-file", "short.txt"], "fold-file: want 25 numbers, one for each row of the data, got 2"),
            (["--fold-file", "one.txt"], "folds: want at least 2 folds, got one"),
            (["--fold-file", "half.txt"], "fold-file: want whole numbers, got 0.5"),
            (["--fold-file", "words.txt"], "words.txt"),
            (["--fold-file", "gone.txt"], "gone.txt"),
            (["--fold-file", "one.txt", "--folds", "3"], "excludes"),
            (["--fold-file", "half.txt", "--repeats", "2"], ""),
            (["--resume", "-"], "resume: want a file, got '-'"),
            (["--resume", "model.json"], "twice"),
            (["--resume", "gone/state.json"], "gone/state.json: cannot write: no folder gone"),
        ]
        for args, message in rows:
            with self.subTest(args=args):
                code, out, err = self.run_tyto("cv", self.data, "--model", "model.json", *args)
                self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
                self.assertIn(message, err)
                self.assertFalse((self.folder / "model.json").exists())


class ModelFile(CvTest):
    def setUp(self):
        super().setUp()
        self.succeed("cv", self.data, *SHORT, "--json", "result.json", "--model", "model.json", "--quiet",
                     "--coefficients", "best.csv")
        self.result = json.loads(self.read("result.json"))

    def test_predict(self):
        best, one_se = self.result["best"]["step"], self.result["one_se"]["step"]
        self.assertNotEqual(best, one_se)
        for model in ("model.json", "result.json"):
            for args, step in (([], best), (["--choose", "best"], best), (["--choose", "one-se"], one_se),
                               (["--step", "2"], 2)):
                want = oracle.predictions({**self.result, **self.result["fits"][step]}, FEATURES)
                lines = self.succeed("predict", model, self.data, *args).split()
                self.assert_close([float(line) for line in lines[1:]], want)

    def test_verify(self):
        for model in ("model.json", "result.json"):
            self.assertIn("9 of 9 certificates hold", self.verify(model=model))
            self.assertIn("the certificate holds", self.succeed("verify", model, self.data, "--choose", "best"))
        model = json.loads(self.read("model.json"))
        model["fits"][self.result["best"]["step"]]["coefficients"][0][1] *= 1.001
        self.write("bad.json", json.dumps(model))
        self.assertEqual(self.run_tyto("verify", "bad.json", self.data, "--choose", "best")[0], 1)

    def test_coefficients(self):
        fit = self.result["fits"][self.result["best"]["step"]]
        lines = self.read("best.csv").splitlines()
        self.assertEqual(lines[0], "column,name,coefficient,cluster")
        self.assertEqual([[int(line.split(",")[0]), float(line.split(",")[2])] for line in lines[1:]],
                         fit["coefficients"])

    def test_wrong_choices(self):
        self.succeed("path", self.data, *SHORT, "--model", "path.json")
        for model, args, message in (("model.json", ["--choose", "worst"], "choose: want one of best, one-se, aic, bic, cp, or a step, got 'worst'"),
                                     ("path.json", ["--choose", "best"], "choose: want a model file of 'tyto cv'"),
                                     ("model.json", ["--choose", "best", "--step", "1"], "excludes")):
            code, out, err = self.run_tyto("predict", model, self.data, *args)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(message, err)
        model = json.loads(self.read("model.json"))
        for step in (9, -1, "2", None):
            self.write("bad.json", json.dumps({**model, "best": {"step": step}}))
            code, out, err = self.run_tyto("predict", "bad.json", self.data)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1))
            self.assertIn("bad.json: damaged model: expected the number of a strength as step of best", err)


class Resume(CvTest):
    ARGS = ["--folds", "20", "--steps", "20", "--threads", "2", "--tolerance", "1e-9", "--resume", "state.json"]

    def setUp(self):
        super().setUp()
        self.succeed("simulate", "--rows", "100", "--cols", "800", "--output", "big.csv", "--quiet")

    def finished(self):
        state = self.folder / "state.json"
        return len(json.loads(state.read_text())["folds"]) if state.exists() else 0

    def stopped_by(self, number):
        """Starts a run and sends it a signal once some folds are done; -> (exit code, standard error). On a busy machine the run may
        be faster than the signal: then there is another one."""
        for _ in range(5):
            process = subprocess.Popen([PROGRAM, "cv", "big.csv", *self.ARGS, "--model", "model.json"], cwd=self.folder,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            end = time.monotonic() + TIMEOUT
            while self.finished() < 3 and process.poll() is None:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.005)
            process.send_signal(number)
            err = process.communicate(timeout=TIMEOUT)[1]
            if self.finished() < 20:
                self.assertFalse((self.folder / "model.json").exists())
                return process.returncode, err
            for file in ("state.json", "model.json"):
                (self.folder / file).unlink(missing_ok=True)
        self.fail("the program is always faster than the signal")

    def check_resumed(self):
        before = self.finished()
        self.assertGreaterEqual(before, 3)
        resumed = self.cv(*self.ARGS, data="big.csv")
        self.assertEqual(self.finished(), 20)
        self.assert_same_numbers(resumed, self.cv(*self.ARGS[:-2], data="big.csv"))
        self.assert_same_numbers(resumed, self.cv(*self.ARGS, data="big.csv"))

    def test_killed(self):
        self.assertEqual(self.stopped_by(signal.SIGKILL)[0], -signal.SIGKILL)
        self.check_resumed()

    def test_interrupted(self):
        code, err = self.stopped_by(signal.SIGINT)
        self.assertEqual(code, 130)
        self.assertRegex(err, r"\Atyto: stopped by interrupt after \d+ of 20 folds, nothing is chosen; "
                              r"the same command goes on from state.json\n\Z")
        self.check_resumed()

    def test_out_of_time(self):
        code, out, err = self.run_tyto("cv", "big.csv", "--max-seconds", "0", "--model", "model.json")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "tyto: stopped by max_seconds after 0 of 10 folds, nothing is chosen; "
                              "--resume FILE would keep finished folds\n")
        self.assertFalse((self.folder / "model.json").exists())

    def test_another_run_is_refused(self):
        args = ["--resume", "state.json", *SHORT]
        self.cv(*args)
        kept = self.read("state.json")
        self.write("other.csv", self.table(FEATURES, [y + 1e-9 for y in RESPONSE]))
        for data, more, message in ((self.data, ["--tolerance", "1e-7"], "--tolerance 1e-06, not 1e-07"),
                                    (self.data, ["--seed", "2"], "--seed 1, not 2"),
                                    (self.data, ["--weights", "lasso"], '--weights "oscar", not "lasso"'),
                                    (self.data, ["--error", "mae"], '--error "auto", not "mae"'),
                                    ("other.csv", [], "other data")):
            code, out, err = self.run_tyto("cv", data, *args, *more)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1))
            self.assertIn("state.json: holds folds of another run: of " + message, err)
            self.assertEqual(self.read("state.json"), kept)
        for damage in ("", "{", "[]", '{"format": "tyto-cv-state-1"}', kept[:len(kept) // 2],
                       kept.replace('"converged"', '"great"'), kept.replace('"errors"', '"error"')):
            self.write("state.json", damage)
            code, out, err = self.run_tyto("cv", self.data, *args)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), damage[:60])
            self.assertIn("state.json: expected", err)


if __name__ == "__main__":
    unittest.main()
