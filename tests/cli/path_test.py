"""'tyto path': the JSON, every strength certified from the data alone, the rules that end it, and its model file."""
import csv
import io
import json
import unittest

import oracle
from commands_test import FEATURES, NAMES, RAW, RESPONSE, TYPES, CommandTest
from support import TIMEOUT

SHARED = ["format", "n", "p", "loss", "weights", "solver", "screening"]
TOP = {**{name: TYPES[name] for name in SHARED}, "alpha_max": float, "steps": int, "ratio": float, "stopped_by": str,
       "passes": float, "seconds": float, "cpu_seconds": float, "fits": list}
EACH = {**{name: kind for name, kind in TYPES.items() if name not in SHARED}, "explained": float}


class PathTest(CommandTest):
    def path(self, *args, code=0, data=None):
        """The JSON result of a path, which also leaves model.json behind."""
        found, out, err = self.run_tyto("path", data or self.data, "--json", "-", "--model", "model.json", *args)
        self.assertEqual(found, code, f"{args}: {err}")
        return json.loads(out)

    def check_certificates(self, result, kind="oscar", tolerance=1e-6):
        """Of a path on the raw data."""
        for fit in result["fits"]:
            weights = [fit["alpha"] * w for w in oracle.shape(kind, result["n"], result["p"])]
            beta = oracle.dense({**result, **fit})
            primal, dual = oracle.certificate(FEATURES, RESPONSE, beta, weights)
            self.assert_close([fit["primal"], fit["dual"]], [primal, dual], 1e-9)
            self.assertLessEqual(primal - dual, tolerance * primal * (1 + 1e-6))
            residual = [y - f for y, f in zip(RESPONSE, oracle.predictions({**result, **fit}, FEATURES))]
            explained = 1 - oracle.dot(residual, residual) / oracle.dot(RESPONSE, RESPONSE)
            self.assertAlmostEqual(fit["explained"], explained, places=12)


class Result(PathTest):
    def test_fields(self):
        result = self.path("--quiet")
        for name, kind in TOP.items():
            self.assertIs(type(result[name]), kind, name)
        self.assertEqual(result["format"], "tyto-path-1")
        self.assertEqual((result["n"], result["p"], result["steps"], result["ratio"]), (25, 8, 100, 0.0001))
        self.assertEqual((result["stopped_by"], len(result["fits"])), ("none", 100))
        for fit in result["fits"]:
            for name, kind in EACH.items():
                self.assertIs(type(fit[name]), kind, name)
            self.assertEqual(fit["status"], "converged")
            self.assertLessEqual(fit["gap"], 1e-6 * fit["primal"])
            self.assertEqual(fit["nonzeros"], len(fit["coefficients"]))
            self.assertEqual(fit["nonzeros"], len(fit["cluster_of"]))
            self.assertEqual(fit["clusters"], len(set(fit["cluster_of"])))
            self.assertEqual(fit["names"], [NAMES[column] for column, _ in fit["coefficients"]])
            self.assertEqual(fit["trace"][-1]["epoch"], fit["epochs"])
        self.assertGreater(result["passes"], 0)
        self.assertAlmostEqual(result["seconds"], sum(fit["seconds"] for fit in result["fits"]))

    def test_grid(self):
        alphas = [fit["alpha"] for fit in self.path("--steps", "5", "--ratio", "0.0625")["fits"]]
        most = self.fit("--strength", "1")["alpha"]
        self.assert_close(alphas, [most, most / 2, most / 4, most / 8, most / 16], 1e-14)
        self.assertEqual([fit["alpha"] for fit in self.path("--steps", "1")["fits"]], [most])
        self.write("wide.csv", self.table(FEATURES[:8], RESPONSE[:8]))
        self.assertEqual(self.path("--steps", "2", data="wide.csv")["ratio"], 0.01)

    def test_every_strength_is_certified(self):
        for kind in ("oscar", "linf", "bh"):
            result = self.path(*RAW, "--weights", kind, "--steps", "12")
            self.assertEqual(result["weights"], kind)
            self.check_certificates(result, kind)
            self.assertEqual(result["fits"][0]["nonzeros"], 0)
            explained = [fit["explained"] for fit in result["fits"]]
            self.assertTrue(all(b >= a - 1e-4 for a, b in zip(explained, explained[1:])))

    def test_same_as_fits(self):
        for fit in self.path("--steps", "4", "--tolerance", "1e-10")["fits"]:
            one = self.fit("--strength", repr(fit["alpha"]), "--relative-to", "absolute", "--tolerance", "1e-10")
            self.assertEqual(one["alpha"], fit["alpha"])
            self.assert_close([fit["primal"]], [one["primal"]], 1e-9)

    def test_coefficients_as_csv(self):
        out = self.succeed("path", self.data, "--steps", "6", "--coefficients", "-", "--json", "r.json")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(list(rows[0]), ["step", "alpha", "column", "name", "coefficient", "cluster"])
        for step, fit in enumerate(json.loads(self.read("r.json"))["fits"]):
            mine = [row for row in rows if int(row["step"]) == step]
            self.assertEqual([[int(row["column"]), float(row["coefficient"])] for row in mine], fit["coefficients"])
            self.assertEqual([row["name"] for row in mine], fit["names"])
            self.assertEqual([int(row["cluster"]) for row in mine], fit["cluster_of"])
            self.assertTrue(all(float(row["alpha"]) == fit["alpha"] for row in mine))

    def test_summary(self):
        out = self.succeed("path", self.data, "--target", "y")
        lines = out.splitlines()
        self.assertEqual(lines[1].split(), "step alpha nonzeros clusters explained relative gap".split())
        steps = [int(line.split()[0]) for line in lines[2:-1]]
        self.assertEqual((len(steps), steps[0], steps[-1]), (12, 0, 99))
        self.assertRegex(lines[-1], r"\Aall 100 strengths, all converged; \d+\S* passes over the data, \S+ s\Z")
        self.assertEqual(self.succeed("path", self.data, "--quiet"), "")
        code, out, err = self.run_tyto("path", self.data, "--json", "-")
        self.assertEqual((code, out[0]), (0, "{"))
        self.assertIn("all converged", err)

    def test_threads(self):
        self.succeed("simulate", "--rows", "200", "--cols", "3000", "--output", "big.csv", "--quiet")
        runs = [self.path("--threads", threads, "--steps", "4", data="big.csv") for threads in (1, 2)]
        for one, two in zip(runs[0]["fits"], runs[1]["fits"]):
            self.assertEqual((one["coefficients"], one["dual"]), (two["coefficients"], two["dual"]))

    def test_nothing_correlated(self):
        self.write("flat.csv", self.table(FEATURES, [2.5] * 25))
        code, out, err = self.run_tyto("path", "flat.csv", "--json", "-", "--model", "model.json")
        result = json.loads(out)
        self.assertEqual((code, len(result["fits"]), result["fits"][0]["nonzeros"]), (0, 1, 0))
        self.assertEqual((result["alpha_max"], result["steps"], result["stopped_by"]), (0, 1, "none"))
        self.assertIn("tyto: warning: nothing is left in the model: no feature is correlated", err)
        self.verify("flat.csv")
        self.assertEqual(self.predicted("flat.csv"), [2.5] * 25)

    def test_progress_on_a_terminal(self):
        self.succeed("simulate", "--rows", "100", "--cols", "400", "--output", "big.csv", "--quiet")
        for line in self.progress_on_a_terminal("path", "big.csv", "--tolerance", "1e-10"):
            self.assertRegex(line, r"\Astrength \d+ of 100   epoch \d+   relative gap ")


class Stopping(PathTest):
    def test_rules(self):
        fired = {
            ("--max-explained", "0.5"): lambda now, before: now["explained"] >= 0.5,
            ("--min-change", "0.02"):
                lambda now, before: before["nonzeros"] > 0 and now["explained"] - before["explained"] < 0.02,
            ("--max-nonzeros", "3"): lambda now, before: now["nonzeros"] >= 3,
            ("--max-clusters", "3"): lambda now, before: now["clusters"] >= 3,
        }
        for (option, value), fires in fired.items():
            with self.subTest(option=option):
                result = self.path(option, value)
                self.assertEqual(result["stopped_by"], option[2:].replace("-", "_"))
                self.assertEqual(result["steps"], 100)
                fits = result["fits"]
                self.assertLess(len(fits), 100)
                self.assertEqual([fires(now, before) for before, now in zip(fits, fits[1:])],
                                 [False] * (len(fits) - 2) + [True])
        self.assertRegex(self.succeed("path", self.data, "--max-nonzeros", "3"),
                         r"\nstopped by max_nonzeros after \d+ of 100 strengths, all converged; ")

    def test_limits(self):
        result = self.path("--max-epochs", "1", "--tolerance", "1e-12", "--solver", "apgd", "--steps", "8", code=1)
        self.assertEqual((len(result["fits"]), result["stopped_by"]), (8, "none"))
        self.assertEqual(result["fits"][-1]["status"], "epoch_limit")
        self.assertIn("8 of 8 certificates hold", self.verify())
        result = self.path("--max-seconds", "0", code=1)
        self.assertEqual((len(result["fits"]), result["stopped_by"]), (1, "max_seconds"))


class ModelFile(PathTest):
    def setUp(self):
        super().setUp()
        self.succeed("path", self.data, "--steps", "9", "--json", "result.json", "--model", "model.json", "--quiet")
        self.result = json.loads(self.read("result.json"))

    def test_predict_one_strength(self):
        for model in ("model.json", "result.json"):
            for step in (0, 5, 8):
                fit = self.result["fits"][step]
                want = oracle.predictions({**self.result, **fit}, FEATURES)
                for choice in (["--step", step], ["--alpha", repr(fit["alpha"])], ["--alpha", f"{fit['alpha']:.6g}"]):
                    lines = self.succeed("predict", model, self.data, *choice).split()
                    self.assert_close([float(line) for line in lines[1:]], want)

    def test_verify(self):
        for model in ("model.json", "result.json"):
            self.assertIn("9 of 9 certificates hold; largest relative gap", self.verify(model=model))
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", self.data, "--step", "4"))
        found = json.loads(self.succeed("verify", "model.json", self.data, "--json", "-"))
        self.assertEqual((found["format"], found["holds"]), ("tyto-path-verification-1", True))
        for step, (fit, one) in enumerate(zip(self.result["fits"], found["fits"])):
            self.assertEqual((one["step"], one["alpha"], one["holds"]), (step, fit["alpha"], True))
            self.assertEqual((one["claimed_primal"], one["claimed_gap"]), (fit["primal"], fit["gap"]))
            self.assert_close([one["primal"], one["dual"]], [fit["primal"], fit["dual"]], 1e-12)

    def test_tampered(self):
        model = json.loads(self.read("model.json"))
        model["fits"][6]["coefficients"][0][1] *= 1.001
        self.write("bad.json", json.dumps(model))
        out = self.verify(model="bad.json", code=1)
        self.assertIn("8 of 9 certificates hold", out)
        self.assertRegex(out, r"step 6, alpha \S+: the certificate does not hold: the primal")
        self.assertIn("the certificate holds", self.succeed("verify", "bad.json", self.data, "--step", "5"))
        self.assertEqual(self.run_tyto("verify", "bad.json", self.data, "--step", "6")[0], 1)
        # What is said of all strengths, one cannot deny.
        model = json.loads(self.read("model.json"))
        model["fits"][6].update(fit_intercept=False, tolerance=0.5, p=1)
        self.write("bad.json", json.dumps(model))
        self.assertIn("9 of 9 certificates hold", self.verify(model="bad.json"))

    def test_weights_from_a_file(self):
        self.write("w.txt", "".join(f"{w!r}\n" for w in oracle.shape("oscar", 25, 8)))
        by_file = self.path("--steps", "9", "--weights", "w.txt")
        self.assertEqual([fit["coefficients"] for fit in by_file["fits"]],
                         [fit["coefficients"] for fit in self.result["fits"]])
        (self.folder / "w.txt").unlink()
        self.assertIn("9 of 9", self.verify())


if __name__ == "__main__":
    unittest.main()
