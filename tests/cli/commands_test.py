"""The commands as their users meet them: results, certificates, predictions and exit codes."""
import csv
import io
import json
import re
import unittest

import oracle
from support import TytoTest, csv_text, libsvm_text

KINDS = ["oscar", "lasso", "linf", "bh", "gaussian", "linear"]
RAW = ["--no-intercept", "--no-standardize"]
TYPES = {
    "format": str, "n": int, "p": int, "loss": str, "weights": str, "alpha": float, "solver": str, "screening": str,
    "status": str, "primal": float, "dual": float, "gap": float, "relative_gap": float, "epochs": int,
    "seconds": float, "cpu_seconds": float, "screened": int, "nonzeros": int, "clusters": int, "intercept": float,
    "coefficients": list, "cluster_of": list, "trace": list,
}
NAMES = [f"c{j}" for j in range(8)]
FEATURES, RESPONSE = oracle.problem(25, 8, seed=1)


class CommandTest(TytoTest):
    help = ""  # of 'tyto fit', asked for once

    def setUp(self):
        super().setUp()
        self.data = self.write("d.csv", self.table(FEATURES, RESPONSE))

    def table(self, features, response, names=None):
        names = names or NAMES[:len(features[0])]
        return csv_text([[*row, y] for row, y in zip(features, response)], [*names, "y"])

    def fit(self, *args, code=0, data=None):
        """The JSON result of a fit, which also leaves model.json behind."""
        found, out, err = self.run_tyto("fit", data or self.data, "--json", "-", "--model", "model.json", *args)
        self.assertEqual(found, code, f"{args}: {err}")
        return json.loads(out)

    def verify(self, *data, code=0, model="model.json"):
        found, out, err = self.run_tyto("verify", model, *(data or [self.data]))
        self.assertEqual(found, code, out + err)
        return out

    def rows_of(self, option):
        """The names in a table of 'tyto fit --help'."""
        text = CommandTest.help = CommandTest.help or self.succeed("fit", "--help")
        block = re.search(rf"^  {option} .*\n((?: {{20,}}\w.*\n)+)", text, re.MULTILINE).group(1)
        return re.findall(r"^ {30}(\w\S*)", block, re.MULTILINE)

    def predicted(self, *args):
        lines = self.succeed("predict", "model.json", *args).split()
        self.assertEqual(lines[0], "prediction")
        return [float(line) for line in lines[1:]]

    def assert_close(self, got, want, tolerance=1e-10):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertLessEqual(abs(a - b), tolerance * (1 + abs(b)))


class Fit(CommandTest):
    def test_fields(self):
        result = self.fit("--quiet")
        for name, kind in TYPES.items():
            self.assertIs(type(result[name]), kind, name)
        self.assertEqual((result["n"], result["p"], result["loss"]), (25, 8, "gaussian"))
        self.assertEqual((result["weights"], result["screening"], result["status"]), ("oscar", "safe", "converged"))
        self.assertEqual(result["nonzeros"], len(result["coefficients"]))
        self.assertAlmostEqual(result["gap"], result["primal"] - result["dual"], delta=1e-9 * result["primal"])
        self.assertAlmostEqual(result["relative_gap"], result["gap"] / result["primal"], places=15)
        columns = [column for column, _ in result["coefficients"]]
        self.assertEqual(columns, sorted(set(columns)))
        self.assertTrue(all(value != 0 for _, value in result["coefficients"]))
        self.assertEqual(result["names"], [NAMES[column] for column in columns])
        for point in result["trace"]:
            self.assertEqual(set(point), {"epoch", "seconds", "primal", "gap", "active"})
        self.assertEqual([point["epoch"] for point in result["trace"]], sorted(p["epoch"] for p in result["trace"]))
        self.assertEqual(result["trace"][-1]["epoch"], result["epochs"])
        self.assertEqual(result["trace"][-1]["active"], result["p"] - result["screened"])

    def check_raw(self, result, kind):
        weights = [result["alpha"] * w for w in oracle.shape(kind, 25, 8)]
        primal, dual = oracle.certificate(FEATURES, RESPONSE, oracle.dense(result), weights)
        self.assertEqual((result["status"], result["weights"]), ("converged", kind))
        self.assert_close([result["primal"], result["dual"]], [primal, dual], 1e-9)
        self.assertLessEqual(primal - dual, 1e-6 * primal * (1 + 1e-6))
        self.assertEqual(result["intercept"], 0)

    def test_every_kind_of_weights_with_every_solver(self):
        solvers = self.rows_of("--solver")
        self.assertEqual(solvers[0], "auto")
        for kind in KINDS:
            primals = []
            for solver in solvers if kind == "oscar" else solvers[1:]:
                with self.subTest(kind=kind, solver=solver):
                    result = self.fit(*RAW, "--weights", kind, "--solver", solver, "--strength", "0.05")
                    self.check_raw(result, kind)
                    self.assertIn(result["solver"], solvers[1:] if solver == "auto" else [solver])
                    primals.append(result["primal"])
            self.assertLessEqual(max(primals), min(primals) * (1 + 2e-6))

    def test_every_rule_with_every_solver(self):
        primals = []
        solvers = self.rows_of("--solver")[1:]
        for rule in self.rows_of("--screening"):
            for solver in solvers:
                with self.subTest(rule=rule, solver=solver):
                    result = self.fit(*RAW, "--screening", rule, "--solver", solver, "--strength", "0.3")
                    self.check_raw(result, "oscar")
                    self.assertEqual(result["screening"], rule)
                    if rule == "none":
                        self.assertEqual(result["screened"], 0)
                    primals.append(result["primal"])
        self.assertLessEqual(max(primals), min(primals) * (1 + 2e-6))

    def test_units_of_the_strength(self):
        g = oracle.correlations(FEATURES, RESPONSE)
        unit = {"alpha-max": oracle.dual_norm(g, oracle.shape("linear", 25, 8)), "correlation": max(map(abs, g)),
                "absolute": 1}
        for name, value in unit.items():
            result = self.fit(*RAW, "--weights", "linear", "--relative-to", name, "--strength", "0.2")
            self.assert_close([result["alpha"]], [0.2 * value], 1e-12)
        z, y, _ = oracle.standardized(FEATURES, RESPONSE)
        most = oracle.dual_norm(oracle.correlations(z, y), oracle.shape("oscar", 25, 8))
        self.assert_close([self.fit("--strength", "0.5")["alpha"]], [0.5 * most], 1e-12)

    def test_solution_at_and_below_alpha_max(self):
        self.assertEqual(self.fit("--strength", "1")["nonzeros"], 0)
        self.assertGreater(self.fit("--strength", "0.999", "--tolerance", "1e-9")["nonzeros"], 0)

    def test_standardised_problem_and_own_scale(self):
        result = self.fit("--weights", "bh", "--q", "0.2")
        z, y, scales = oracle.standardized(FEATURES, RESPONSE)
        beta = [b * s for b, s in zip(oracle.dense(result), scales)]
        weights = [result["alpha"] * w for w in oracle.shape("bh", 25, 8, q=0.2)]
        primal, dual = oracle.certificate(z, y, beta, weights)
        self.assert_close([result["primal"], result["dual"]], [primal, dual], 1e-9)
        self.assert_close(self.predicted(self.data), oracle.predictions(result, FEATURES))

    def test_clusters(self):
        result = self.fit("--strength", "0.2", "--tolerance", "1e-10")
        scales = oracle.standardized(FEATURES, RESPONSE)[2]
        sizes = {}
        for (column, value), cluster in zip(result["coefficients"], result["cluster_of"]):
            sizes.setdefault(cluster, []).append(abs(value * scales[column]))
        self.assertEqual(sorted(sizes), list(range(result["clusters"])))
        self.assertLess(result["clusters"], result["nonzeros"], "the correlated columns are tied")
        for members in sizes.values():
            self.assert_close(members, members[:1] * len(members), 1e-13)
        heads = [sizes[k][0] for k in range(result["clusters"])]
        self.assertEqual(heads, sorted(heads, reverse=True))

    def test_coefficients_as_csv(self):
        self.write("n.csv", self.table(FEATURES, RESPONSE, ['"a, ""b"""', *NAMES[1:]]))
        out = self.succeed("fit", "n.csv", "--coefficients", "-", "--json", "r.json")
        result = json.loads(self.read("r.json"))
        rows = list(csv.reader(io.StringIO(out)))
        self.assertEqual(rows[0], ["column", "name", "coefficient", "cluster"])
        self.assertEqual([[int(row[0]), float(row[2])] for row in rows[1:]], result["coefficients"])
        self.assertEqual([row[1] for row in rows[1:]], result["names"])
        self.assertEqual([int(row[3]) for row in rows[1:]], result["cluster_of"])
        self.assertEqual(rows[1][1], 'a, "b"')

    def test_standard_output_is_pure(self):
        for option, begins in (("--json", "{"), ("--model", "{"), ("--coefficients", "column,")):
            code, out, err = self.run_tyto("fit", self.data, option, "-")
            self.assertEqual((code, out[:len(begins)]), (0, begins))
            self.assertIn("converged", err)
        code, out, err = self.run_tyto("fit", self.data, "--quiet")
        self.assertEqual((code, out, err), (0, "", ""))
        code, out, err = self.run_tyto("fit", self.data)
        self.assertIn("converged: relative gap", out)
        self.assertEqual((code, err), (0, ""))

    def test_weights_from_a_file(self):
        self.write("w.txt", "".join(f"{w!r}\n" for w in oracle.shape("oscar", 25, 8)))
        by_name, by_file = self.fit(), self.fit("--weights", "w.txt")
        self.assertEqual(by_file["coefficients"], by_name["coefficients"])
        self.assertEqual(by_file["weights"], "w.txt")
        (self.folder / "w.txt").unlink()
        self.verify()  # the model holds the weights themselves

    def test_nothing_left(self):
        code, out, err = self.run_tyto("fit", self.data, "--strength", "2", "--json", "-", "--quiet")
        result = json.loads(out)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual((result["nonzeros"], result["clusters"], result["status"]), (0, 0, "converged"))
        self.assert_close([result["intercept"]], [sum(RESPONSE) / 25])
        code, out, err = self.run_tyto("fit", self.data, "--strength", "2")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"\Atyto: warning: nothing is left in the model: .* 2 times .*--strength\n\Z")
        _, _, err = self.run_tyto("fit", self.data, "--max-epochs", "0", "--model", "m.json")
        self.assertNotIn("nothing is left", err, "it is empty because the fit was ended")

    def test_limits(self):
        for option, value, status in (("--max-epochs", "3", "epoch_limit"), ("--max-epochs", "0", "epoch_limit"),
                                      ("--max-seconds", "0", "time_limit")):
            result = self.fit(option, value, "--tolerance", "1e-12", "--strength", "0.01", "--solver", "apgd", code=1)
            self.assertEqual(result["status"], status)
            self.assertGreater(result["relative_gap"], 1e-12)
            self.assertEqual(json.loads(self.read("model.json"))["status"], status)
            self.verify()
        result = self.fit("--tolerance", "1e-18", code=1)
        self.assertEqual(result["status"], "stalled")
        self.assertLess(result["relative_gap"], 1e-9)
        self.verify()

    def test_threads_and_seeds(self):
        self.succeed("simulate", "--rows", "200", "--cols", "3000", "--output", "big.csv", "--quiet")
        runs = [self.fit("--threads", threads, "--strength", "0.3", data="big.csv") for threads in (1, 2)]
        for field in ("coefficients", "intercept", "primal", "dual", "epochs"):
            self.assertEqual(runs[0][field], runs[1][field], field)
        spgd = [self.fit("--solver", "spgd", "--batch", "5", "--seed", seed)["coefficients"] for seed in (5, 5, 6)]
        self.assertEqual(spgd[0], spgd[1])
        self.assertNotEqual(spgd[0], spgd[2])


class Degenerate(CommandTest):
    """Data that leaves nothing to divide by."""

    def check(self, features, response, *args):
        self.write("x.csv", self.table(features, response))
        for more in ([], RAW):
            with self.subTest(args=(*args, *more)):
                result = self.fit(*args, *more, data="x.csv")
                self.assertEqual(result["status"], "converged")
                self.verify("x.csv")
        return result

    def test_constant_response(self): self.check(FEATURES, [2.5] * 25)
    def test_one_row(self): self.check([[1.0, -2.0]], [3.0])
    def test_one_column(self): self.check([[1.0], [2.0], [4.0]], [1.0, 2.0, 2.5])
    def test_one_number(self): self.check([[2.0]], [3.0], "--weights", "linf")

    def test_constant_columns(self):
        features = [[7.0, 0.0, *row[:3]] for row in FEATURES]
        result = self.check(features, RESPONSE, "--weights", "linf")
        self.assertEqual(result["p"], 5)
        result = self.fit(data="x.csv")
        self.assertNotIn(0, [column for column, _ in result["coefficients"]])
        self.assertNotIn(1, [column for column, _ in result["coefficients"]])

    def test_duplicate_columns(self):
        features = [[row[0], row[0], -row[0], row[1]] for row in FEATURES]
        self.check(features, RESPONSE)
        result = self.fit("--weights", "oscar", "--tolerance", "1e-10", data="x.csv")
        beta = oracle.dense(result)
        self.assert_close([beta[1], -beta[2]], [beta[0], beta[0]], 1e-12)


class Verify(CommandTest):
    def tampered(self, change):
        model = json.loads(self.read("model.json"))
        change(model)
        self.write("bad.json", json.dumps(model))
        return self.verify(model="bad.json", code=1)

    def test_tampered_models(self):
        self.fit("--solver", "apgd")  # a gap that half of it can be told from
        self.assertIn("the certificate holds", self.verify())
        def coefficient(model): model["coefficients"][0][1] *= 1.001
        def both(model): coefficient(model), model.update(primal=model["primal"] * 1.0000001)
        self.assertIn("does not hold: the primal", self.tampered(coefficient))
        self.assertIn("does not hold", self.tampered(both))
        self.assertIn("does not hold: the gap", self.tampered(lambda m: m.update(gap=m["gap"] / 2)))
        self.assertIn("does not hold", self.tampered(lambda m: m.update(alpha=m["alpha"] * 0.99)))
        self.assertIn("does not hold", self.tampered(lambda m: m.update(intercept=m["intercept"] + 0.01)))
        self.assertIn("does not hold: the stated gap and its rounding are larger than the tolerance",
                      self.tampered(lambda m: m.update(tolerance=1e-14)))

    def test_json(self):
        result = self.fit()
        found = json.loads(self.succeed("verify", "model.json", self.data, "--json", "-"))
        self.assertEqual((found["format"], found["holds"]), ("tyto-verification-1", True))
        self.assertEqual((found["claimed_primal"], found["claimed_gap"]), (result["primal"], result["gap"]))
        self.assert_close([found["primal"], found["dual"]], [result["primal"], result["dual"]], 1e-12)

    def test_other_data(self):
        self.fit()
        self.write("less.csv", self.table(FEATURES[:-1], RESPONSE[:-1]))
        self.verify("less.csv", code=2)
        self.write("narrow.csv", self.table([row[:-1] for row in FEATURES], RESPONSE))
        self.verify("narrow.csv", code=2)
        self.write("other.csv", self.table(FEATURES, [y + 1e-4 * i for i, y in enumerate(RESPONSE)]))
        self.verify("other.csv", code=1)


class Predict(CommandTest):
    def test_columns_by_name(self):
        self.fit()
        want = self.predicted(self.data)
        order = [3, 0, 7, 1, 2, 6, 5, 4]
        rows = [[y, *(row[j] for j in order), 0.0] for row, y in zip(FEATURES, RESPONSE)]
        self.write("mixed.csv", csv_text(rows, ["y", *(NAMES[j] for j in order), "more"]))
        self.assertEqual(self.predicted("mixed.csv"), want)
        self.write("bare.csv", csv_text(FEATURES, NAMES))
        self.assertEqual(self.predicted("bare.csv", "--quiet"), want)
        self.write("numbers.csv", csv_text(FEATURES))
        self.assertEqual(self.predicted("numbers.csv"), want)

    def test_errors(self):
        result = self.fit()
        self.succeed("predict", "model.json", self.data, "--output", "p.csv", "--json", "e.json")
        errors = json.loads(self.read("e.json"))
        residual = [y - f for y, f in zip(RESPONSE, oracle.predictions(result, FEATURES))]
        mean, mse = sum(RESPONSE) / 25, oracle.dot(residual, residual) / 25
        r2 = 1 - 25 * mse / sum((y - mean) ** 2 for y in RESPONSE)
        self.assertEqual((errors["format"], errors["n"]), ("tyto-prediction-1", 25))
        self.assert_close([errors["mse"], errors["rmse"], errors["mae"], errors["r2"]],
                          [mse, mse**0.5, sum(map(abs, residual)) / 25, r2])

    def test_narrower_libsvm_data(self):
        self.write("d.svm", libsvm_text(FEATURES, RESPONSE))
        result = self.fit("--strength", "0.05", data="d.svm")
        narrow = [row[:5] for row in FEATURES]
        self.write("narrow.svm", libsvm_text(narrow, RESPONSE))
        self.assert_close(self.predicted("narrow.svm"), oracle.predictions(result, [row + [0, 0, 0] for row in narrow]))


class SimulateAndHelp(CommandTest):
    def test_seeds(self):
        args = ["simulate", "--rows", "20", "--cols", "12", "--groups", "2", "--group-size", "3"]
        first = self.succeed(*args, "--seed", "7")
        self.assertEqual(self.succeed(*args, "--seed", "7"), first)
        self.assertNotEqual(self.succeed(*args, "--seed", "8"), first)
        self.assertEqual(len(first.splitlines()), 21)
        self.assertEqual(first.splitlines()[0].split(",")[:4] + first.splitlines()[0].split(",")[-1:],
                         ["g1_1", "g1_2", "g1_3", "g2_1", "y"])
        self.succeed(*args, "--seed", "7", "--output", "s.svm", "--truth", "t.csv")
        self.assertEqual(len(self.read("s.svm").splitlines()), 20)
        truth = list(csv.DictReader(io.StringIO(self.read("t.csv"))))
        self.assertEqual([int(row["column"]) for row in truth], list(range(6)))
        self.assertEqual(len({abs(float(row["coefficient"])) for row in truth}), 2)

    def test_help(self):
        self.assertRegex(self.succeed("--version"), r"\Atyto \d+\.\d+\.\d+\n\Z")
        top = self.succeed("--help")
        commands = re.findall(r"^  (\w+) +[A-Z]", top.split("Commands:")[1], re.MULTILINE)
        self.assertTrue({"fit", "predict", "verify", "simulate"} <= set(commands), commands)
        text = {command: self.succeed(command, "--help") for command in commands}
        for name in KINDS + ["auto", "apgd", "spgd", "none", "seed", "safe", "alpha-max", "correlation", "absolute",
                             "csv", "libsvm", "mtx", "npy", "refuse", "drop-rows"]:
            self.assertRegex(text["fit"], rf"\b{name}\b")
        for name, shown in text.items():
            self.assertIn("Example:", shown)
            self.assertIn(f"tyto {name}", shown)


if __name__ == "__main__":
    unittest.main()
