#!/usr/bin/env python3
"""Several classes, through the program: every command, labels as people have them, what is refused."""
import csv
import io
import json
import math
import random
import unittest

from support import TytoTest, csv_text

WORDS = ["setosa", "versicolor", "virginica"]
NAMES = [f"x{j}" for j in range(6)]
LOSS = ["--loss", "multinomial"]


def table(n=75, classes=3, seed=0):
    """Rows of six features, and the class of each."""
    source = random.Random(seed)
    rows = [[source.gauss(0, 1) for _ in NAMES] for _ in range(n)]
    scores = [[1.5 * row[c] + source.gauss(0, 1) for c in range(classes)] for row in rows]
    return rows, [max(range(classes), key=score.__getitem__) for score in scores]


def softmax(eta):
    most = max(eta)
    shares = [math.exp(value - most) for value in eta]
    return [share / sum(shares) for share in shares]


class Multinomial(TytoTest):
    def data(self, labels=WORDS, name="d.csv", extra=None, **of_table):
        rows, own = table(**of_table)
        extra = extra or {}
        lines = [row + [labels[c], *(column[i] for column in extra.values())] for i, (row, c) in enumerate(zip(rows, own))]
        return self.write(name, csv_text(lines, NAMES + ["y", *extra])), rows, own

    def model(self, *args, name="m.json"):
        self.succeed(*args, "--model", name)
        return json.loads(self.read(name))

    def predictors(self, model, row):
        eta = list(model["intercept"])
        for (column, value), c in zip(model["coefficients"], model["class_of"]):
            eta[c] += value * row[column]
        return eta

    def refused(self, args, words):
        code, out, err = self.run_tyto(*args)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        self.assertIn(words, err)

    def test_every_command(self):
        data, rows, own = self.data()
        for command in (["fit", "--strength", "0.1"], ["path", "--steps", "8", "--choose", "bic"], ["cv", "--folds", "4", "--steps", "8"]):
            said = self.succeed(*command, data, *LOSS, "--model", "m.json", "--json", "r.json", "--report", "r.html", "--coefficients", "c.csv")
            self.assertIn("loss multinomial of 3 classes", said)
            self.assertIn("hold", self.succeed("verify", "m.json", data).replace("holds", "hold"))
            self.assertIn('"confusion":[[', self.read("r.html"))
            document = json.loads(self.read("m.json"))
            model = json.loads(self.succeed("coef", "m.json", "--json", "-", "--quiet", *([] if command[0] != "path" else ["--choose", "bic"])))
            self.assertEqual(document["classes"], WORDS)
            self.assertAlmostEqual(sum(model["intercept"]), 0, delta=1e-12)
            chosen = [] if command[0] != "path" else ["--choose", "bic"]
            for kind, mean in (("response", softmax), ("link", list)):
                found = list(csv.reader(io.StringIO(self.succeed("predict", "m.json", data, "--type", kind, "--quiet", *chosen))))
                self.assertEqual(found[0], WORDS)
                for row, line in zip(rows, found[1:]):
                    for expected, value in zip(mean(self.predictors(model, row)), line):
                        self.assertAlmostEqual(float(value), expected, delta=1e-10)
            classes = self.succeed("predict", "m.json", data, "--type", "class", "--quiet", *chosen).split()
            right = 0
            for row, c, word in zip(rows, own, classes[1:]):
                eta = self.predictors(model, row)
                self.assertEqual(word, WORDS[eta.index(max(eta))])
                right += word == WORDS[c]
            said = self.succeed("predict", "m.json", data, "--output", "p.csv", *chosen)
            self.assertIn(f"misclassification rate {1 - right / len(own):.6g}", said)
            table_of = list(csv.reader(io.StringIO(self.succeed("coef", "m.json", "--output", "-", "--quiet", *chosen))))
            self.assertEqual(table_of[0], ["class", "column", "name", "coefficient", "cluster"])
            self.assertEqual([line[0] for line in table_of[1:]], [WORDS[c] for c in model["class_of"]])

    def test_numbers_are_the_same_as_words(self):
        tight = ["--strength", "0.05", "--tolerance", "1e-11", "--quiet"]
        words, _, _ = self.data(name="w.csv")
        expected = self.model("fit", words, *LOSS, *tight)
        for labels in ([0, 1, 2], [1, 2, 3], [-1, 0, 10]):
            numbers, _, _ = self.data(labels, "n.csv")
            model = self.model("fit", numbers, *LOSS, *tight)
            self.assertEqual(model["classes"], labels)
            self.assertEqual(model["coefficients"], expected["coefficients"])
            self.assertEqual(model["class_of"], expected["class_of"])
        # Another order of the classes: the same model.
        other, _, _ = self.data([2, 1, 0], "o.csv")
        model = self.model("fit", other, *LOSS, *tight)
        self.assertAlmostEqual(model["primal"], expected["primal"], delta=1e-9 * expected["primal"])
        for c in range(3):
            self.assertAlmostEqual(model["intercept"][2 - c], expected["intercept"][c], delta=1e-4)

    def test_two_labels_are_binomial(self):
        data, _, _ = self.data(["no", "yes"], classes=2)
        common = ["--strength", "0.1", "--quiet"]
        several = self.model("fit", data, *LOSS, *common, name="a.json")
        two = self.model("fit", data, "--loss", "binomial", *common, name="b.json")
        self.assertEqual(several, two)

    def test_a_changed_number_does_not_verify(self):
        data, _, _ = self.data()
        model = self.model("fit", data, *LOSS, "--strength", "0.05", "--quiet")
        for change in ("coefficients", "intercept", "class_of"):
            changed = json.loads(json.dumps(model))
            if change == "coefficients":
                changed[change][0][1] *= 1.01
            elif change == "intercept":
                changed[change][1] += 0.1
            else:  # a coefficient in another class
                used = {(column, c) for (column, _), c in zip(model["coefficients"], model["class_of"])}
                place = next(k for k, ((column, _), c) in enumerate(zip(model["coefficients"], model["class_of"]))
                             if c < 2 and (column, c + 1) not in used)
                changed[change][place] += 1
            self.write("changed.json", json.dumps(changed))
            self.assertEqual(self.run_tyto("verify", "changed.json", data)[0], 1, change)

    def test_damaged_models(self):
        data, _, _ = self.data()
        model = self.model("fit", data, *LOSS, "--strength", "0.05", "--quiet")
        for field, value, words in (("class_of", model["class_of"][:-1], "one class for each coefficient"),
                                    ("class_of", [7] * len(model["class_of"]), "class"),
                                    ("intercept", 0.5, "intercept"),
                                    ("intercept", [0, 1], "an intercept for each class"),
                                    ("classes", ["a", "b"], "three classes or more"),
                                    ("classes", ["a", "b", "a"], "classes that differ")):
            self.write("bad.json", json.dumps({**model, field: value}))
            for command in ("predict", "verify"):
                self.refused([command, "bad.json", data], words)

    def test_extensions(self):
        weights = [1 + i % 3 for i in range(75)]
        data, _, _ = self.data(extra={"w": weights})
        tight = ["--quiet", "--strength", "0.05"]
        for options in (["--ridge", "1"], ["--nonnegative"], ["--unpenalized", "x5"], ["--no-intercept"], ["--no-standardize"],
                        ["--weights", "bh", "--solver", "apgd"], ["--screening", "seed"],
                        ["--ridge", "0.1", "--unpenalized", "x5,x4", "--weights", "lasso"]):
            with self.subTest(options=options):
                model = self.model("fit", data, *LOSS, "--observation-weights", "w", *tight, *options, "--tolerance", "1e-6" if "apgd" in options else "1e-10")
                self.assertEqual(model["status"], "converged")
                self.assertEqual(self.run_tyto("verify", "m.json", data)[0], 0)
                if "--nonnegative" in options:
                    self.assertTrue(all(value >= 0 for _, value in model["coefficients"]))
        self.write("own.txt", "\n".join(str(20 - i) for i in range(18)))
        self.model("fit", data, *LOSS, "--drop", "w", "--weights", "own.txt", *tight)
        self.assertEqual(self.run_tyto("verify", "m.json", data)[0], 0)
        self.write("short.txt", "\n".join(["1"] * 6))
        self.refused(["fit", data, *LOSS, "--drop", "w", "--weights", "short.txt"], "want 18 numbers, one for each column and class, got 6")

    def test_what_is_refused(self):
        data, _, _ = self.data(extra={"o": [0.1] * 75})
        self.refused(["fit", data, *LOSS, "--offset", "o"], "offset: want none with the loss multinomial")
        self.refused(["fit", data, *LOSS, "--gamma", "0.5"], "gamma")
        self.refused(["cv", data, *LOSS, "--error", "auc"], "error: want deviance or misclassification")
        rows, _ = table(12)
        for labels, words in ((["a"] * 12, "response: want two classes, got one: 'a'"),
                              ([0.5 * i for i in range(12)][:1] * 12, "response: want at least two classes, got one")):
            self.write("bad.csv", csv_text([row + [label] for row, label in zip(rows, labels)], NAMES + ["y"]))
            self.refused(["fit", "bad.csv", *LOSS], words)
        self.write("rare.csv", csv_text([row + [("a", "b", "c")[0 if i == 0 else 1 + i % 2]] for i, row in enumerate(rows)], NAMES + ["y"]))
        self.refused(["cv", "rare.csv", *LOSS, "--folds", "3"], "folds: want rows of every class outside each fold")
        many, _ = table(60)
        self.write("many.csv", csv_text([row + [i / 7] for i, row in enumerate(many)], NAMES + ["y"]))
        self.refused(["fit", "many.csv", *LOSS], "response: want classes, most of more than one row, got 60 in 60 rows")

    def test_resumed_cross_validation_is_the_same(self):
        data, _, _ = self.data()
        common = ["cv", data, *LOSS, "--folds", "3", "--steps", "5", "--quiet"]
        whole = self.model(*common, "--resume", "s.json", name="a.json")
        again = self.model(*common, "--resume", "s.json", name="b.json")
        self.assertEqual(whole, again)


if __name__ == "__main__":
    unittest.main()
