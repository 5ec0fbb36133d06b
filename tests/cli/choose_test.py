"""Choosing a model: criteria along a path, relaxed fits, the noise level as strength; and what 'predict' and 'verify' make of them."""
import json
import math
import unittest

import oracle
from commands_test import FEATURES, NAMES, RAW, RESPONSE, CommandTest
from report_test import page_data

N = len(RESPONSE)
SHORT = ["--steps", "15", "--ratio", "0.005"]


def residual(model, values=None, intercept=None):
    """y - prediction, with these coefficients in place of the model's."""
    values = values if values is not None else [value for _, value in model["coefficients"]]
    intercept = intercept if intercept is not None else model["intercept"]
    columns = [column for column, _ in model["coefficients"]]
    return [y - intercept - sum(b * row[j] for j, b in zip(columns, values)) for y, row in zip(RESPONSE, FEATURES)]


def squares(values):
    return math.fsum(value * value for value in values)


class ChooseTest(CommandTest):
    def path(self, *args, code=0, data=None):
        found, out, err = self.run_tyto("path", data or self.data, "--json", "-", "--model", "model.json", *SHORT, *args)
        self.assertEqual(found, code, f"{args}: {err}")
        return json.loads(out)

    def cv(self, *args):
        return json.loads(self.succeed("cv", self.data, "--json", "-", "--model", "model.json", *SHORT, *args))

    def refused(self, *args):
        """What is said of a mistake, which leaves no model behind."""
        code, out, err = self.run_tyto(*args)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        self.assertFalse((self.folder / "new.json").exists())
        return err

    def tampered(self, change, model="model.json"):
        """What 'verify' says of the model after a change, which it has to refuse."""
        text = json.loads(self.read(model))
        change(text)
        self.write("bad.json", json.dumps(text))
        return self.verify(model="bad.json", code=1)


class Criteria(ChooseTest):
    def test_definitions(self):
        for args, extra in (([], 1), (["--no-intercept"], 0), (["--sigma", "0.7"], 1), (["--gamma", "0.5"], 1)):
            with self.subTest(args=args):
                fits = self.path(*args)["fits"]
                rss = [squares(residual(fit)) for fit in fits]
                df = [fit["clusters"] + extra for fit in fits]
                variance = 0.49 if "--sigma" in args else rss[-1] / (N - df[-1])
                self.assertEqual([fit["df"] for fit in fits], df)
                self.assert_close([fit["aic"] for fit in fits], [N * math.log(r / N) + 2 * k for r, k in zip(rss, df)], 1e-8)
                self.assert_close([fit["bic"] for fit in fits],
                                  [N * math.log(r / N) + math.log(N) * k for r, k in zip(rss, df)], 1e-8)
                self.assert_close([fit["cp"] for fit in fits], [r / variance - N + 2 * k for r, k in zip(rss, df)], 1e-8)

    def test_choice(self):
        result = self.path("--choose", "aic,bic,cp")
        self.assertEqual(result["aic"]["step"], min(range(15), key=lambda k: result["fits"][k]["aic"]))
        self.assertLess(result["bic"]["df"], result["fits"][-1]["df"])
        model = json.loads(self.read("model.json"))
        for name in ("aic", "bic", "cp"):
            choice = result[name]
            fit = result["fits"][choice["step"]]
            self.assertEqual(choice["value"], min(fit[name] for fit in result["fits"]))
            self.assertEqual([choice[key] for key in ("alpha", "nonzeros", "clusters", "df")],
                             [fit[key] for key in ("alpha", "nonzeros", "clusters", "df")])
            self.assertEqual(model[name], choice)
            want = oracle.predictions({**result, **fit}, FEATURES)
            self.assert_close(self.predicted(self.data, "--choose", name), want)
            self.assertIn("the certificate holds", self.succeed("verify", "model.json", self.data, "--choose", name))
        self.assertIn("15 of 15 certificates hold", self.verify())
        self.assertNotIn("aic", self.path())

    def test_different_choices_need_words(self):
        result = self.path("--choose", "bic,cp", "--sigma", "0.01")
        self.assertLess(result["bic"]["step"], result["cp"]["step"])
        self.assertIn("holds a path of 15 models: want --step 0 to 14, --alpha, or --choose",
                      self.refused("predict", "model.json", self.data))

    def test_one_choice_needs_no_words(self):
        result = self.path("--choose", "bic")
        want = oracle.predictions({**result, **result["fits"][result["bic"]["step"]]}, FEATURES)
        self.assert_close(self.predicted(self.data), want)

    def test_summary_and_report(self):
        out = self.succeed("path", self.data, *SHORT, "--choose", "cp,bic", "--report", "r.html")
        self.assertRegex(out, r"(?m)^cp:   step \d+, alpha \S+: \S+ with \d+ degrees of freedom, \d+ non-zeros in \d+ clusters$")
        self.assertRegex(out, r"(?m)^bic:  step \d+")
        self.assertRegex(self.read("r.html"), r'"choices":\{"\w+":\d+,"\w+":\d+\}')

    def test_doubtful_choices(self):
        """AIC and BIC where features outnumber rows: at the end of the path, and where nearly all degrees of freedom are used up."""
        rows, response = oracle.problem(12, 60, seed=5)
        self.write("wide.csv", self.table(rows, response, [f"w{j}" for j in range(60)]))
        out = self.succeed("path", "wide.csv", "--choose", "aic,bic", "--weights", "lasso", "--ratio", "0.001", "--json", "p.json", "--model",
                           "m.json", "--report", "r.html")
        result = json.loads(self.read("p.json"))
        for name in ("aic", "bic"):
            self.assertGreaterEqual(result[name]["df"], 0.8 * 12)
            warning = next(text for text in result["warnings"] if text.startswith(name.upper()))
            self.assertIn(f"{result[name]['df']:g} degrees of freedom for 12 rows: the model nearly repeats the data", warning)
            self.assertIn("take Cp with a known --sigma, or 'tyto cv'", warning)
            self.assertIn(f"warning: {warning}\n", out)
            self.assertIn(warning, page_data(self.read("r.html"))["warnings"])
            self.assertIn(warning, self.succeed("coef", "m.json", "--choose", name))
        self.assertEqual(json.loads(self.read("m.json"))["warnings"], result["warnings"])
        early = self.path("--choose", "bic", "--max-nonzeros", "3", "--weights", "lasso", data="wide.csv")
        self.assertEqual(early["bic"]["step"], len(early["fits"]) - 1)
        self.assertIn("BIC chooses the last strength, and with 60 features for 12 rows it falls without end", early["warnings"][0])

    def test_the_end_of_the_grid(self):
        short = json.loads(self.succeed("path", self.data, "--choose", "aic,cp", "--ratio", "0.5", "--sigma", "0.1", "--steps", "5", "--json", "-"))
        self.assertEqual(short["warnings"], [f"{name} chooses the last strength: a smaller --ratio may do better" for name in ("AIC", "Cp")])
        self.assertEqual(self.path("--choose", "bic")["warnings"], [])
        self.assertEqual(self.path()["warnings"], [])

    def test_saturation_counts_the_weight_of_rows(self):
        """25 rows that count a tenth each are two and a half."""
        self.write("w.txt", "0.1\n" * 25)
        result = self.path("--choose", "bic", "--observation-weights", "w.txt")
        self.assertAlmostEqual(result["bic"]["rows"], 2.5)
        self.assertIn("degrees of freedom for 2.5 rows", result["warnings"][0])

    def test_cp_without_a_variance(self):
        self.write("wide.csv", self.table(FEATURES[:8], RESPONSE[:8]))
        fits = self.path("--choose", "bic", data="wide.csv")["fits"]
        self.assertEqual({fit["cp"] for fit in fits}, {None})
        err = self.refused("path", "wide.csv", "--choose", "cp", "--model", "new.json")
        self.assertIn("choose: cp needs the noise level", err)
        self.assertIsNotNone(self.path("--choose", "cp", "--sigma", "1", data="wide.csv")["cp"]["value"])

    def test_odd_data(self):
        self.write("flat.csv", self.table(FEATURES, [2.5] * 25))
        self.write("one.csv", self.table(FEATURES[:1], RESPONSE[:1]))
        self.write("exact.csv", self.table(FEATURES, [row[0] for row in FEATURES]))
        for data in ("flat.csv", "one.csv", "exact.csv"):
            result = self.path("--choose", "aic,bic", data=data)
            self.assertIsInstance(result["aic"]["value"], float)

    def test_mistakes(self):
        for args, message in [(["--choose", "hq"], "choose: want aic, bic or cp, got 'hq'"),
                              (["--choose", "aic,aic"], "choose: want each criterion once, got aic twice"),
                              (["--choose"], "--choose"), (["--sigma", "0"], "sigma: want a number > 0, got 0"),
                              (["--sigma", "nan"], "sigma: want a number > 0, got nan"),
                              (["--sigma", "estimate"], "--sigma"), (["--gamma", "2"], "gamma: want a number in [0, 1]")]:
            with self.subTest(args=args):
                self.assertIn(message, self.refused("path", self.data, "--model", "new.json", *args))
        self.path("--choose", "bic")
        for args, message in [(["--choose", "aic"], "choose: want a model file of 'tyto path --choose aic'"),
                              (["--choose", "best"], "choose: want a model file of 'tyto cv'"),
                              (["--choose", "x"], "choose: want one of best, one-se, aic, bic, cp, or a step, got 'x'")]:
            self.assertIn(message, self.refused("predict", "model.json", self.data, *args))

    def test_damaged_models(self):
        self.path("--choose", "bic")
        for change in ({"step": 15}, {"step": -1}, {"step": "2"}, {"df": "x"}, {"value": []}):
            with self.subTest(change=change):
                model = json.loads(self.read("model.json"))
                model["bic"].update(change)
                self.write("bad.json", json.dumps(model))
                self.assertIn("bad.json: damaged model: ", self.refused("predict", "bad.json", self.data, "--step", "1"))


class Relaxed(ChooseTest):
    def check(self, fit, gamma):
        """The mixture, and least squares on the pattern: residuals are orthogonal to 1 and to every cluster's sum."""
        values = [value for _, value in fit["coefficients"]]
        self.assertEqual(fit["gamma"], gamma)
        self.assert_close(values, [(1 - gamma) * r + gamma * p for r, p in zip(fit["relaxed"], fit["penalized"], strict=True)],
                          1e-13)
        self.assert_close([fit["intercept"]],
                          [(1 - gamma) * fit["relaxed_intercept"] + gamma * fit["penalized_intercept"]], 1e-13)
        left = residual(fit, fit["relaxed"], fit["relaxed_intercept"])
        self.assertLess(abs(sum(left)), 1e-10)
        columns = list(zip(*FEATURES))
        for cluster in set(fit["cluster_of"]):
            total = 0
            for (column, _), number, value in zip(fit["coefficients"], fit["cluster_of"], fit["penalized"]):
                if number == cluster:
                    x = columns[column]
                    mean = sum(x) / N
                    scale = math.sqrt(squares(v - mean for v in x) / N)
                    total += math.copysign(1, value) * oracle.dot(x, left) / scale
            self.assertLess(abs(total), 1e-9)

    def test_fit(self):
        plain = self.fit("--strength", "0.2")
        for gamma in (0, 0.25, 1):
            with self.subTest(gamma=gamma):
                fit = self.fit("--strength", "0.2", "--gamma", gamma)
                self.check(fit, gamma)
                self.assertEqual(fit["penalized"], [value for _, value in plain["coefficients"]])
                self.assertEqual((fit["penalized_intercept"], fit["gap"]), (plain["intercept"], plain["gap"]))
                self.assertRegex(self.verify(), "the certificate holds(.|\n)*normal equations of the pattern to ")
                self.assert_close(self.predicted(self.data), oracle.predictions(fit, FEATURES))
                loose, tight = (squares(residual(one)) for one in (fit, plain))
                self.assertLessEqual(loose, tight * (1 + 1e-12))
        self.assertNotIn("gamma", plain)

    def test_path(self):
        for gamma in (0, 0.5):
            for args in ([], ["--weights", "lasso"], ["--weights", "linf"]):
                result = self.path("--gamma", gamma, *args)
                for fit in result["fits"]:
                    self.check(fit, gamma)
                    explained = 1 - squares(residual(fit)) / squares(y - sum(RESPONSE) / N for y in RESPONSE)
                    self.assertAlmostEqual(fit["explained"], explained, places=10)
                self.assertIn("15 of 15 certificates hold", self.verify())
        self.path("--gamma", "0", *RAW)
        self.assertIn("15 of 15 certificates hold", self.verify())
        found = json.loads(self.succeed("verify", "model.json", self.data, "--json", "-"))
        self.assertTrue(all(fit["relaxed_error"] < 1e-10 for fit in found["fits"]))

    def test_with_weights_ridge_and_unpenalized(self):
        self.write("w.txt", "".join(f"{1 + row % 3}\n" for row in range(25)))
        for args in (["--ridge", "2"], ["--unpenalized", "c3,c0"], ["--observation-weights", "w.txt"],
                     ["--ridge", "2", "--unpenalized", "c3", "--observation-weights", "w.txt", "--no-standardize"]):
            with self.subTest(args=args):
                for gamma in ("0", "0.5"):
                    self.path("--gamma", gamma, *args)
                    weights = ["--observation-weights", "w.txt"] if "w.txt" in args else []
                    found, out, err = self.run_tyto("verify", "model.json", self.data, *weights)
                    self.assertEqual(found, 0, out + err)
                    self.assertIn("15 of 15 certificates hold", out)
                    self.assertIn("gamma", json.loads(self.read("model.json"))["fits"][3])
        err = self.refused("fit", self.data, "--nonnegative", "--gamma", "0", "--model", "new.json")
        self.assertIn("gamma: want none with nonnegative", err)
        self.assertIn("gamma: want none with nonnegative", self.refused("cv", self.data, "--nonnegative", "--gamma", "0,1"))

    def test_more_clusters_than_rows(self):
        rows, response = oracle.problem(6, 40, seed=3)
        self.write("wide.csv", self.table(rows, response, [f"w{j}" for j in range(40)]))
        self.path("--gamma", "0", "--weights", "lasso", "--tolerance", "1e-3", data="wide.csv")
        self.assertIn("15 of 15 certificates hold", self.verify("wide.csv"))

    def test_cv(self):
        result = self.cv("--gamma", "0,0.5,1", "--folds", "5", "--report", "r.html")
        self.assertEqual([curve["gamma"] for curve in result["curves"]], [0, 0.5, 1])
        self.assertEqual(len(result["scores"]), 15)
        best = result["best"]
        self.assertEqual(best["error"], min(min(curve["error"]) for curve in result["curves"]))
        curve = next(curve for curve in result["curves"] if curve["gamma"] == best["gamma"])
        self.assertEqual(curve["error"], [fit["error"] for fit in result["fits"]])
        bound = best["error"] + best["standard_error"]
        self.assertEqual(result["one_se"]["step"], next(k for k, error in enumerate(curve["error"]) if error <= bound))
        self.assertEqual(result["one_se"]["gamma"], best["gamma"])
        for fit in result["fits"]:
            self.check(fit, best["gamma"])
        self.assertIn("15 of 15 certificates hold", self.verify())
        self.assert_close(self.predicted(self.data), oracle.predictions({**result, **result["fits"][best["step"]]}, FEATURES))
        for gamma in (0, 0.5, 1):
            alone = self.cv("--gamma", gamma, "--folds", "5")
            self.assertEqual(alone["curves"][0], next(curve for curve in result["curves"] if curve["gamma"] == gamma))
        self.assertEqual(self.cv("--folds", "5")["curves"][0]["error"], alone["curves"][0]["error"])

    def test_resume(self):
        args = ["--gamma", "0,1", "--folds", "4", "--resume", "state.json"]
        first = self.cv(*args)
        again = self.cv(*args)
        self.assertEqual(first["scores"], again["scores"])
        err = self.refused("cv", self.data, *SHORT, "--folds", "4", "--gamma", "0", "--resume", "state.json")
        self.assertIn("state.json: holds folds of another run: of --gamma", err)

    def test_tampered(self):
        self.fit("--strength", "0.2", "--gamma", "0.5")
        shared = next(k for k, n in enumerate(json.loads(self.read("model.json"))["cluster_of"]) if n == 0)

        def grow(field, factor):
            def change(model):
                model[field][shared] *= factor
            return change

        def both(model):  # a mixture still, but of something else
            model["relaxed"] = [value * 1.0001 for value in model["relaxed"]]
            model["coefficients"] = [[column, (r + p) / 2] for (column, _), r, p in
                                     zip(model["coefficients"], model["relaxed"], model["penalized"])]

        def constant(model):
            model["relaxed_intercept"] += 0.001
            model["intercept"] += 0.0005

        self.assertIn("the primal value", self.tampered(grow("penalized", 1.01)))
        self.assertIn("not the mixture", self.tampered(grow("relaxed", 1.01)))
        self.assertIn("not the mixture", self.tampered(lambda model: model["coefficients"][0].__setitem__(1, 1.0)))
        self.assertIn("not the mixture", self.tampered(lambda model: model.update(gamma=0.6)))
        self.assertIn("do not solve the normal equations", self.tampered(both))
        self.assertIn("do not solve the normal equations", self.tampered(constant))
        self.assertIn("do not have the clusters",
                      self.tampered(lambda model: model.update(cluster_of=[0] * model["nonzeros"])))

    def test_damaged_models(self):
        self.fit("--strength", "0.2", "--gamma", "0.5")
        for change in ({"gamma": 1.5}, {"gamma": "x"}, {"penalized": []}, {"relaxed": [1.0]}, {"relaxed": None},
                       {"relaxed_intercept": None}):
            with self.subTest(change=change):
                self.write("bad.json", json.dumps({**json.loads(self.read("model.json")), **change}))
                for command in ("predict", "verify"):
                    self.assertIn("bad.json: damaged model: ", self.refused(command, "bad.json", self.data))

    def test_mistakes(self):
        for command in ("fit", "path", "cv"):
            for value in ("-0.1", "1.01", "nan"):
                self.assertIn(f"gamma: want a number in [0, 1], got {value}",
                              self.refused(command, self.data, "--gamma", value, "--model", "new.json"))
            self.assertIn("--gamma", self.refused(command, self.data, "--gamma", "x"))
        self.assertIn("gamma: want each number once, got 1 twice", self.refused("cv", self.data, "--gamma", "1,0,1"))


class Sigma(ChooseTest):
    def test_given(self):
        for weights in ("bh", "gaussian"):
            fit = self.fit("--weights", weights, "--sigma", "0.5")
            self.assert_close([fit["alpha"]], [0.5 * 5], 1e-12)  # sqrt(25) is the norm of the columns
            self.assertEqual(fit["sigma"], 0.5)
            self.assertNotIn("sigma_status", fit)
            self.verify()
        raw = self.fit("--weights", "bh", "--sigma", "0.5", *RAW)
        norms = math.fsum(squares(column) for column in zip(*FEATURES))
        self.assert_close([raw["alpha"]], [0.5 * math.sqrt(norms / 8)], 1e-12)
        self.assertNotIn("sigma", self.fit("--weights", "bh"))

    def test_estimate(self):
        for weights in ("bh", "gaussian"):
            fit = self.fit("--weights", weights, "--sigma", "estimate", "--tolerance", "1e-10")
            self.assertEqual(fit["sigma_status"], "converged")
            self.assertGreater(fit["sigma_iterations"], 1)
            self.assert_close([fit["alpha"]], [5 * fit["sigma"]], 1e-12)
            self.assertTrue(0.3 < fit["sigma"] < 0.8, fit["sigma"])  # the truth is 0.5
            self.verify()
            same = self.fit("--weights", weights, "--sigma", repr(fit["sigma"]), "--tolerance", "1e-10")
            self.assert_close([same["primal"]], [fit["primal"]], 1e-9)
            self.assertEqual([c for c, _ in same["coefficients"]], [c for c, _ in fit["coefficients"]])

    def test_false_discoveries_only_with_no_signal(self):
        """One seed of many: pure noise, and little or nothing is selected."""
        self.succeed("simulate", "--rows", "200", "--cols", "50", "--groups", "0", "--output", "noise.csv", "--quiet")
        fit = self.fit("--weights", "bh", "--q", "0.05", "--sigma", "estimate", data="noise.csv")
        self.assertLessEqual(fit["nonzeros"], 1)

    def test_that_does_not_settle(self):
        """More columns than rows and weights that let nearly everything in."""
        self.succeed("simulate", "--rows", "8", "--cols", "60", "--groups", "4", "--output", "wide.csv", "--quiet")
        fit = self.fit("--weights", "bh", "--q", "1", "--sigma", "estimate", data="wide.csv", code=1)
        self.assertIn(fit["sigma_status"], ("too_many_selected", "cycle"))
        self.assertEqual(fit["status"], "converged")
        self.verify("wide.csv")
        self.check_unsettled(fit, ["--q", "1"], "wide.csv")

    def check_unsettled(self, fit, args, data):
        """A sentence that says why and what to do, in every output; nothing about false discoveries."""
        why = {"too_many_selected": "the columns selected leave no degrees of freedom", "no_noise": "least squares on the columns selected leaves no residual",
               "cycle": "its supports come again", "limit": "the limit of rounds, epochs or time was reached"}[fit["sigma_status"]]
        self.assertIn(f"the estimate of the noise did not settle: {why}", fit["warnings"][0])
        self.assertIn("Give --sigma a number where the noise is known, or choose the strength by 'tyto cv'", fit["warnings"][0])
        code, out, _ = self.run_tyto("fit", data, "--weights", "bh", "--sigma", "estimate", *args, "--report", "r.html")
        self.assertEqual(code, 1)
        self.assertIn(f"warning: {fit['warnings'][0]}\n", out)
        self.assertNotIn("discovery", out)
        report = page_data(self.read("r.html"))
        self.assertEqual((report["warnings"], report["rate"]), (fit["warnings"], ""))

    def test_constant_response(self):
        self.write("flat.csv", self.table(FEATURES, [2.5] * 25))
        fit = self.fit("--weights", "bh", "--sigma", "estimate", data="flat.csv", code=1)
        self.assertEqual((fit["sigma"], fit["sigma_status"], fit["nonzeros"]), (0, "no_noise", 0))
        self.verify("flat.csv")
        self.check_unsettled(fit, [], "flat.csv")

    def test_summary(self):
        out = self.succeed("fit", self.data, "--weights", "bh", "--sigma", "estimate", "--report", "r.html")
        self.assertRegex(out, r"(?m)^noise level 0\.\d+, estimated: converged after \d+ iterations$")
        self.assertIn('"sigma_status":"converged"', self.read("r.html"))
        given = self.succeed("fit", self.data, "--weights", "bh", "--sigma", "0.5")
        self.assertIn("noise level 0.5, as given", given)
        for text in (out, given):
            self.assertIn("q = 0.1 is the false discovery rate aimed at: bh keeps it where columns are orthogonal", text)
            self.assertIn("neither where they are correlated", text)
        self.assertIn("q = 0.1 is the false discovery rate aimed at", page_data(self.read("r.html"))["rate"])
        self.assertNotIn("discovery", self.succeed("fit", self.data, "--weights", "bh", "--strength", "0.5"))

    def test_mistakes(self):
        self.write("w.txt", "2\n" * 8)
        for args, message in [
            (["--sigma", "1"], "sigma: want weights bh or gaussian, got 'oscar'"),
            (["--sigma", "estimate", "--weights", "lasso"], "sigma: want weights bh or gaussian, got 'lasso'"),
            (["--sigma", "estimate", "--weights", "w.txt"], "sigma: want weights bh or gaussian, got 'w.txt'"),
            (["--sigma", "0", "--weights", "bh"], "sigma: want a number > 0 or 'estimate', got '0'"),
            (["--sigma", "-1", "--weights", "bh"], "sigma: want a number > 0 or 'estimate', got '-1'"),
            (["--sigma", "inf", "--weights", "bh"], "sigma: want a number > 0 or 'estimate', got 'inf'"),
            (["--sigma", "much", "--weights", "bh"], "sigma: want a number > 0 or 'estimate', got 'much'"),
            (["--sigma", "1", "--strength", "1", "--weights", "bh"], "excludes"),
            (["--sigma", "1", "--relative-to", "absolute", "--weights", "bh"], "excludes"),
        ]:
            with self.subTest(args=args):
                self.assertIn(message, self.refused("fit", self.data, "--model", "new.json", *args))

    def test_damaged_models(self):
        self.fit("--weights", "bh", "--sigma", "estimate")
        for change in ({"sigma": "x"}, {"sigma_status": "fine"}, {"sigma_status": 3}, {"sigma_iterations": None}):
            with self.subTest(change=change):
                self.write("bad.json", json.dumps({**json.loads(self.read("model.json")), **change}))
                self.assertIn("bad.json: damaged model: ", self.refused("predict", "bad.json", self.data))


if __name__ == "__main__":
    unittest.main()
