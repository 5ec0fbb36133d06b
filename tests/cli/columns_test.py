"""Which line holds the names, and which column is the response, where nobody says."""
import json
import unittest

from support import TytoTest, csv_text

ROWS = [[0.5, 1.25, 3.5, 2.0], [1.5, 0.75, 1.25, 1.5], [2.5, 1.75, 0.25, 3.75], [0.25, 2.5, 1.5, 0.5],
        [3.25, 0.5, 2.75, 4.5], [1.75, 3.5, 0.75, 2.25]]
COUNTS = [[4, 5, 7, 20], [6, 2, 1, 13], [5, 8, 8, 3], [9, 1, 4, 11], [2, 2, 6, 5]]
FIT = ["--strength", "0.01"]


class Columns(TytoTest):
    def fit(self, text, *args):
        """-> (the result, standard error)"""
        self.write("a.csv", text)
        code, out, err = self.run_tyto("fit", "a.csv", *FIT, *args, "--json", "-", "--model", "m.json")
        self.assertEqual(code, 0, err)
        return json.loads(out), err

    def refused(self, text, *args):
        self.write("a.csv", text)
        code, out, err = self.run_tyto("fit", "a.csv", *args, "--model", "x.json")
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        return err


class TheHeader(Columns):
    def test_numbers_as_names(self):
        for names in (["1", "2", "3", "4"], ["0", "1", "2", "3"], ["1990", "2000", "2005", "2010"],
                      ["400.5", "402", "403.5", "405"], ["0.1", "0.2", "0.3", "0.4"]):
            text = csv_text(ROWS, names)
            result, err = self.fit(text)
            self.assertEqual((result["n"], result["names"]), (len(ROWS) + 1, []))
            self.assertIn("tyto: warning: a.csv:1: taken for data, though it looks like numbers as names of columns: "
                          "--header yes or --header no says what it is\n", err)
            result, err = self.fit(text, "--header", "yes", "--target", names[3])
            self.assertEqual((result["n"], result["response"]), (len(ROWS), names[3]))
            self.assertNotIn("warning", err)
            self.assertEqual(result["names"], [names[column] for column, _ in result["coefficients"]])
            self.succeed("verify", "m.json", "a.csv")
            predictions = self.succeed("predict", "m.json", "a.csv").split()
            self.assertEqual(len(predictions), len(ROWS) + 1)
            result, err = self.fit(text, "--header", "no")
            self.assertEqual(result["n"], len(ROWS) + 1)
            self.assertNotIn("warning", err)
            self.succeed("verify", "m.json", "a.csv")

    def test_whole_numbers_under_a_header_of_numbers(self):
        self.assertIn("taken for data", self.fit(csv_text(COUNTS, ["1", "2", "3", "4"]))[1])

    def test_data_without_a_header(self):
        for rows in (ROWS, COUNTS, [[1, 2, 3, 4], [2, 3, 4, 5], [5, 6, 7, 9], [4, 4, 1, 0]],
                     [[3, 1, 2.5, 1], *ROWS], [[1, 1, 2, 3], *ROWS], [[-1, 4, 2, 3], *ROWS], [[0, 0, 0, 0], *ROWS],
                     [[0.5, 0.5, 0.5, 0.5], *ROWS], [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], *ROWS]):
            self.assertNotIn("warning", self.fit(csv_text(rows))[1])

    def test_a_header_that_is_doubtful(self):
        text = csv_text([[0.5, "x", 0.5, 2.5], *[[row[0], 7, *row[2:]] for row in ROWS]])
        self.assertIn("tyto: warning: a.csv:1: taken for names of columns because of 'x', though most of it looks like "
                      "data: ", self.fit(text, "--target", "2.5")[1])
        self.assertIn("a.csv:1: column 1: expected a number, got 'x'", self.refused(text, "--header", "no"))
        self.assertNotIn("warning", self.fit(text, "--header", "yes", "--target", "2.5")[1])
        self.assertNotIn("warning", self.fit(csv_text(ROWS, ["850", "852", "854", "y"]))[1])

    def test_no_header_for_words_that_are_dropped(self):
        rows = [[f"id{k}", *row] for k, row in enumerate(ROWS)]
        result, _ = self.fit(csv_text(rows), "--header", "no", "--drop", "0")
        self.assertEqual(result["n"], len(ROWS))
        self.succeed("verify", "m.json", "a.csv")

    def test_stacked(self):
        self.write("a.csv", csv_text(ROWS[:3], ["1", "2", "3", "y"]).replace("y", "4"))
        self.write("b.csv", csv_text(ROWS[3:], ["1", "2", "3", "4"]))
        out = self.succeed("fit", "a.csv", "b.csv", "--header", "yes", "--target", "4", *FIT, "--json", "-", "--quiet")
        self.assertEqual(json.loads(out)["n"], len(ROWS))

    def test_words(self):
        self.assertEqual(self.refused(csv_text(ROWS), "--header", "maybe"),
                         "tyto: header: want auto, yes or no, got 'maybe'\n")

    def test_quiet(self):
        self.assertEqual(self.fit(csv_text(ROWS, ["1", "2", "3", "4"]), "--quiet")[1], "")


class TheTarget(Columns):
    def test_by_name(self):
        for name in ("y", "Y", "target", "Label", "RESPONSE"):
            for place in range(4):
                names = ["a", "b", "c"]
                names.insert(place, name)
                self.write("a.csv", csv_text(ROWS, names))
                out = self.succeed("fit", "a.csv", *FIT, "--model", "m.json")
                self.assertIn(f"target: column '{name}' (by its name)\n", out)
                result = json.loads(self.read("m.json"))
                self.assertEqual(result["response"], name)
                given = self.succeed("fit", "a.csv", *FIT, "--target", name, "--model", "given.json")
                self.assertNotIn("by its name", given)
                self.assertEqual(json.loads(self.read("given.json"))["coefficients"], result["coefficients"])
                self.succeed("verify", "m.json", "a.csv")
                self.assertIn("R2", self.run_tyto("predict", "m.json", "a.csv")[2])

    def test_all_commands_say_so(self):
        self.write("a.csv", csv_text(ROWS, ["a", "y", "b", "c"]))
        for args in (["path", "a.csv", "--steps", "3"], ["cv", "a.csv", "--steps", "3", "--folds", "3"]):
            self.assertIn("target: column 'y' (by its name)\n", self.succeed(*args))
            self.assertEqual(self.succeed(*args, "--quiet"), "")

    def test_none_of_these_names(self):
        self.assertEqual(self.refused(csv_text(ROWS, ["a", "b", "c", "medv"])),
                         "tyto: target: no column of a.csv is called y, target, label or response; give --target NAME, "
                         "one of a, b, c, medv\n")

    def test_several(self):
        self.assertEqual(self.refused(csv_text(ROWS, ["y", "b", "Label", "c"])),
                         "tyto: target: 2 columns of a.csv could be it, 'y', 'Label'; give --target NAME or number\n")
        result, _ = self.fit(csv_text(ROWS, ["y", "b", "Label", "c"]), "--drop", "y")
        self.assertEqual(result["response"], "Label")
        result, _ = self.fit(csv_text(ROWS, ["y", "b", "label", "c"]), "--observation-weights", "label")
        self.assertEqual(result["response"], "y")

    def test_without_names_the_last(self):
        result, err = self.fit(csv_text(ROWS))
        self.assertEqual((result["response"], result["p"]), ("", 3))
        self.assertNotIn("by its name", err)

    def test_older_models_keep_their_target(self):
        """A model whose response was the last column, whatever it is called."""
        self.fit(csv_text(ROWS, ["a", "y", "b", "last"]), "--target", "last")
        model = json.loads(self.read("m.json"))
        self.write("m.json", json.dumps({**model, "target": ""}))
        self.succeed("verify", "m.json", "a.csv")
        self.assertIn("R2", self.run_tyto("predict", "m.json", "a.csv")[2])


if __name__ == "__main__":
    unittest.main()
