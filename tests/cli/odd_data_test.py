#!/usr/bin/env python3
"""Data as it comes: fit, verify and predict agree on columns that are odd in their numbers or in their names."""
import json
import random
import unittest

from support import TytoTest, csv_text


class OddData(TytoTest):
    def rows(self, columns, n=40, seed=1):
        """n rows of the columns, functions of a standard normal number, and of y = first column - mean + noise."""
        source = random.Random(seed)
        made = [[column(source.gauss(0, 1)) for column in columns] for _ in range(n)]
        mean = sum(row[0] for row in made) / n
        size = max(abs(row[0] - mean) for row in made)
        return [row + [(row[0] - mean) / size + source.gauss(0, 0.1)] for row in made]

    def round_trip(self, text, *options):
        self.write("data.csv", text)
        self.succeed("fit", "data.csv", "--target", "y", "--model", "model.json", "--quiet", *options)
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "data.csv"))
        self.succeed("predict", "model.json", "data.csv", "--output", "out.csv", "--quiet")
        return json.loads(self.read("model.json"))

    def test_time_stamps(self):
        for unit in (1, 1000):  # seconds, milliseconds
            text = csv_text(self.rows([lambda z: unit * (1.7e9 + 3 * z), lambda z: z]), ["t", "a", "y"])
            self.assertEqual(self.round_trip(text, "--tolerance", "1e-4")["status"], "converged")

    def test_column_without_a_name(self):
        model = self.round_trip(csv_text(self.rows([lambda z: z, lambda z: z * z]), ["a", "", "y"]), "--strength", "0.01")
        self.assertEqual(model["names"][0], "a")
        self.assertIn("column1", model["names"])

    def test_names_that_are_not_utf8(self):
        text = csv_text(self.rows([lambda z: z, lambda z: z * z]), ["hNhe", "b", "y"]).encode().replace(b"hNhe", b"h\xf6he")
        self.assertEqual(self.round_trip(text)["names"][0], "h\\xf6he")

    def test_new_data_may_hold_text_in_columns_that_the_model_does_not_use(self):
        self.round_trip(csv_text(self.rows([lambda z: z]), ["a", "y"]))
        self.write("new.csv", "name,a\nx,1\ny,2\n")
        self.assertEqual(len(self.succeed("predict", "model.json", "new.csv").splitlines()), 3)

    def test_rows_left_out_keep_their_place(self):
        text = csv_text(self.rows([lambda z: z]), ["a", "y"])
        self.write("data.csv", text + "NA,1\n")
        code, _, err = self.run_tyto("fit", "data.csv", "--target", "y", "--missing", "drop-rows", "--model", "m.json")
        self.assertEqual((code, err), (0, "tyto: 1 of 41 rows were left out for missing values\n"))
        self.succeed("verify", "m.json", "data.csv")  # the model knows that rows were left out
        self.write("new.csv", "a\n1\nNA\n2\n")
        lines = self.succeed("predict", "m.json", "new.csv", "--missing", "drop-rows").split()
        self.assertEqual((len(lines), lines[2]), (4, "NA"))

    def test_squares_that_vanish_are_refused(self):
        self.write("data.csv", csv_text([[value * 1e-160, y] for value, y in ((1, 2), (3, 1), (2, 4))], ["a", "y"]))
        code, _, err = self.run_tyto("fit", "data.csv")
        self.assertEqual((code, err), (2, "tyto: design: column 0: want numbers above 1e-140 in size, or 0: the squares of "
                                          "smaller ones are lost\n"))

    def test_constant_response(self):
        self.write("data.csv", "a,y\n1,3\n2,3\n4,3\n")
        code, _, err = self.run_tyto("fit", "data.csv")
        self.assertEqual(code, 0)
        self.assertIn("the response is constant", err)


if __name__ == "__main__":
    unittest.main()
