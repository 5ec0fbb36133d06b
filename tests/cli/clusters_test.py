"""How alike the features of a cluster are: mean and least |r| as the definition has it, in every output, with ties by coincidence marked."""
import itertools
import json
import math
import random
import unittest

from report_test import page_data
from support import TytoTest, csv_text, libsvm_text


def pearson(a, b, weights):
    total = math.fsum(weights)
    mean_a, mean_b = (math.fsum(w * x for w, x in zip(weights, v)) / total for v in (a, b))
    cross = math.fsum(w * (x - mean_a) * (y - mean_b) for w, x, y in zip(weights, a, b))
    squares = [math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, v)) for v, mean in ((a, mean_a), (b, mean_b))]
    return cross / math.sqrt(squares[0] * squares[1])


def members_of(fit):
    found = {}
    for (column, _), cluster in zip(fit["coefficients"], fit["cluster_of"]):
        found.setdefault(cluster, []).append(column)
    return found


class ClusterTest(TytoTest):
    def setUp(self):
        super().setUp()
        chance = random.Random(3)
        self.rows, self.response = [], []
        for _ in range(40):
            common = chance.gauss(0, 1)
            alike = [common + 0.1 * chance.gauss(0, 1), 5 - 2 * common + 0.2 * chance.gauss(0, 1), 3 * common + 0.3 * chance.gauss(0, 1)]
            others = [chance.gauss(0, 1) * 10 ** (k % 3) for k in range(5)]
            self.rows.append(alike + others)
            self.response.append(3 * common + others[0] + 0.01 * others[2] + chance.gauss(0, 0.3))
        self.weights = [1 + row % 3 for row in range(40)]
        names = [f"x{j}" for j in range(8)]
        self.write("d.csv", csv_text([[*row, y] for row, y in zip(self.rows, self.response)], [*names, "y"]))
        self.write("d.svm", libsvm_text(self.rows, self.response))
        self.write("w.txt", "".join(f"{w}\n" for w in self.weights))

    def fit(self, command, *args, data="d.csv"):
        return json.loads(self.succeed(command, data, "--json", "-", "--quiet", *args))

    def check(self, fit, weights=None):
        """Against the definition, pair by pair."""
        columns = list(zip(*self.rows))
        members = members_of(fit)
        self.assertEqual(len(fit["cluster_correlation"]), fit["clusters"])
        ties = []
        for cluster, found in enumerate(fit["cluster_correlation"]):
            pairs = [abs(pearson(columns[i], columns[k], weights or [1] * 40)) for i, k in itertools.combinations(members[cluster], 2)]
            if not pairs:
                self.assertIsNone(found)
                continue
            self.assertAlmostEqual(found[0], math.fsum(pairs) / len(pairs), places=10)
            self.assertAlmostEqual(found[1], min(pairs), places=10)
            ties += [cluster] if found[0] < 0.5 else []
        self.assertEqual(fit["coincidental_clusters"], ties)
        return [found for found in fit["cluster_correlation"] if found]


class Numbers(ClusterTest):
    def test_as_the_definition_has_it(self):
        for args in ([], ["--no-standardize"], ["--no-intercept"], ["--unpenalized", "x4"], ["--nonnegative"]):
            for weights in ("linf", "oscar", "linear"):
                self.check(self.fit("fit", "--weights", weights, "--strength", "0.2", *args))
        self.check(self.fit("fit", "--weights", "linf", "--observation-weights", "w.txt"), self.weights)
        self.check(self.fit("fit", "--weights", "linf", data="d.svm"))
        path = self.fit("path", "--weights", "linear", "--steps", "20")
        self.assertGreater(sum(len(self.check(fit)) for fit in path["fits"]), 10)
        for fit in self.fit("cv", "--weights", "linear", "--steps", "9", "--gamma", "0")["fits"]:
            self.check(fit)

    def test_alike_and_by_coincidence(self):
        """The first three are one signal, seen three times; linf ties others to them."""
        alike = self.fit("fit", "--weights", "oscar", "--slope", "5", "--strength", "0.5")
        self.assertEqual(members_of(alike)[0], [0, 1, 2])
        self.assertGreater(self.check(alike)[0][1], 0.95)
        self.assertEqual(alike["coincidental_clusters"], [])
        tied = self.fit("fit", "--weights", "linf", "--strength", "0.5")
        self.assertEqual(members_of(tied)[0], [0, 1, 2, 3, 5])
        self.assertLess(self.check(tied)[0][0], 0.5)
        self.assertEqual(tied["coincidental_clusters"], [0])

    def test_many_members(self):
        """Of more than 500, 500 at even distances are compared."""
        self.succeed("simulate", "--rows", "12", "--cols", "700", "--groups", "3", "--output", "wide.csv", "--quiet")
        fit = self.fit("fit", "--target", "y", "--weights", "linf", "--strength", "0.9", data="wide.csv")
        members = members_of(fit)[0]
        self.assertGreater(len(members), 500)
        lines = [line.split(",") for line in self.read("wide.csv").splitlines()[1:]]
        columns = list(zip(*[[float(cell) for cell in line] for line in lines]))
        scaled = []
        for column in (columns[members[k * (len(members) - 1) // 499]] for k in range(500)):
            centred = [x - math.fsum(column) / 12 for x in column]
            norm = math.sqrt(math.fsum(x * x for x in centred))
            scaled.append([x / norm for x in centred])
        pairs = [abs(sum(x * y for x, y in zip(a, b))) for a, b in itertools.combinations(scaled, 2)]
        self.assertAlmostEqual(fit["cluster_correlation"][0][0], math.fsum(pairs) / len(pairs), places=9)
        self.assertAlmostEqual(fit["cluster_correlation"][0][1], min(pairs), places=9)


class Words(ClusterTest):
    def test_summaries(self):
        tied = self.succeed("fit", "d.csv", "--target", "y", "--weights", "linf", "--strength", "0.5", "--model", "m.json")
        self.assertIn("A cluster is features of equal magnitude once columns are standardised.", tied)
        self.assertIn("1 cluster of several features, of which 1 likely tie by coincidence (mean |r| below 0.5), marked ?", tied)
        self.assertRegex(tied, r"(?m)^ +0 +0\.[0-4]\d \? +0\.\d\d +0 ")
        self.assertEqual(self.succeed("coef", "m.json").count(" ? "), 5)
        self.write("bare.json", json.dumps({key: value for key, value in json.loads(self.read("m.json")).items()
                                            if key not in ("cluster_correlation", "coincidental_clusters", "warnings")}))
        self.assertNotIn("?", self.succeed("coef", "bare.json"))  # of an older file there is nothing to say
        alike = self.succeed("fit", "d.csv", "--target", "y", "--slope", "5", "--strength", "0.5")
        self.assertIn("1 cluster of several features, of which 0 likely tie by coincidence", alike)
        for command, args in (("cv", []), ("path", ["--choose", "bic"])):
            out = self.succeed(command, "d.csv", "--target", "y", "--weights", "linf", *args)
            self.assertRegex(out, r"1 cluster of several features, of which \d likely tie by coincidence \(mean \|r\| below 0\.5\)")

    def test_damaged_models(self):
        self.succeed("fit", "d.csv", "--target", "y", "--weights", "linf", "--model", "m.json")
        for bad in ([[0.2, 0.3]], [[2, 1]], [["a", "b"]], [[0.5]], 7, [[0.5, -1]]):
            self.write("bad.json", json.dumps({**json.loads(self.read("m.json")), "cluster_correlation": bad}))
            code, out, err = self.run_tyto("coef", "bad.json")
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), bad)
            self.assertIn("bad.json: damaged model: ", err)

    def test_report(self):
        for args in ([], ["--gamma", "0"]):
            result = self.fit("path", "--weights", "linear", "--steps", "12", "--report", "r.html", *args)
            report = page_data(self.read("r.html"))
            self.assertEqual(report["coincidental_below"], 0.5)
            seen = 0
            for mine, fit in zip(report["fits"], result["fits"], strict=True):
                members = {tuple(columns): fit["cluster_correlation"][cluster] for cluster, columns in members_of(fit).items()}
                said = {group: pair for group, *pair in mine["correlations"]}
                for group, (_, *places) in enumerate(mine["groups"]):
                    found = said.get(group)
                    columns = sorted(report["features"]["columns"][place if place >= 0 else -1 - place] for place in places)
                    want = members[tuple(columns)]
                    self.assertEqual(found is None, want is None)
                    if want:
                        seen += 1
                        for a, b in zip(found, want):
                            self.assertAlmostEqual(a, b, places=6)
            self.assertGreater(seen, 5)


if __name__ == "__main__":
    unittest.main()
