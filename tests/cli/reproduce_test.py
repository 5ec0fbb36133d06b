"""tyto reproduce on made-up sets in the layout of the data folder: numbers that agree, whatever interrupted the runs."""
import csv
import fnmatch
import io
import json
import math
import random
import re
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from support import PROGRAM, TIMEOUT, TytoTest, csv_text, libsvm_text

SETS = ["duke", "ujiindoorloc", "slice-part"]
FIGURE1 = ["published apgd", "published apgd+seed", "published spgd", "published spgd+seed", "apgd", "apgd+seed", "spgd", "spgd+seed",
           "apgd+safe", "newton"]
STARTS = ["1.1", "1e-2", "1e-3", "1e-4", "1e-5"]
SPLITS = 2  # as many as trials, at most five
TABLE3 = ["apgd", "apgd+seed", "spgd", "spgd+seed", "newton"]
OUTPUTS = ["runs.csv", "screening.csv", "tuning.csv", "table3.csv", "figure1.svg", "figure2.svg", "index.html", "paper.md"]
RUNS = len(SETS) * (3 * 2 * len(FIGURE1) + 4 + 2 + 2 * len(STARTS) + SPLITS * len(TABLE3))


def made_up(rows, cols, seed):
    """Features with scales that differ, and a response that a few of them make."""
    draw = random.Random(seed)
    x = [[round(draw.gauss(0, 1) * (1 + j % 3) + j % 5, 4) for j in range(cols)] for _ in range(rows)]
    y = [round(2 * row[0] - row[1] + 3 * row[2] + draw.gauss(0, 0.5), 4) for row in x]
    return x, y


class Reproduce(TytoTest):
    def setUp(self):
        super().setUp()
        for name in ("data/duke", "data/ujiindoorloc", "data/slice-part"):
            (self.folder / name).mkdir(parents=True)
        x, y = made_up(20, 40, 1)
        self.write("data/duke/data.svm", libsvm_text(x, [1.0 if value > 8 else -1.0 for value in y]))
        x, y = made_up(60, 8, 2)
        rows, names = [row + [target] for row, target in zip(x, y)], [f"x{j}" for j in range(8)]
        self.write("data/ujiindoorloc/trainingData.csv", csv_text(rows[:45], names + ["LONGITUDE"]))
        self.write("data/ujiindoorloc/validationData.csv", csv_text(rows[45:], names + ["LONGITUDE"]))
        self.write("data/slice-part/data.csv", csv_text([row[::-1] for row in rows], ["reference"] + names))

    def reproduce(self, *args, output="out", sets=",".join(SETS)):
        return self.run_tyto("reproduce", "--data", "data", "--output", output, "--sets", sets, "--trials", "2", "--cap", "100",
                             *args)

    def table(self, name, output="out"):
        return list(csv.DictReader(io.StringIO(self.read(f"{output}/{name}"))))

    def assert_mistake(self, words, *args):
        code, out, err = self.run_tyto("reproduce", *args)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        self.assertIn(words, err)

    def test_all_of_it(self):
        code, out, err = self.reproduce()
        self.assertEqual(code, 0, err)
        self.assertIn("identical to four digits on 6 of 6 splits of data sets", out)
        runs = self.table("runs.csv")
        self.assertEqual(len(runs), RUNS)
        for run in runs:
            if run["experiment"] != "warm":  # those are one try at screening
                self.assertEqual(run["status"], "converged", run)
                self.assertLessEqual(float(run["relative_gap"]), float(run["tolerance"]), run)
            strength = int(run["strength"][2:]) * math.exp(-2)
            self.assertAlmostEqual(float(run["multiplier"]), strength, 12)
        for name in SETS:
            for strength in ("p_1", "p_2", "p_3"):
                primal = [float(run["primal"]) for run in runs
                          if (run["experiment"], run["set"], run["strength"]) == ("figure1", name, strength)]
                self.assertEqual(len(primal), 2 * len(FIGURE1))
                self.assertLessEqual(max(primal), min(primal) * (1 + 1e-6))
        seeds = {run["seed"] for run in runs if run["algorithm"] == "spgd" and run["experiment"] == "figure1"}
        self.assertEqual(seeds, {"1", "2"})

    def test_the_problems_are_those_of_the_paper(self):
        """The objective is that of `fit` on the same data; where the response is standardised, over its variance."""
        self.assertEqual(self.reproduce()[0], 0)
        found = {run["set"]: float(run["primal"]) for run in self.table("runs.csv")
                 if (run["experiment"], run["strength"], run["algorithm"]) == ("figure1", "p_2", "newton")}
        strength = ["--relative-to", "correlation", "--strength", repr(2 * math.exp(-2)), "--quiet", "--json", "-"]
        raw = json.loads(self.succeed("fit", "data/duke/data.svm", "--no-intercept", "--no-standardize", *strength))
        self.assertAlmostEqual(found["duke"] / raw["primal"], 1, 5)
        files = ["data/ujiindoorloc/trainingData.csv", "data/ujiindoorloc/validationData.csv"]
        scaled = json.loads(self.succeed("fit", *files, "--target", "LONGITUDE", *strength))
        y = made_up(60, 8, 2)[1]
        variance = sum((value - sum(y) / 60) ** 2 for value in y) / 60
        self.assertAlmostEqual(found["ujiindoorloc"] / scaled["primal"] * variance, 1, 5)
        self.assertAlmostEqual(found["slice-part"] / found["ujiindoorloc"], 1, 5)  # the same columns, in another order

    def test_figures_and_tables(self):
        self.assertEqual(self.reproduce()[0], 0)
        errors = self.table("table3.csv")
        self.assertEqual([row["algorithm"] for row in errors], [name for name in TABLE3 for _ in range(SPLITS)] * 3)
        for name in SETS:
            printed = {(row["split"], f"{float(row['rmse']):.4f}") for row in errors if row["set"] == name}
            self.assertEqual(len(printed), SPLITS, name)
        self.assertEqual({row["n_training"] for row in errors}, {"16", "48"})
        last = {}
        for row in self.table("screening.csv"):
            key, rate = (row["set"], row["algorithm"]), float(row["rate"])
            self.assertTrue(last.get(key, 0) <= rate <= 1, row)
            last[key] = rate
        self.assertEqual(len(last), 9)
        self.assertGreater(last["duke", "published spgd+safe"], 0.5)
        for name in ("figure1.svg", "figure2.svg"):
            figure = ElementTree.fromstring(self.read(f"out/{name}"))
            self.assertIn("Figure", figure[0].text)
            self.assertTrue(figure[1].text)
        page = self.read("out/index.html")
        for words in ("<svg", "Duke Breast Cancer", "first 682 rows", "commit", "prefers-color-scheme"):
            self.assertIn(words, page)
        self.assertNotIn("<script", page)
        self.assertNotIn("href=", page)

    def numbers(self, output):
        """Everything but times."""
        runs = self.table("runs.csv", output)
        for run in runs:
            del run["cpu_seconds"]
        return runs, self.read(f"{output}/screening.csv"), self.read(f"{output}/table3.csv")

    def start(self, lines):
        """A run that has written so many lines."""
        process = subprocess.Popen([PROGRAM, "reproduce", "--data", "data", "--output", "out", "--sets", ",".join(SETS),
                                    "--trials", "2", "--cap", "100"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        journal, end = self.folder / "out/runs.jsonl", time.monotonic() + TIMEOUT
        while not journal.exists() or journal.read_bytes().count(b"\n") < lines:
            self.assertIsNone(process.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)
        return process

    def test_going_on_after_a_kill(self):
        self.assertEqual(self.reproduce(output="whole")[0], 0)
        process = self.start(5)
        process.kill()
        process.wait()
        journal = self.folder / "out/runs.jsonl"
        whole = journal.read_bytes()
        finished = whole.count(b"\n") - 1
        self.assertLess(finished, RUNS)
        for name in OUTPUTS:
            self.assertFalse((self.folder / "out" / name).exists(), name)
        journal.write_bytes(whole[:whole.rindex(b"\n") + 1] + b'{"algorithm":"apgd","cpu_s')  # a line that was cut short
        code, _, err = self.reproduce()
        self.assertEqual(code, 0, err)
        self.assertIn(f"{finished} runs are finished already", err)
        self.assertEqual(self.numbers("out"), self.numbers("whole"))
        before = journal.read_bytes()
        code, _, err = self.reproduce()
        self.assertEqual((code, journal.read_bytes()), (0, before))
        self.assertIn(f"{RUNS} runs are finished already", err)

    def test_interrupt(self):
        process = self.start(3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("interrupted after", err)
        self.assertFalse((self.folder / "out/index.html").exists())
        self.assertEqual(self.reproduce()[0], 0)
        self.assertEqual(len(self.table("runs.csv")), RUNS)

    def test_another_run_in_the_same_folder(self):
        process = self.start(3)
        process.send_signal(signal.SIGSTOP)
        code, _, err = self.reproduce()
        process.send_signal(signal.SIGCONT)
        self.assertEqual(code, 2)
        self.assertIn("in use by another run", err)

    def test_other_settings_are_not_mixed_in(self):
        self.assertEqual(self.reproduce(sets="duke")[0], 0)
        before = {name: self.read(f"out/{name}") for name in OUTPUTS + ["runs.jsonl"]}
        common = ["--data", "data", "--output", "out", "--sets", "duke", "--trials", "2"]
        self.assert_mistake("begun with another cap", *common, "--cap", "99")
        self.assert_mistake("begun with another data", "--data", "data", "--output", "out", "--sets", "slice-part", "--trials", "2",
                            "--cap", "100")
        self.write("data/duke/data.svm", self.read("data/duke/data.svm") + "1 1:1\n")
        self.assert_mistake("begun with another data", *common, "--cap", "100")
        self.assertEqual({name: self.read(f"out/{name}") for name in before}, before)
        code, _, err = self.reproduce("--fresh", sets="duke")
        self.assertEqual((code, "finished already" in err), (0, False))
        self.assertEqual(self.table("runs.csv")[0]["n"], "21")

    def test_other_commits_are_not_mixed_in_but_can_be_drawn(self):
        self.assertEqual(self.reproduce(sets="duke")[0], 0)
        lines = self.read("out/runs.jsonl").splitlines(keepends=True)
        header = json.loads(lines[0])
        header["commit"] = "some-other-commit"
        self.write("out/runs.jsonl", json.dumps(header) + "\n" + "".join(lines[1:]))
        code, _, err = self.reproduce(sets="duke")
        self.assertEqual(code, 2)
        self.assertIn("begun with another commit", err)
        figure, runs = self.read("out/figure1.svg"), self.read("out/runs.csv")
        (self.folder / "out/figure1.svg").unlink()
        self.succeed("reproduce", "--output", "out", "--redraw")
        self.assertEqual((self.read("out/figure1.svg"), self.read("out/runs.csv")), (figure, runs))
        self.assertIn("some-other-commit", self.read("out/index.html"))

    def test_missing_sets(self):
        code, _, err = self.reproduce(sets="duke,colon-cancer")
        self.assertEqual(code, 0)
        self.assertIn("Colon Cancer: skipped, no colon-cancer/data.svm in the data folder; scripts/get-data.sh", err)
        self.assertEqual({run["set"] for run in self.table("runs.csv")}, {"duke"})
        self.assertIn("Colon Cancer: skipped", self.read("out/index.html"))
        (self.folder / "data/slice-part/data.csv").unlink()
        self.assertEqual(self.reproduce(sets="duke,slice-part", output="other")[2].splitlines()[0],
                         "Slice Localization (first 682 rows): skipped, no slice-part/data.csv in the data folder")
        (self.folder / "data/ujiindoorloc/validationData.csv").unlink()
        self.assert_mistake("no data set of the paper", "--data", "data", "--output", "new", "--sets", "ujiindoorloc")
        (self.folder / "empty").mkdir()
        self.assert_mistake("no data set of the paper", "--data", "empty", "--output", "new")
        self.assertFalse((self.folder / "new").exists())

    def test_the_full_slice_set_where_it_is_there(self):
        (self.folder / "data/slice").mkdir()
        x, y = made_up(30, 6, 3)
        rows = [[k % 4] + row + [target] for k, (row, target) in enumerate(zip(x, y))]
        header = ["patientId"] + [f"value{j}" for j in range(6)] + ["reference"]
        self.write("data/slice/slice_localization_data.csv", csv_text(rows, header))
        self.assertEqual(self.reproduce(sets="slice,slice-part")[0], 0)
        self.assertEqual({(run["set"], run["p"]) for run in self.table("runs.csv")}, {("slice", "6")})

    def test_stand_ins_are_labelled(self):
        code, _, err = self.run_tyto("reproduce", "--data", "data", "--output", "out", "--quick", "--sets", "cardiac-left", "--cap",
                                     "0.2", "--trials", "1")
        self.assertEqual(code, 0, err)
        self.assertEqual({(run["stand_in"], run["p"]) for run in self.table("runs.csv")}, {("yes", "320")})
        for name in ("figure1.svg", "figure2.svg", "index.html"):
            text = self.read(f"out/{name}")
            self.assertGreater(text.count("Cardiac Left"), 0)
            self.assertEqual(text.count("Cardiac Left"), text.count("Cardiac Left (simulated stand-in)"), name)

    def test_what_the_cap_stops_is_shown_as_not_reached(self):
        code, out, _ = self.run_tyto("reproduce", "--data", "data", "--output", "out", "--sets", "duke", "--cap", "1e-9")
        self.assertEqual(code, 0)
        runs = [run for run in self.table("runs.csv") if run["experiment"] == "figure1"]
        self.assertEqual({run["status"] for run in runs}, {"cap"})
        self.assertEqual(len(runs), 3 * len(FIGURE1))  # not repeated
        self.assertIn("5 runs did not reach 1e-9", out)
        page = self.read("out/index.html")
        self.assertIn("not in", page)
        self.assertIn("not solved at the cap", page)
        self.assertIn("missed", self.read("out/figure1.svg"))

    def test_the_grid_search(self):
        """Every setting once, the best with five seeds, and the choice in all runs of the published SPGD."""
        code, _, err = self.reproduce("--tune", sets="slice-part")
        self.assertEqual(code, 0, err)
        tried = self.table("tuning.csv")
        settings = {row["setting"] for row in tried}
        self.assertEqual(len(settings), 42)
        reached = {}
        for row in tried:
            reached.setdefault(row["setting"], []).append((row["status"] == "converged", float(row["cpu_seconds"])))
        final = {name: max(time for _, time in runs) for name, runs in reached.items() if len(runs) == 5 and all(ok for ok, _ in runs)}
        self.assertTrue(final)
        self.assertTrue(any(row["status"] != "converged" for row in tried), "a step size of 1e-3 is too long here")
        page = self.read("out/paper.md")
        self.assertIn(min(final, key=final.get), page)
        before = self.read("out/runs.jsonl")
        self.assertEqual(self.reproduce("--tune", sets="slice-part")[0], 0)
        self.assertEqual(self.read("out/runs.jsonl"), before)
        self.assertEqual(self.reproduce(sets="slice-part")[0], 2)

    def test_the_page_in_markdown(self):
        self.assertEqual(self.reproduce()[0], 0)
        page = self.read("out/paper.md")
        for heading in ("The claims", "Figure 1: running time", "The grid search for SPGD", "Figure 2: screening rate",
                        "Table 3: prediction error", "Table 1: safe screening rules", "The paper, item by item", "Errata"):
            self.assertIn(f"\n## {heading}\n", page)
        for line in page.splitlines():
            self.assertTrue(len(line) <= 100 or line.startswith(("|", "![")), line)
            if line.startswith("|"):
                self.assertTrue(line.endswith("|"), line)

    def test_what_the_page_names_is_there(self):
        """Tests, files and formulas that it points to."""
        self.assertEqual(self.reproduce(sets="duke")[0], 0)
        page = self.read("out/paper.md")
        root = Path(__file__).resolve().parents[2]
        files = [file for folder in ("src", "tests", "bench") for file in (root / folder).rglob("*") if file.is_file()]
        tests = {".".join(found) for file in files if file.suffix == ".cc" and "tests" in file.parts
                 for found in re.findall(r"TEST(?:_[PF])?\((\w+),\s*(\w+)\)", file.read_text())}
        named = re.findall(r"`([A-Z]\w+\.(?:[A-Z]\w*\*?|\*))`", page)
        self.assertGreater(len(named), 20)
        for name in named:
            self.assertTrue(fnmatch.filter(tests, name), name)
        named = re.findall(r"`((?:\w+/)*\w+(?:_test|\.cc|\.h|\.py))`", page)
        self.assertGreater(len(named), 8)
        for name in named:
            found = [file for file in files if str(file.with_suffix("") if name.endswith("_test") else file).endswith("/" + name)]
            self.assertTrue(found, name)
        for name in re.findall(r"`((?:bench|scripts)/[\w./]+)", page):
            self.assertTrue((root / name).exists(), name)
        formulas = (root / "MATH.md").read_text()
        for number in re.findall(r"\((\d\.\d+)\)", page):
            self.assertIn(f"    ({number})  ", formulas)

    def test_mistakes(self):
        good = ["--data", "data", "--output", "new"]
        self.assert_mistake("--output", "--data", "data")
        self.assert_mistake("data: want a folder", "--output", "new")
        self.assert_mistake("nowhere: no such folder", "--data", "nowhere", "--output", "new")
        self.assert_mistake("got 'iris'", *good, "--sets", "duke,iris")
        for cap in ("0", "-1", "nan", "inf"):
            self.assert_mistake("cap: want", *good, "--cap", cap)
        self.assert_mistake("trials: want", *good, "--trials", "0")
        self.assert_mistake("--trials", *good, "--trials", "1.5")
        self.assert_mistake("new/runs.jsonl: cannot read", "--output", "new", "--redraw")
        self.write("data/slice-part/data.csv", "reference,x1\n1,2\n1,x\n")
        self.assert_mistake("data.csv:3:", "--data", "data", "--output", "bad", "--sets", "duke,slice-part")
        self.assertFalse((self.folder / "new").exists() or (self.folder / "bad").exists())
        self.write("file", "")
        self.assert_mistake("file", "--data", "data", "--output", "file", "--sets", "duke")


if __name__ == "__main__":
    unittest.main()
