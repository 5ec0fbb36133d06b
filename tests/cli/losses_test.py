#!/usr/bin/env python3
"""Losses other than squared error, through the program: every command, labels as people have them, offsets, bad responses."""
import json
import math
import random
import re
import unittest

from support import ModelTest, csv_text

LOSSES = ["gaussian", "binomial", "poisson", "huber", "squared-hinge"]
NAMES = [f"x{j}" for j in range(6)]
TIGHT = ["--tolerance", "1e-10", "--quiet"]


def table(seed=0, n=60):
    """Rows of six features, and their linear predictors."""
    source = random.Random(seed)
    rows = [[source.gauss(0, 1) for _ in NAMES] for _ in range(n)]
    return source, rows, [0.3 + 1.2 * row[0] - 0.8 * row[1] for row in rows]


def poisson_draw(source, mean):
    """By inversion."""
    count, chance = 0, math.exp(-mean)
    left = source.random() - chance
    while left > 0 and count < 1000:
        count += 1
        chance *= mean / count
        left -= chance
    return count


def responses(loss, source, etas):
    if loss in ("binomial", "squared-hinge"):
        return [int(source.random() < 1 / (1 + math.exp(-eta))) for eta in etas]
    if loss == "poisson":
        return [poisson_draw(source, math.exp(eta)) for eta in etas]
    return [eta + source.gauss(0, 0.5) + (20 if source.random() < 0.05 else 0) for eta in etas]


class LossTest(ModelTest):
    def data(self, loss, name="d.csv", words=None, n=60, seed=0, extra=None):
        """A file of features, y and columns beside them. -> (name, the response, the predictors)"""
        source, rows, etas = table(seed, n)
        y = responses(loss, source, etas)
        shown = [words[value] for value in y] if words else y
        extra = extra or {}
        lines = [row + [value, *(column[i] for column in extra.values())] for i, (row, value) in enumerate(zip(rows, shown))]
        return self.write(name, csv_text(lines, NAMES + ["y", *extra])), y, etas


class Commands(LossTest):
    def test_every_command_of_every_loss(self):
        for loss in LOSSES:
            with self.subTest(loss=loss):
                data, _, _ = self.data(loss)
                for command in (["fit", "--strength", "0.05"], ["path", "--steps", "8"], ["cv", "--folds", "3", "--steps", "8"]):
                    said = self.succeed(*command, data, "--loss", loss, "--model", "m.json", "--json", "r.json", "--report", "r.html",
                                        "--coefficients", "c.csv", "--threads", "1")
                    self.assertEqual("deviance" in said, loss != "gaussian", said)
                    self.assertEqual(f"loss {loss}" in said, loss != "gaussian", said)
                    self.assertIn("hold", self.succeed("verify", "m.json", data))
                    chosen = ["--step", "5"] if command[0] == "path" else []
                    lines = self.succeed("predict", "m.json", data, "--quiet", *chosen).splitlines()
                    self.assertEqual(len(lines), 61)
                    links = self.succeed("predict", "m.json", data, "--quiet", "--type", "link", *chosen).splitlines()
                    mean = {"binomial": lambda eta: 1 / (1 + math.exp(-eta)), "poisson": math.exp}.get(loss, lambda eta: eta)
                    for value, link in zip(lines[1:], links[1:]):
                        self.assertAlmostEqual(float(value), mean(float(link)), delta=1e-12 * (1 + abs(float(value))))

    def test_a_changed_coefficient_does_not_verify(self):
        for loss in LOSSES:
            data, _, _ = self.data(loss)
            model = self.model("fit", data, "--loss", loss, "--strength", "0.05")
            model["coefficients"][0][1] *= 1.01
            self.write("changed.json", json.dumps(model))
            self.assertEqual(self.run_tyto("verify", "changed.json", data)[0], 1, loss)

    def test_deviance_explained_is_that_of_the_predictions(self):
        data, y, _ = self.data("poisson")
        said = self.succeed("fit", data, "--loss", "poisson", "--strength", "0.05", "--model", "m.json")
        means = [float(line) for line in self.succeed("predict", "m.json", data, "--quiet").splitlines()[1:]]

        def deviance(fitted):
            return sum(2 * ((count * math.log(count / mu) if count else 0) - count + mu) for count, mu in zip(y, fitted))
        null = deviance([sum(y) / len(y)] * len(y))
        share = float(re.search(r"([\d.]+)% of the deviance explained", said).group(1))
        self.assertAlmostEqual(share, 100 * (1 - deviance(means) / null), delta=0.051)
        self.succeed("predict", "m.json", data, "--quiet", "--json", "p.json", "--output", "p.csv")
        self.assertAlmostEqual(json.loads(self.read("p.json"))["deviance"], deviance(means) / len(y), places=9)

    def test_predictions_of_one_class_or_no_counts_are_measured(self):
        data, _, _ = self.data("binomial")
        self.succeed("fit", data, "--loss", "binomial", "--strength", "0.05", "--model", "m.json", "--quiet")
        self.write("one.csv", csv_text([[0.0] * 6 + [1]], NAMES + ["y"]))
        code, out, err = self.run_tyto("predict", "m.json", "one.csv")
        self.assertEqual((code, len(out.splitlines())), (0, 2), err)
        self.assertIn("deviance", err)
        data, _, _ = self.data("poisson")
        self.succeed("fit", data, "--loss", "poisson", "--strength", "0.05", "--model", "m.json", "--quiet")
        self.write("none.csv", csv_text([[0.0] * 6 + [0]], NAMES + ["y"]))
        self.assertEqual(self.run_tyto("predict", "m.json", "none.csv")[0], 0)
        self.write("below.csv", csv_text([[0.0] * 6 + [-1]], NAMES + ["y"]))
        self.refused(["predict", "m.json", "below.csv"], "want a count >= 0, got -1")

    def test_bad_responses(self):
        good = [[0.1 * i, (-1.0) ** i] for i in range(6)]
        for loss, y, words in (("poisson", [1, 2, -1, 0, 3, 1], "response: row 2: want a count >= 0, got -1"),
                               ("poisson", [0] * 6, "response: want counts of which some are above 0, got none"),
                               ("binomial", [1] * 6, "response: want two classes, got one"),
                               ("binomial", [0, 1, 2, 0, 1, 2], "response: want two classes, or shares from 0 to 1, got more values"),
                               ("squared-hinge", [0, 0.5, 1, 0, 1, 1], "want one of two classes"),
                               ("binomial", ["a", "b", "c", "a", "b", "c"], "response: want two classes, or the loss multinomial, got more: 'a', 'b', 'c'"),
                               ("squared-hinge", ["a"] * 6, "response: want two classes, got one: 'a'"),
                               ("binomial", ["1", "b", "1", "b", "1", "b"], "column 'y': expected a number as in the rows before, got 'b'"),
                               ("binomial", ["b", "1", "b", "1", "b", "1"], "column 'y': expected a label as in the rows before, got '1'"),
                               ("poisson", ["a", "b"] * 3, "column 'y': expected a number, got 'a'"),
                               ("gaussian", ["a", "b"] * 3, "column 'y': expected a number, got 'a'")):
            with self.subTest(loss=loss, y=y):
                self.write("bad.csv", csv_text([row + [value] for row, value in zip(good, y)], ["a", "b", "y"]))
                for command in ("fit", "path", "cv"):
                    folds = ["--folds", "2"] if command == "cv" else []
                    self.refused([command, "bad.csv", "--loss", loss, "--model", "m.json", *folds], words)


class Labels(LossTest):
    def test_words_are_the_same_as_numbers(self):
        for loss in ("binomial", "squared-hinge"):
            numbers, y, _ = self.data(loss, "numbers.csv")
            expected = self.model("fit", numbers, "--loss", loss, "--strength", "0.05", *TIGHT)
            for words in (("no", "yes"), ("FALSE", "TRUE"), ("-1", "1"), ("1", "2"), ("a b", "zoë")):
                with self.subTest(loss=loss, words=words):
                    data, _, _ = self.data(loss, "words.csv", words)
                    model = self.model("fit", data, "--loss", loss, "--strength", "0.05", *TIGHT)
                    self.assertEqual(model["coefficients"], expected["coefficients"])
                    self.assertEqual([str(name).removesuffix(".0") for name in model["classes"]], list(words))
                    self.assertIn("holds", self.succeed("verify", "m.json", data))
                    predicted = self.succeed("predict", "m.json", data, "--type", "class", "--quiet").splitlines()[1:]
                    links = self.succeed("predict", "m.json", data, "--type", "link", "--quiet").splitlines()[1:]
                    shown = list(words)
                    self.assertEqual(predicted, [shown[float(link) > 0] for link in links])
                    wrong = sum(a != words[b] for a, b in zip(predicted, y)) / len(y)
                    self.succeed("predict", "m.json", data, "--json", "p.json", "--output", "p.csv")
                    self.assertAlmostEqual(json.loads(self.read("p.json"))["misclassification"], wrong, places=12)

    def test_labels_in_every_command(self):
        data, _, _ = self.data("binomial", words=("no", "yes"))
        for command in (["path", "--steps", "6"], ["cv", "--folds", "3", "--steps", "6", "--error", "auc"]):
            said = self.succeed(*command, data, "--loss", "binomial", "--model", "m.json")
            self.assertIn("of class 'yes' against 'no'", said)
            self.assertIn("hold", self.succeed("verify", "m.json", data))
            self.assertEqual(json.loads(self.read("m.json"))["classes"], ["no", "yes"])

    def test_labels_that_the_model_does_not_know(self):
        data, _, _ = self.data("binomial", words=("no", "yes"))
        model = self.model("fit", data, "--loss", "binomial", "--strength", "0.05", "--quiet")
        self.write("new.csv", csv_text([[0.0] * 6 + ["maybe"]], NAMES + ["y"]))
        self.refused(["predict", "m.json", "new.csv"], "response: row 0: want a class of the model, got 'maybe'")
        self.write("numbers.csv", csv_text([[0.0] * 6 + [1]], NAMES + ["y"]))
        self.refused(["predict", "m.json", "numbers.csv"], "response: want the classes of the model, which are words, got numbers")
        model["classes"] = ["no", "maybe"]
        self.write("other.json", json.dumps(model))
        self.refused(["verify", "other.json", data], "want a class of the model, got yes")
        for damaged in (["no"], ["no", "no"], ["a", "b", "c"], "no", [0, "b"]):
            model["classes"] = damaged
            self.write("damaged.json", json.dumps(model))
            for command in ("verify", "predict"):
                self.assertEqual(self.run_tyto(command, "damaged.json", data)[0], 2, damaged)
        # Swapped labels are another claim, which does not hold.
        model["classes"] = ["yes", "no"]
        self.write("swapped.json", json.dumps(model))
        self.assertEqual(self.run_tyto("verify", "swapped.json", data)[0], 1)

    def test_rows_that_are_dropped_take_their_label_with_them(self):
        source, rows, etas = table(3)
        y = [["no", "yes"][value] for value in responses("binomial", source, etas)]
        lines = [row + [label] for row, label in zip(rows, y)]
        lines.append([0.0] * 5 + ["NA", "unknown"])
        lines.append([0.0] * 6 + ["NA"])
        self.write("d.csv", csv_text(lines, NAMES + ["y"]))
        model = self.model("fit", "d.csv", "--loss", "binomial", "--missing", "drop-rows", "--strength", "0.05", "--quiet")
        self.assertEqual((model["n"], model["classes"]), (60, ["no", "yes"]))
        self.assertIn("holds", self.succeed("verify", "m.json", "d.csv"))
        self.refused(["fit", "d.csv", "--loss", "binomial"], "missing value")


class Offsets(LossTest):
    def exposed(self):
        """Counts with an exposure: rates, exposures and their logarithms as columns."""
        source, rows, etas = table(5, 80)
        years = [source.uniform(0.2, 4) for _ in rows]
        counts = [poisson_draw(source, time * math.exp(eta)) for time, eta in zip(years, etas)]
        lines = [row + [count, count / time, time, math.log(time)] for row, count, time in zip(rows, counts, years)]
        return self.write("d.csv", csv_text(lines, NAMES + ["claims", "rate", "years", "log_years"])), lines

    def test_counts_with_an_offset_are_rates_with_weights(self):
        data, _ = self.exposed()
        common = ["--loss", "poisson", "--weights", "lasso", "--no-standardize", "--relative-to", "absolute", "--strength", "8", *TIGHT]
        counts = self.model("fit", data, "--target", "claims", "--offset", "log_years", "--drop", "rate,years", *common)
        self.assertIn("holds", self.succeed("verify", "m.json", data))
        rates = self.model("fit", data, "--target", "rate", "--observation-weights", "years", "--drop", "claims,log_years", *common)
        self.assertIn("holds", self.succeed("verify", "m.json", data))
        self.assertGreater(len(counts["coefficients"]), 1)
        self.assertLess(len(counts["coefficients"]), 6)
        self.assertEqual([j for j, _ in counts["coefficients"]], [j for j, _ in rates["coefficients"]])
        for (_, a), (_, b) in zip(counts["coefficients"], rates["coefficients"]):
            self.assertAlmostEqual(a, b, places=6)
        self.assertAlmostEqual(counts["intercept"], rates["intercept"], places=6)

    def test_by_name_by_number_or_from_a_file(self):
        data, lines = self.exposed()
        file = self.write("offset.txt", "".join(f"{row[-1]!r}\n" for row in lines))
        common = [data, "--target", "claims", "--loss", "poisson", "--strength", "0.05", *TIGHT]
        named = self.model("fit", *common, "--offset", "log_years", "--drop", "rate,years")
        self.assertEqual((named["offset_column"], named["p"]), ("log_years", 6))
        numbered = self.model("fit", *common, "--offset", "9", "--drop", "rate,years")
        self.assertEqual((numbered["offset_column"], numbered["coefficients"]), ("log_years", named["coefficients"]))
        beside = self.model("fit", *common, "--offset", file, "--drop", "rate,years,log_years", name="beside.json")
        self.assertEqual((beside["offset_file"], beside["coefficients"]), ("offset.txt", named["coefficients"]))
        self.refused(["verify", "beside.json", data], "offset: want the file that the model was fitted with: --offset FILE")
        self.refused(["predict", "beside.json", data], "offset: want the file that the model was fitted with: --offset FILE")
        self.assertIn("holds", self.succeed("verify", "beside.json", data, "--offset", file))
        self.assertEqual(self.succeed("predict", "beside.json", data, "--offset", file, "--quiet"), self.succeed("predict", "m.json", data, "--quiet"))
        other = self.write("other.txt", "".join(f"{row[-1] + (0.1 if i % 2 else 0)!r}\n" for i, row in enumerate(lines)))
        self.assertEqual(self.run_tyto("verify", "beside.json", data, "--offset", other)[0], 1)

    def test_predictions_add_it(self):
        data, lines = self.exposed()
        self.succeed("fit", data, "--target", "claims", "--loss", "poisson", "--offset", "log_years", "--drop", "rate,years", "--model", "m.json")
        new = [row[:6] for row in lines[:3]]
        self.write("without.csv", csv_text(new, NAMES))
        self.refused(["predict", "m.json", "without.csv"], "offset: no column 'log_years' in without.csv")
        self.write("one.csv", csv_text([row + [0.0] for row in new], NAMES + ["log_years"]))
        self.write("two.csv", csv_text([row + [math.log(2)] for row in new], NAMES + ["log_years"]))
        one, two = ([float(x) for x in self.succeed("predict", "m.json", name, "--quiet").splitlines()[1:]] for name in ("one.csv", "two.csv"))
        for a, b in zip(one, two):
            self.assertAlmostEqual(2 * a, b, places=9)
        plain, _, _ = self.data("poisson", "plain.csv")
        self.succeed("fit", plain, "--loss", "poisson", "--model", "plain.json", "--quiet")
        for command in ("verify", "predict"):
            self.refused([command, "plain.json", data, "--offset", "log_years"], "offset: want none, as the model was fitted without")

    def test_path_and_cv(self):
        data, _ = self.exposed()
        common = [data, "--target", "claims", "--loss", "poisson", "--offset", "log_years", "--drop", "rate,years", "--steps", "8", "--quiet"]
        for command in (["path"], ["cv", "--folds", "4", "--resume", "state.json"]):
            self.succeed(*command, *common, "--model", "m.json", "--report", "r.html")
            self.assertIn("hold", self.succeed("verify", "m.json", data))
        changed = [word if word != "log_years" else "years" for word in common]
        changed[changed.index("rate,years")] = "rate,log_years"
        code, _, err = self.run_tyto("cv", "--folds", "4", "--resume", "state.json", *changed)
        self.assertEqual(code, 2)
        self.assertIn("offset", err)

    def test_squared_error_less_an_offset(self):
        source, rows, etas = table(7)
        y = [eta + source.gauss(0, 0.3) for eta in etas]
        off = [source.gauss(0, 3) for _ in rows]
        lines = [row + [value + o, value, o] for row, value, o in zip(rows, y, off)]
        data = self.write("d.csv", csv_text(lines, NAMES + ["sum", "part", "off"]))
        for more in ([], ["--no-intercept"], ["--gamma", "0.5"]):
            shifted = self.model("fit", data, "--target", "sum", "--offset", "off", "--drop", "part", "--strength", "0.1", *TIGHT, *more)
            self.assertIn("holds", self.succeed("verify", "m.json", data))
            plain = self.model("fit", data, "--target", "part", "--drop", "sum,off", "--strength", "0.1", *TIGHT, *more)
            for (j, a), (k, b) in zip(shifted["coefficients"], plain["coefficients"]):
                self.assertEqual(j, k)
                self.assertAlmostEqual(a, b, places=9)

    def test_every_loss_verifies_with_an_offset(self):
        for loss in LOSSES:
            source = random.Random(loss)
            data, _, _ = self.data(loss, extra={"off": [source.gauss(0, 1) for _ in range(60)], "w": [source.uniform(0, 2) for _ in range(60)]})
            self.succeed("fit", data, "--loss", loss, "--target", "y", "--offset", "off", "--observation-weights", "w", "--strength", "0.05", "--model",
                         "m.json", "--quiet")
            self.assertIn("holds", self.succeed("verify", "m.json", data), loss)
            self.refused(["fit", data, "--loss", loss, "--target", "y", "--offset", "w", "--observation-weights", "w"],
                         "offset: want a column of its own, got 'w'")


class Reports(LossTest):
    def page_data(self, *args):
        self.succeed(*args, "--report", "r.html", "--model", "m.json", "--quiet")
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', self.read("r.html"), re.S).group(1))

    def test_classes(self):
        data, y, _ = self.data("binomial", words=("no", "yes"))
        page = self.page_data("fit", data, "--loss", "binomial", "--strength", "0.05")
        chance = [float(line) for line in self.succeed("predict", "m.json", data, "--quiet").splitlines()[1:]]
        quality, step = page["quality"], page["quality"]["steps"][0]
        self.assertEqual((quality["classes"], quality["ones"], quality["zeros"]), (["no", "yes"], sum(y), 60 - sum(y)))
        pairs = [(a > b) + 0.5 * (a == b) for a, one in zip(chance, y) if one for b, other in zip(chance, y) if not other]
        self.assertAlmostEqual(step["auc"], sum(pairs) / len(pairs), places=6)
        self.assertEqual((step["roc"][0], step["roc"][-1]), ([0, 0], [1, 1]))
        area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(step["roc"], step["roc"][1:]))
        self.assertAlmostEqual(area, step["auc"], places=5)
        for level, ones, zeros in zip(quality["thresholds"], step["ones_above"], step["zeros_above"]):
            self.assertEqual(ones, sum(p > level and one for p, one in zip(chance, y)))
            self.assertEqual(zeros, sum(p > level and not one for p, one in zip(chance, y)))
        bins = step["calibration"]
        self.assertEqual(sum(weight for _, _, weight in bins), 60)
        self.assertAlmostEqual(sum(share * weight for _, share, weight in bins), sum(y), places=4)
        self.assertAlmostEqual(sum(mean * weight for mean, _, weight in bins), sum(chance), places=4)
        self.assertNotIn("rmse", page["fits"][0])
        self.assertEqual(page["observations"]["observed"], y)

    def test_counts(self):
        data, y, _ = self.data("poisson")
        page = self.page_data("path", data, "--loss", "poisson", "--steps", "5")
        self.assertEqual(page["quality"]["counts"], [y.count(k) for k in range(max(y) + 1)])
        means = [float(line) for line in self.succeed("predict", "m.json", data, "--quiet", "--step", "3").splitlines()[1:]]
        for k, expected in enumerate(page["quality"]["steps"][3]["expected"]):
            self.assertAlmostEqual(expected, sum(math.exp(-mu) * mu ** k / math.factorial(k) for mu in means), places=4)

    def test_other_losses_have_no_classes(self):
        for loss in ("gaussian", "huber"):
            data, _, _ = self.data(loss)
            page = self.page_data("fit", data, "--loss", loss)
            self.assertEqual((page["quality"], page["loss"]), ({}, loss))


if __name__ == "__main__":
    unittest.main()
