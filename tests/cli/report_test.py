"""'--report': the page's data agrees with the JSON result, names stay text, and outputs behave like the others."""
import json
import re
import unittest

from commands_test import FEATURES, NAMES, RESPONSE, CommandTest

HOSTILE = ["</script><script>alert(1)</script>", "<!-- <script>", 'say "hi"', "it's & <b>bold</b>", "two\nlines", "ab\u202ecba\u05d0",
           "long " * 2000, "{{nonce}}\\"]


def page_data(page):
    """What stands in the page, which no other script element may come before."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1))


def members(report, fit):
    """{column: (standardised coefficient, group)} of one strength."""
    found = {}
    for rank, (magnitude, *places) in enumerate(fit["groups"]):
        for place in places:
            feature = place if place >= 0 else -1 - place
            found[report["features"]["columns"][feature]] = (magnitude if place >= 0 else -magnitude, rank, feature)
    return found


class ReportTest(CommandTest):
    def report(self, command, *args, code=0, data=None):
        """-> the page, its data, the JSON result"""
        found, _, err = self.run_tyto(command, data or self.data, *args, "--report", "r.html", "--json", "r.json", "--quiet")
        self.assertEqual(found, code, err)
        page = (self.folder / "r.html").read_text(encoding="utf-8")
        return page, page_data(page), json.loads(self.read("r.json"))

    def check(self, report, result, fits):
        self.assertEqual((report["n"], report["p"], report["weights"]), (result["n"], result["p"], result["weights"]))
        self.assertEqual(len(report["fits"]), len(fits))
        for mine, fit in zip(report["fits"], fits):
            for name in ("alpha", "status", "primal", "dual", "gap", "nonzeros", "clusters", "epochs"):
                self.assertEqual(mine[name], fit[name], name)
            found = members(report, mine)
            self.assertEqual(sorted(found), [column for column, _ in fit["coefficients"]])
            for (column, value), cluster in zip(fit["coefficients"], fit["cluster_of"]):
                weight, rank, feature = found[column]
                self.assertAlmostEqual(weight / report["features"]["scales"][feature] / value, 1, delta=1e-6)
                self.assertEqual(rank, cluster)
                if report["features"]["names"]:
                    self.assertEqual(report["features"]["names"][feature], NAMES[column])


class Data(ReportTest):
    def test_fit(self):
        _, report, result = self.report("fit", "--strength", "0.1")
        self.check(report, result, [result])
        self.assertEqual((report["files"], report["response"], report["steps"]), (["d.csv"], "y", 1))
        self.assertEqual(report["trace"]["active"], [point["active"] for point in result["trace"]])
        self.assertEqual(report["lines"]["features"], [])
        self.check_rows(report, result)

    def check_rows(self, report, fit, step=0):
        rows = report["observations"]
        self.assertEqual(rows["rows"], list(range(25)))
        self.assert_close(rows["observed"], RESPONSE, 1e-6)
        predicted = [fit["intercept"] + sum(value * row[column] for column, value in fit["coefficients"]) for row in FEATURES]
        self.assert_close(rows["predicted"][step], predicted, 1e-6)
        mean = sum(RESPONSE) / 25
        left = sum((y - f) ** 2 for y, f in zip(RESPONSE, predicted)) / sum((y - mean) ** 2 for y in RESPONSE)
        self.assertAlmostEqual(report["fits"][step]["explained"], 1 - left, places=6)

    def test_path(self):
        _, report, result = self.report("path", "--steps", "12", "--weights", "bh")
        self.check(report, result, result["fits"])
        for step in (0, 6, 11):
            self.check_rows(report, result["fits"][step], step)
        self.assertEqual(report["entered"], len({c for fit in result["fits"] for c, _ in fit["coefficients"]}))
        for feature, line in zip(report["lines"]["features"], report["lines"]["values"]):
            column, scale = report["features"]["columns"][feature], report["features"]["scales"][feature]
            want = [dict(map(tuple, fit["coefficients"])).get(column, 0) for fit in result["fits"]]
            self.assert_close([value / scale for value in line], want, 1e-6)

    def test_wide(self):
        """Of many features and rows, what matters is kept; the page stays small."""
        self.succeed("simulate", "--rows", "400", "--cols", "3000", "--groups", "20", "--output", "wide.csv", "--quiet")
        page, report, result = self.report("path", "--weights", "linf", "--steps", "130", "--ratio", "0.1", "--max-epochs", "3",
                                           data="wide.csv", code=1)
        self.assertLess(len(page), 3e6)
        fit, mine = result["fits"][-1], report["fits"][-1]
        self.assertEqual(fit["nonzeros"], 3000)
        listed = [place if place >= 0 else -1 - place for _, *places in mine["groups"] for place in places]
        self.assertEqual(len(listed), 100000 // 130)
        self.assertEqual(len(report["lines"]["features"]), 200)
        self.assertEqual(len(report["observations"]["rows"]), 50000 // 130)
        sizes = [fit["cluster_of"].count(k) for k in range(len(mine["groups"]))]
        self.assertEqual([len(places) for _, *places in mine["groups"][:-1]] + [mine["last_group"][0]], sizes)
        signs = [value > 0 for (_, value), k in zip(fit["coefficients"], fit["cluster_of"]) if k == len(sizes) - 1]
        self.assertEqual(mine["last_group"][1], sum(signs))
        magnitudes = [magnitude for magnitude, *_ in mine["groups"]]
        self.assertEqual(magnitudes, sorted(magnitudes, reverse=True))

    def test_not_finished(self):
        page, report, result = self.report("fit", "--max-epochs", "1", "--solver", "apgd", "--tolerance", "1e-12", code=1)
        self.assertEqual(report["fits"][0]["status"], "epoch_limit")
        self.check(report, result, [result])

    def test_nothing(self):
        _, report, _ = self.report("fit", "--strength", "2")
        self.assertEqual((report["fits"][0]["groups"], report["fits"][0]["explained"]), ([], 0))
        self.write("flat.csv", self.table(FEATURES, [2.5] * 25))
        for command in ("fit", "path"):
            _, report, _ = self.report(command, data="flat.csv")
            self.assertEqual((report["fits"][0]["nonzeros"], report["fits"][0]["explained"]), (0, 0))


class Names(ReportTest):
    def test_hostile_names(self):
        quoted = ['"' + name.replace('"', '""') + '"' for name in HOSTILE]
        self.write("h.csv", self.table(FEATURES, RESPONSE, quoted))
        page, report, result = self.report("path", "--steps", "5", data="h.csv")
        self.assertEqual(page.count("<script"), 3)
        self.assertEqual(page.count("</script"), 3)
        self.assertNotIn("alert(1)</script>", page)
        last = result["fits"][-1]
        want = {column: name if len(name) < 400 else name[:400] + "\u2026" for (column, _), name in zip(last["coefficients"], last["names"])}
        self.assertEqual(dict(zip(report["features"]["columns"], report["features"]["names"])), want)
        self.assertEqual([want[column] for column in (0, 1, 2, 3)], HOSTILE[:4])

    def test_not_utf8(self):
        text = self.table(FEATURES, RESPONSE, ["a\u00e9"] * 8).encode("latin-1")
        self.write("l.csv", text)
        _, report, result = self.report("fit", data="l.csv")
        self.assertEqual(report["features"]["names"], result["names"])

    def test_long_names_are_cut_between_characters(self):
        self.write("long.csv", self.table(FEATURES, RESPONSE, ["x" * k + "\u20ac" * 300 for k in range(8)]))
        _, report, _ = self.report("fit", data="long.csv")
        for column, name in zip(report["features"]["columns"], report["features"]["names"]):
            self.assertEqual(name, "x" * column + "\u20ac" * ((400 - column) // 3) + "\u2026")


class Outputs(ReportTest):
    def test_standard_output(self):
        code, out, err = self.run_tyto("fit", self.data, "--report", "-")
        self.assertEqual((code, out[:15]), (0, "<!DOCTYPE html>"))
        self.assertIn("relative gap", err)

    def test_one_file(self):
        """Nothing is loaded: no address but in words, and a policy that forbids it."""
        page, _, _ = self.report("fit")
        self.assertIn("default-src 'none'", page)
        self.assertNotRegex(page, r"(src|href)=[\"']?(https?:)?//")
        self.assertIn("Permission is hereby granted", page)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name not in ("d.csv", "r.html", "r.json")], [])

    def test_bad_places(self):
        for args, message in [(["--report", "no/folder.html"], "no/folder.html: cannot write: no folder no"),
                              (["--report", "."], ".: cannot write: it is a folder"),
                              (["--report", "d.csv"], "output: want another file than the input 'd.csv'"),
                              (["--report", "x", "--json", "x"], "output: want one place for each result, got 'x' twice"),
                              (["--report", "-", "--model", "-"], "output: want one place for each result, got '-' twice")]:
            for command in ("fit", "path"):
                self.assertEqual(self.run_tyto(command, self.data, *args), (2, "", f"tyto: {message}\n"))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["d.csv"])


if __name__ == "__main__":
    unittest.main()
