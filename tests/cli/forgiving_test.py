#!/usr/bin/env python3
"""Files as people have them: words, TRUE and FALSE, decimal commas, comments, UTF-16, missing values; and models of them."""
import json
import random
import unittest

from support import TytoTest

PLAIN = "a,b,y\n" + "".join(f"{0.37 * i % 1:.3f},{0.61 * i % 1:.3f},{0.37 * i % 1 - 0.61 * i % 1 + i % 3:.3f}\n" for i in range(30))


def mixed(rows=60):
    draw = random.Random(7)
    lines = ["age,sex,colour,smokes,y"]
    for _ in range(rows):
        age, sex, colour, smokes = draw.gauss(40, 9), draw.choice("fm"), draw.choice(["blue", "green", "red"]), draw.random() < 0.4
        y = 0.2 * age + 2 * (sex == "m") + 3 * (colour == "red") - smokes + draw.gauss(0, 0.3)
        lines.append(f"{age:.3f},{sex},{colour},{str(smokes).upper()},{y:.4f}")
    return "\n".join(lines) + "\n"


class Forgiving(TytoTest):
    def model(self, file, *options):
        self.succeed("fit", file, "--strength", "0.02", "--quiet", "--model", "model.json", *options)
        return json.loads(self.read("model.json"))

    def same_as_plain(self, text, *options):
        self.write("plain.csv", PLAIN)
        self.write("other.csv", text)
        self.assertEqual(self.model("plain.csv"), self.model("other.csv", *options))
        out = self.succeed("verify", "model.json", "other.csv", *options)
        self.assertIn("the certificate holds", out)

    def test_decimal_commas(self):
        german = PLAIN.replace(",", ";").replace(".", ",")
        self.same_as_plain(german)
        self.same_as_plain(german, "--decimal", ",")
        without_names = german.split("\n", 1)[1]
        self.write("bare.csv", without_names)
        self.assertEqual(self.model("bare.csv")["p"], 2)

    def test_a_point_stays_a_point(self):
        self.write("mixed.csv", "a;y\n1.5;2,5\n2.5;3,5\n")
        code, _, err = self.run_tyto("fit", "mixed.csv")
        self.assertEqual(code, 2)
        self.assertIn("column 'y': expected a number, got '2,5'", err)
        self.assertIn("--decimal , says", err)

    def test_comments_and_separators(self):
        self.same_as_plain("# made today, by \"me\n\n# again\n" + PLAIN)
        self.same_as_plain("sep=;\n" + PLAIN.replace(",", ";"))
        self.same_as_plain("# " + PLAIN)
        self.same_as_plain(PLAIN + "# the end\n# a, b, c, d\n")

    def test_wide_characters(self):
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            self.same_as_plain(PLAIN.encode(encoding))
        self.write("names.csv", PLAIN.replace("a,", "größe 😀,", 1).encode("utf-16"))
        self.assertIn("größe 😀", self.model("names.csv")["names"])
        self.write("broken.csv", b"\xff\xfea\x00,\x00\x00\xd8\n\x00")
        self.assertIn("expected UTF-16 text", self.run_tyto("fit", "broken.csv")[2])

    def test_words_become_columns(self):
        self.write("mixed.csv", mixed())
        model = self.model("mixed.csv", "--one-hot", "sex,colour")
        self.assertEqual(model["p"], 6)
        self.assertEqual(model["one_hot"], [{"column": "sex", "words": ["f", "m"]}, {"column": "colour", "words": ["blue", "green", "red"]}])
        value = dict(zip(model["names"], (value for _, value in model["coefficients"])))
        self.assertAlmostEqual(value["sex=m"], 2, delta=0.4)
        self.assertAlmostEqual(value["smokes"], -1, delta=0.4)
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "mixed.csv"))

    def test_new_rows_are_read_alike(self):
        text = mixed()
        self.write("mixed.csv", text)
        self.model("mixed.csv", "--one-hot", "sex,colour")
        whole = self.succeed("predict", "model.json", "mixed.csv", "--quiet").split()
        head, *lines = text.splitlines()
        order = [3, 1, 4, 0, 2]
        shuffled = "\n".join(",".join(line.split(",")[k] for k in order) for line in [head, *lines[:2]]) + "\n"  # two rows, not all words
        self.write("new.csv", shuffled)
        for new, old in zip(self.succeed("predict", "model.json", "new.csv", "--quiet").split()[1:], whole[1:3], strict=True):
            self.assertAlmostEqual(float(new), float(old), places=12)
        self.write("new.csv", shuffled.replace("red", "pink").replace("blue", "pink").replace("green", "pink"))
        self.assertIn("column 'colour': expected one of the words that the model knows, got 'pink'",
                      self.run_tyto("predict", "model.json", "new.csv")[2])

    def test_words_without_a_header(self):
        self.write("bare.csv", mixed().split("\n", 1)[1])
        model = self.model("bare.csv", "--header", "no", "--one-hot", "1,2")
        self.assertEqual(model["p"], 6)
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "bare.csv"))
        self.succeed("predict", "model.json", "bare.csv", "--header", "no", "--quiet")

    def test_one_hot_refuses(self):
        self.write("mixed.csv", mixed())
        for column, reason in (("y", "want a feature"), ("sexx", "did you mean 'sex'?"), ("sex,sex", "want each column once")):
            code, _, err = self.run_tyto("fit", "mixed.csv", "--one-hot", column)
            self.assertEqual(code, 2)
            self.assertIn(reason, err)
        self.write("x.svm", "1 1:2\n2 1:3\n")
        self.assertIn("one-hot: want none for libsvm files", self.run_tyto("fit", "x.svm", "--one-hot", "a")[2])

    def holes(self):
        lines = PLAIN.splitlines()
        for k in (3, 8, 9):
            cells = lines[k].split(",")
            lines[k] = ",".join([cells[0], "NA", cells[2]])
        return "\n".join(lines) + "\n"

    def test_missing_values_become_means(self):
        self.write("holes.csv", self.holes())
        model = self.model("holes.csv", "--missing", "mean")
        known = [float(line.split(",")[1]) for line in self.holes().splitlines()[1:] if "NA" not in line]
        self.assertAlmostEqual(model["fill"][model["names"].index("b")], sum(known) / len(known), places=12)
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "holes.csv"))
        predicted = self.succeed("predict", "model.json", "holes.csv", "--quiet").split()
        self.assertEqual(len(predicted), 31)
        self.assertNotIn("NA", predicted)
        self.write("one.csv", "b,a\nNA,0.5\n")  # new data: the mean of the old
        b, a = (model["names"].index(name) for name in "ba")
        expected = model["intercept"] + 0.5 * model["coefficients"][a][1] + model["fill"][b] * model["coefficients"][b][1]
        self.assertAlmostEqual(float(self.succeed("predict", "model.json", "one.csv").split()[1]), expected, places=12)

    def test_missing_columns_are_left_out(self):
        self.write("holes.csv", self.holes())
        code, _, err = self.run_tyto("fit", "holes.csv", "--missing", "drop-columns", "--model", "model.json")
        self.assertEqual(code, 0)
        self.assertIn("1 of 2 columns were left out for missing values: b", err)
        model = json.loads(self.read("model.json"))
        self.assertEqual((model["p"], model["n"], model["dropped"], model["missing"]), (1, 30, ["b"], "drop-columns"))
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "holes.csv"))
        self.succeed("predict", "model.json", "holes.csv", "--quiet")

    def test_rows_without_a_response_are_left_out(self):
        self.write("holes.csv", self.holes().replace("\n0.370,", "\nNA,", 1).rsplit(",", 1)[0] + ",NA\n")
        model = self.model("holes.csv", "--missing", "mean")
        self.assertEqual(model["n"], 29)
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "holes.csv"))

    def test_means_need_a_model_that_knows_them(self):
        self.write("plain.csv", PLAIN)
        self.model("plain.csv")
        self.assertIn("missing: want mean only where the model was fitted with --missing mean",
                      self.run_tyto("predict", "model.json", "plain.csv", "--missing", "mean")[2])

    def test_row_numbers_are_named(self):
        lines = PLAIN.splitlines()
        self.write("numbered.csv", "\n".join(["id," + lines[0]] + [f"{k},{line}" for k, line in enumerate(lines[1:])]) + "\n")
        err = self.run_tyto("fit", "numbered.csv")[2]
        self.assertIn("column 'id' only counts the rows; --drop id leaves it out", err)

    def test_summaries(self):
        self.write("mixed.csv", mixed())
        out = self.succeed("fit", "mixed.csv", "--one-hot", "sex,colour", "--strength", "0.05")
        self.assertRegex(out, r"alpha \S+ \(0.05 of alpha-max\)")
        self.assertRegex(out, r"(?m)^R2 0\.9\d+ on the data fitted$")
        out = self.succeed("cv", "mixed.csv", "--one-hot", "sex,colour")
        self.assertRegex(out, r"(?m)^the best selects .*age.* \(\S+ of alpha-max\)$")
        out = self.succeed("fit", "mixed.csv", "--one-hot", "colour", "--target", "sex", "--loss", "binomial")
        self.assertRegex(out, r"(?m)^[\d.]+% of the deviance explained$")


if __name__ == "__main__":
    unittest.main()
