"""Reports in a real browser: what is shown agrees with the JSON result, whatever the names, by mouse and by keyboard.

TYTO_PROGRAM is the program, TYTO_WRITE_REPORT makes pages that no command makes. Without a browser the test is skipped (exit
code 77); with TYTO_NEED_BROWSER it fails.
"""
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Browser, NoBrowser

PROGRAM, WRITER = os.environ.get("TYTO_PROGRAM", ""), os.environ.get("TYTO_WRITE_REPORT", "")
HOSTILE = ["</script><script>document.title='owned'</script>", "<img src=x onerror=document.title='owned'>", "it's \"quoted\" & <b>bold</b>",
           "first\nsecond", "\u05e9\u05dc\u05d5\u05dd ) rtl", "long" * 2500]


def canvas(chart):
    return f"document.querySelector('#{chart} canvas')"


class ReportTest(unittest.TestCase):
    browser = None
    folder = None
    pages = {}  # those that were written, by their arguments

    def setUp(self):
        self.browser.send("Page.bringToFront")
        self.browser.size(1400, 1000)
        self.browser.prefer("light")

    def tyto(self, *args, codes=(0,)):
        done = subprocess.run([PROGRAM, *map(str, args)], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, codes, done.stderr)

    def open_report(self, command, *args, code=0):
        """-> the JSON result; the page is open"""
        key = (command, *args)
        if key not in self.pages:
            name = f"page{len(self.pages)}"
            self.tyto(command, *args, "--report", f"{name}.html", "--json", f"{name}.json", "--quiet", codes=(code,))
            self.pages[key] = name
        self.open(f"{self.pages[key]}.html")
        return json.loads((self.folder / f"{self.pages[key]}.json").read_text())

    def open_made(self, kind):
        if not (self.folder / f"{kind}.html").exists():
            subprocess.run([WRITER, kind, self.folder / f"{kind}.html"], check=True, timeout=600)
        self.open(f"{kind}.html")

    def open(self, name):
        self.browser.open(self.folder / name)
        self.browser.settle()
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.run_js("document.documentElement.dataset.ready"), "true")
        self.addCleanup(self.check_quiet)

    def check_quiet(self):
        """Whatever was done to the page, it has not complained and has asked for nothing."""
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])

    def path_page(self):
        if not (self.folder / "d.csv").exists():
            self.tyto("simulate", "--rows", 60, "--cols", 70, "--groups", 3, "--group-size", 4, "--snr", 10, "--output", "d.csv")
        return self.open_report("path", "d.csv", "--target", "y", "--weights", "bh", "--steps", "40", "--ratio", "0.02", "--solver", "apgd")

    def run_js(self, script):
        return self.browser.run(script)

    def text(self, selector):
        return self.run_js(f"document.querySelector({selector!r}).textContent")

    def click(self, expression):
        """The middle of an element, as a user would."""
        x, y = self.run_js(f"""(() => {{ const found = {expression}; found.scrollIntoView({{block: "center"}});
            const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        self.browser.click(x, y)

    def click_id(self, name):
        self.click(f"document.getElementById({name!r})")

    def button(self, text, inside="document"):
        return f"[...{inside}.querySelectorAll('button')].find((b) => b.textContent === {text!r} || b.getAttribute('aria-label') === {text!r})"

    def rows(self):
        """The cells of the table, over all its pages."""
        found = []
        while True:
            found += self.run_js("[...document.querySelectorAll('#table tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
            if self.run_js("document.getElementById('pages').hidden || document.getElementById('next-page').disabled"):
                return found
            self.click_id("next-page")


class Content(ReportTest):
    def test_opening(self):
        result = self.path_page()
        self.assertIn("Proven at all 40 strengths: the objective is at most", self.text("#verdict-headline"))
        self.assertEqual(self.text("#title"), "Path of 40 strengths on d.csv")
        worst = max(fit["gap"] / (fit["primal"] - fit["gap"]) for fit in result["fits"])
        said = float(re.search(r"at most ([\d.]+) %", self.text("#verdict-headline")).group(1))
        self.assertGreaterEqual(said, 100 * worst)
        self.assertLessEqual(said, 1e-4)
        bounds = {0: "0 %", 1e-6: "0.0001 %", 1.23e-6: "0.00013 %", 0.5: "50 %", 1.0: "100 %", 0.12345: "13 %", 3.21e-10: "3.3 × 10⁻⁸ %",
                  1e-12: "1 × 10⁻¹⁰ %", 0.0999: "10 %", 12.34: "1300 %", 1e999: "no bound"}
        self.assertEqual([self.run_js(f"percent({str(value).replace('inf', 'Infinity')})") for value in bounds], list(bounds.values()))
        self.assertIn("60 rows", self.text("#lead"))
        self.assertTrue(self.run_js("document.getElementById('errors').hidden"))

    def test_table_agrees_with_the_result(self):
        result = self.path_page()
        self.click_id("by-feature")
        for step in (0, 15, 39):
            self.run_js(f"chooseStep({step})")
            fit = result["fits"][step]
            found = {row[0]: (int(row[1]), float(row[2]), int(row[4])) for row in self.rows()}
            self.assertEqual(sorted(found), sorted(fit["names"]))
            for name, (column, value), cluster in zip(fit["names"], fit["coefficients"], fit["cluster_of"]):
                self.assertEqual((found[name][0], found[name][2]), (column, cluster + 1))
                self.assertAlmostEqual(found[name][1] / value, 1, delta=1e-5)
        self.click_id("by-group")
        sizes = [int(row[1]) for row in self.rows()]
        self.assertEqual(sizes, [fit["cluster_of"].count(k) for k in range(fit["clusters"])])

    def test_fit(self):
        self.path_page()
        result = self.open_report("fit", "d.csv", "--target", "y", "--strength", "0.05")
        self.assertIn("Proven: the objective is at most", self.text("#verdict-headline"))
        self.assertTrue(self.run_js("document.getElementById('path').hidden"))
        self.assertEqual(self.text("#tiles dd"), str(result["nonzeros"]))

    def test_not_finished(self):
        self.path_page()
        self.open_report("fit", "d.csv", "--target", "y", "--solver", "apgd", "--max-epochs", "2", "--tolerance", "1e-12", code=1)
        self.assertIn("Not finished, stopped by the limit on epochs (--max-epochs): the objective is at most", self.text("#verdict-headline"))
        self.assertTrue(self.run_js("document.getElementById('verdict').classList.contains('open')"))
        self.open_report("path", "d.csv", "--target", "y", "--max-seconds", "0", code=1)
        self.assertIn("The path ended after 1 of 100 strengths: the time was up", self.text("#verdict-words"))

    def test_nothing_and_one_feature(self):
        (self.folder / "one.csv").write_text("x,y\n" + "".join(f"{k},{k * 2 + k % 3}\n" for k in range(9)))
        self.open_report("fit", "one.csv", "--strength", "3")
        self.assertIn("Nothing is in the model", self.text("#groups-note"))
        self.assertEqual(self.text("#count"), "0 groups")
        self.open_report("path", "one.csv", "--steps", "9")
        self.assertEqual(self.text("#count"), "1 feature")
        (self.folder / "flat.csv").write_text("x,y\n" + "".join(f"{k},1\n" for k in range(9)))
        self.open_report("path", "flat.csv")
        self.assertIn("Nothing is in the model", self.text("#groups-note"))

    def test_cross_validation(self):
        self.open_made("cv")
        data = self.run_js("JSON.parse(document.getElementById('data').textContent).errors")
        self.assertIn("Mean squared error over 5 folds. Best:", self.text("#errors-note"))
        chart = f"Chart.getChart({canvas('errors-chart')})"
        self.assertEqual(self.run_js(f"{chart}.data.datasets.length"), 8)
        self.assertEqual(self.run_js(f"{chart}.data.datasets[0].data.map((p) => p.y)"), data["mean"])
        self.assertEqual(self.run_js("document.getElementById('strength').value"), str(data["best"]))
        self.click(self.button("1-SE"))
        self.assertEqual(self.run_js("document.getElementById('strength').value"), str(data["one_se"]))
        self.click(self.button("Best"))
        self.assertEqual(self.run_js("document.getElementById('strength').value"), str(data["best"]))
        self.assertNotEqual(data["best"], data["one_se"])
        self.assertIn("the largest strength whose error is within one standard error of the best", self.text("#errors-note"))
        self.assertIn("The page opens at the best, which tyto predict, tyto coef and --coefficients take", self.text("#errors-note"))
        self.hover("errors-chart", 0, data["best"])
        self.assertIn(f"{data['mean'][data['best']]:.5g}", self.text("#errors-chart .tip"))
        self.run_js("document.querySelector('#errors-chart details').open = true")
        self.browser.wait("document.querySelectorAll('#errors-chart tbody tr').length === 30")
        self.assertIn("best", self.run_js(f"document.querySelectorAll('#errors-chart tbody tr')[{data['best']}].textContent"))

    def test_neighbourhood_of_the_best(self):
        self.open_made("cv")
        data = self.run_js("report.errors")
        best, chart = data["best"], f"Chart.getChart({canvas('errors-chart')})"
        low, high = self.run_js(f"[{chart}.scales.y.min, {chart}.scales.y.max]")
        self.assertLess(low, data["mean"][best])
        self.assertLess(high, max(data["mean"]))  # of the empty model
        self.assertLessEqual(data["mean"][best] + data["standard_error"][best], high)
        self.click(self.button("Whole range"))
        self.assertGreaterEqual(self.run_js(f"{chart}.scales.y.max"), max(data["mean"]))
        counts = self.run_js(f"{chart}.scales.count.ticks.map((tick) => tick.label)")
        self.assertEqual(counts[0], "0")
        self.assertTrue(all(a <= b for a, b in zip(map(int, counts), map(int, counts[1:]))), counts)
        self.assertIn("cross-validated", self.text("#tiles"))
        self.assertIn(self.run_js("number(report.errors.mean[state.step])"), self.text("#tiles"))

    def test_solver_is_folded_away(self):
        self.path_page()
        self.assertFalse(self.run_js("document.getElementById('solver-charts').open"))
        self.assertEqual(self.run_js(f"{canvas('gap-chart')}.checkVisibility()"), False)
        self.run_js("document.getElementById('solver-charts').open = true")
        self.browser.wait(f"{canvas('gap-chart')}.clientWidth > 200")

    def test_csv_is_that_of_the_program(self):
        self.path_page()
        self.tyto("path", "d.csv", "--target", "y", "--weights", "bh", "--steps", "40", "--ratio", "0.02", "--solver", "apgd",
                  "--model", "path.json", "--quiet")
        self.run_js("chooseStep(20)")
        self.tyto("coef", "path.json", "--step", "20", "--output", "coef.csv", "--quiet")
        ours, theirs = self.run_js("tableCsv()").splitlines(), (self.folder / "coef.csv").read_text().splitlines()
        self.assertEqual(ours[0], theirs[0])
        self.assertEqual(len(ours), len(theirs))
        for a, b in zip(ours[1:], theirs[1:]):
            a, b = a.split(","), b.split(",")
            self.assertEqual((a[0], a[1], a[3]), (b[0], b[1], b[3]))
            self.assertAlmostEqual(float(a[2]), float(b[2]), delta=1e-6 * abs(float(b[2])))
        self.assertEqual(self.run_js("csvField('=1+1')"), "'=1+1")
        self.assertEqual(self.run_js("csvField('-2.5')"), "-2.5")

    def test_colours_differ(self):
        self.path_page()
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.browser.settle()
            found = self.run_js("(colours = new Map(), [...Array(kGroupColours).keys()].map((k) => colour(`g${k + 1}`)))")
            self.assertEqual(len(set(found)), 14, found)
            distances = [sum(abs(int(a[k:k + 2], 16) - int(b[k:k + 2], 16)) for k in (1, 3, 5)) for i, a in enumerate(found) for b in found[:i]]
            self.assertGreater(min(distances), 40, scheme)

    def test_what_was_compared(self):
        self.path_page()
        result = self.open_report("cv", "d.csv", "--target", "y", "--slope", "0,1,20", "--steps", "20")
        self.assertIn(f"slope {result['best']['slope']:g} was chosen", self.text("#errors-note"))
        self.assertIn(f"Of slope 0, 1, 20, with {result['compared'][0]['errors'][0]:.4g}"[:-1], self.text("#errors-note"))
        self.assertIn(f"oscar, slope {result['best']['slope']:g}", self.text("#setting"))
        self.assertEqual(self.run_js("state.step"), result["best"]["step"])

    def test_noise_that_was_not_found(self):
        self.tyto("simulate", "--rows", 8, "--cols", 60, "--groups", 4, "--output", "short.csv")
        self.open_report("fit", "short.csv", "--target", "y", "--weights", "bh", "--q", "1", "--sigma", "estimate", code=1)
        self.assertTrue(self.run_js("document.getElementById('verdict').classList.contains('open')"))
        self.assertEqual(self.text("#verdict-mark"), "!")
        self.assertEqual(self.text("#verdict-headline"), "The level of the noise was not found: do not rely on this strength.")
        self.assertIn("The estimate of the noise did not settle", self.text("#verdict-words"))
        self.assertIn("Give --sigma a number where the noise is known", self.text("#verdict-words"))
        self.assertTrue(self.run_js("document.getElementById('warnings').hidden"))
        self.assertNotIn("alse discover", self.text("main"))

    def test_false_discoveries_only_with_the_noise(self):
        self.path_page()
        self.assertNotIn("alse discover", self.text("main"))
        self.assertIn("bh, shape q = 0.1", self.text("#setting"))
        self.open_report("fit", "d.csv", "--target", "y", "--weights", "bh", "--sigma", "20")
        self.assertIn("q = 0.1 is the false discovery rate aimed at", self.text("#setting"))

    def test_doubtful_choices(self):
        self.path_page()
        result = self.open_report("path", "d.csv", "--target", "y", "--weights", "lasso", "--choose", "aic", "--ratio", "0.001")
        self.assertEqual(len(result["warnings"]), 1)
        self.assertFalse(self.run_js("document.getElementById('warnings').hidden"))
        self.assertEqual(self.text("#warnings"), result["warnings"][0] + ".")
        self.assertIn("The page opens at the strength that AIC chooses.", self.text("#path-note"))
        self.path_page()
        self.assertTrue(self.run_js("document.getElementById('warnings').hidden"))

    def test_how_alike_groups_are(self):
        self.path_page()
        fit = self.open_report("fit", "d.csv", "--target", "y", "--weights", "linear", "--strength", "0.1")
        ties = fit["coincidental_clusters"]
        several = [found for found in fit["cluster_correlation"] if found]
        self.assertTrue(ties and len(several) > len(ties), fit["cluster_correlation"])
        self.click_id("by-group")
        rows = self.rows()
        for cluster, found in enumerate(fit["cluster_correlation"]):
            self.assertEqual(rows[cluster][5], f"{found[1]:.2f}" if found else "–")
            self.assertEqual("coincidence?" in rows[cluster][4], cluster in ties)
            if found:
                self.assertEqual(rows[cluster][4].split()[-1], f"{found[0]:.2f}")
        self.assertIn(f"{len(several)} groups of several features; in {len(ties)} of them the mean |r| is below 0.5", self.text("#groups-note"))
        self.assertIn("need not be correlated, nor have a common cause", self.text("#groups-note"))
        self.click("document.querySelector('#table th[data-key=mean] button')")
        means = [float(row[4].split()[-1]) for row in self.rows() if row[4] != "–"]
        self.assertEqual(means, sorted(means))
        self.assertEqual([row[4] for row in self.rows()][len(means):], ["–"] * (len(fit["cluster_correlation"]) - len(means)))

    def hover(self, chart, dataset, index):
        self.run_js(f"{canvas(chart)}.scrollIntoView({{block: 'center'}})")
        x, y = self.run_js(f"""(() => {{ const box = {canvas(chart)}.getBoundingClientRect();
            const point = Chart.getChart({canvas(chart)}).getDatasetMeta({dataset}).data[{index}];
            return [box.x + point.x, box.y + point.y]; }})()""")
        self.browser.move(x - 40, y)
        self.browser.move(x, y)
        self.browser.wait(f"!document.querySelector('#{chart} .tip').hidden")

    def test_hover_names_the_feature_and_its_value(self):
        fits = self.path_page()["fits"]
        self.click(self.button("Data's scale"))
        lines = self.run_js("report.lines.features.map((f) => [nameOf(f), columnOf(f)])")
        for line, step in ((0, 39), (3, 30), (len(lines) - 1, 39)):
            name, column = lines[line]
            value = dict(map(tuple, fits[step]["coefficients"])).get(column, 0)
            if value == 0:
                continue
            self.hover("path-chart", line, step)
            tip = self.text("#path-chart .tip")
            self.assertIn(name, tip)
            self.assertAlmostEqual(float(re.search(r"coefficient (-?[\d.e-]+?)strength", tip).group(1)) / value, 1, delta=1e-5)
        self.browser.move(5, 5)
        self.browser.wait("document.querySelector('#path-chart .tip').hidden")

    def test_hover_over_a_row(self):
        fit = self.path_page()["fits"][39]
        self.run_js("chooseStep(39)")
        with open(self.folder / "d.csv", newline="") as file:
            row = {name: float(text) for name, text in list(csv.DictReader(file))[7].items()}
        predicted = fit["intercept"] + sum(value * row[name] for name, (_, value) in zip(fit["names"], fit["coefficients"]))
        self.hover("predicted-chart", 0, 7)
        tip = self.text("#predicted-chart .tip")
        self.assertTrue(tip.startswith("row 7"), tip)
        for word, value in (("observed", row["y"]), ("predicted", predicted), ("residual", row["y"] - predicted)):
            self.assertAlmostEqual(float(re.search(rf"{word} (-?[\d.]+)", tip).group(1)), value, delta=1e-3 * (1 + abs(value)))

    def test_wide(self):
        self.open_made("wide")
        self.assertIn("Drawn are the 200 features", self.text("#path-note"))
        self.assertIn("1,000 largest of 62,061", self.text("#groups-note"))
        self.assertEqual(self.text("#page-text"), "Page 1 of 40")
        self.click_id("weaker")
        self.assertEqual(self.text("#count"), "1,000 features")


class Losses(ReportTest):
    """Classes and counts."""

    def made(self, name, respond):
        """A file whose response is made of that of simulated data."""
        if not (self.folder / name).exists():
            self.tyto("simulate", "--rows", 90, "--cols", 30, "--groups", 2, "--group-size", 3, "--snr", 2, "--output", "plain.csv")
            with open(self.folder / "plain.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            middle = sorted(float(row["y"]) for row in rows)[len(rows) // 2]
            for row in rows:
                row["y"] = respond(float(row["y"]) - middle)
            with open(self.folder / name, "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
        return name

    def classes_page(self, loss="binomial"):
        hostile = HOSTILE[1]
        data = self.made("classes.csv", lambda y: f"z {hostile}" if y > 0 else "benign")
        return self.open_report("path", data, "--target", "y", "--loss", loss, "--steps", "12", "--ratio", "0.05")

    def table_of_classes(self):
        return [int(self.text(f"#{name}")) for name in ("zerosBelow", "zerosAbove", "onesBelow", "onesAbove")]

    def test_classes(self):
        self.classes_page()
        self.assertEqual(self.run_js("document.title.includes('owned')"), False)
        self.assertIn("loss binomial", self.text("#lead"))
        self.run_js("chooseStep(8)")
        quality = self.run_js("report.quality")
        step = quality["steps"][8]
        ones, zeros = step["ones_above"][50], step["zeros_above"][50]
        self.assertEqual(self.table_of_classes(), [quality["zeros"] - zeros, zeros, quality["ones"] - ones, ones])
        tiles = self.text("#tiles")
        for words in ("of the deviance explained", "mean deviance", "area under the ROC curve"):
            self.assertIn(words, tiles)
        self.assertNotIn("variance", tiles)
        for chart in ("roc-chart", "calibration-chart", "residual-chart"):
            self.assertGreater(self.run_js(f"Chart.getChart({canvas(chart)}).data.datasets[0].data.length"), 0)
        self.assertIn(f"Area under the curve {step['auc']:.4g}"[:24], self.run_js(f"{canvas('roc-chart')}.getAttribute('aria-label')"))
        self.assertFalse(self.run_js("document.getElementById('predicted-chart') !== null"))

    def test_the_threshold_moves(self):
        self.classes_page()
        self.run_js("chooseStep(8)")
        quality = self.run_js("report.quality")
        corner = f"Chart.getChart({canvas('roc-chart')}).data.datasets[0].data[0]"
        before = self.run_js(corner)
        self.run_js("document.getElementById('threshold').focus()")
        for _ in range(30):
            self.browser.press("ArrowRight")
        ones, zeros = quality["steps"][8]["ones_above"][80], quality["steps"][8]["zeros_above"][80]
        self.assertEqual(self.table_of_classes(), [quality["zeros"] - zeros, zeros, quality["ones"] - ones, ones])
        self.assertIn("above 0.8", self.text("#threshold-text"))
        after = self.run_js(corner)
        self.assertNotEqual(before, after)
        self.assertAlmostEqual(after["y"], ones / quality["ones"], places=9)
        self.run_js("chooseStep(3)")
        self.assertEqual(self.table_of_classes()[3], quality["steps"][3]["ones_above"][80])

    def test_odds_ratios(self):
        result = self.classes_page()
        self.run_js("chooseStep(8)")
        self.click_id("by-feature")
        fit = result["fits"][8]
        values = dict(zip(fit["names"], (value for _, value in fit["coefficients"])))
        rows = self.rows()
        self.assertEqual(len(rows), len(values))
        for name, _, coefficient, ratio, *_ in rows:
            self.assertAlmostEqual(float(coefficient), values[name], delta=1e-5 * abs(values[name]))
            self.assertAlmostEqual(float(ratio), math.exp(values[name]), delta=1e-3 * math.exp(values[name]))

    def test_scores_of_the_squared_hinge(self):
        self.classes_page("squared-hinge")
        self.assertIn("where the score is above 0", self.text("#threshold-text"))
        self.assertFalse(self.run_js("document.getElementById('calibration-chart') !== null"))

    def test_counts(self):
        data = self.made("counts.csv", lambda y: max(0, round(2 + y / 2)))
        self.open_report("path", data, "--target", "y", "--loss", "poisson", "--steps", "12", "--ratio", "0.05")
        with open(self.folder / data, newline="") as file:
            counts = [int(row["y"]) for row in csv.DictReader(file)]
        self.assertEqual(self.run_js("report.quality.counts"), [counts.count(k) for k in range(max(counts) + 1)])
        expected = self.run_js(f"Chart.getChart({canvas('rootogram-chart')}).data.datasets[0].data.map((at) => at.y ** 2)")
        self.assertAlmostEqual(sum(expected), len(counts), delta=0.05 * len(counts))
        self.click_id("by-feature")
        self.assertIn("Rate ratio", self.text("#table thead"))
        residual = self.run_js("residual(state.step, 0)")
        y, mu = self.run_js("[observations.observed[0], observations.predicted[state.step][0]]")
        self.assertAlmostEqual(residual ** 2, 2 * ((y * math.log(y / mu) if y else 0) - y + mu), places=6)

    def test_survival(self):
        data = self.made("times.csv", lambda y: max(1, round(20 * math.exp(-y / 8))))
        with open(self.folder / data, newline="") as file:
            times = [int(row["y"]) for row in csv.DictReader(file)]
        (self.folder / "events.csv").write_text("".join(f"{int(k % 4 > 0)}\n" for k in range(len(times))))
        result = self.open_report("path", data, "--target", "y", "--loss", "cox", "--event", "events.csv", "--steps", "12", "--ratio", "0.05")
        self.run_js("chooseStep(8)")
        groups = self.run_js("report.quality.steps[8].risk_groups")
        self.assertEqual(sum(group["rows"] for group in groups), len(times))
        self.assertEqual(sum(group["events"] for group in groups), sum(k % 4 > 0 for k in range(len(times))))
        drawn = self.run_js(f"Chart.getChart({canvas('survival-chart')}).data.datasets.map((set) => set.data.map((at) => [at.x, at.y]))")
        self.assertEqual(drawn, [group["curve"] for group in groups])
        for curve in drawn:  # never rising, from 1 on
            self.assertEqual(curve[0][1], 1)
            self.assertTrue(all(a[1] >= b[1] and a[0] <= b[0] for a, b in zip(curve, curve[1:])))
        ends = [curve[-1][1] for curve in drawn]
        self.assertGreater(ends[0], ends[2])
        # Without features there is one group.
        self.run_js("chooseStep(0)")
        self.assertEqual([group["rows"] for group in self.run_js("report.quality.steps[0].risk_groups")], [len(times), 0, 0])
        self.run_js("chooseStep(8)")
        self.click_id("by-feature")
        self.assertIn("Hazard ratio", self.text("#table thead"))
        self.assertEqual(len(self.rows()), len(result["fits"][8]["coefficients"]))
        self.assertFalse(self.run_js("document.getElementById('residual-chart') !== null"))

    def test_dark_and_narrow(self):
        self.browser.prefer("dark")
        self.classes_page()
        self.browser.size(390, 900)
        self.browser.settle()
        self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), 390)


class Table(ReportTest):
    def column(self, k):
        return self.run_js(f"[...document.querySelectorAll('#table tbody tr')].map((r) => r.cells[{k}].innerText)")

    def test_sort(self):
        self.path_page()
        self.run_js("chooseStep(30)")
        self.click_id("by-feature")
        head = "document.querySelector('#table th[data-key=value] button')"
        order = "document.querySelector('#table th[data-key=value]').getAttribute('aria-sort')"
        self.assertEqual(self.run_js(order), "none")
        self.click(head)
        values = [float(row[2]) for row in self.rows()]
        self.assertGreater(len(values), 5)
        self.assertEqual((values, self.run_js(order)), (sorted(values), "ascending"))
        self.run_js(f"{head}.focus()")
        self.browser.press("Enter")
        self.assertEqual(self.run_js(order), "descending")
        self.assertTrue(self.run_js(f"document.activeElement === {head}"))
        values = [float(row[2]) for row in self.rows()]
        self.assertEqual(values, sorted(values, reverse=True))
        self.click("document.querySelector('#table th[data-key=label] button')")
        numbers = [(row[0][0], *map(int, re.findall(r"\d+", row[0]))) for row in self.rows()]
        self.assertEqual(numbers, sorted(numbers))

    def test_search(self):
        fit = self.path_page()["fits"][39]
        self.run_js("chooseStep(39)")
        self.click_id("by-feature")
        self.click_id("search")
        self.browser.type("G1_")
        want = sorted(name for name in fit["names"] if "g1_" in name)
        self.assertEqual(sorted(row[0] for row in self.rows()), want)
        self.assertEqual(self.text("#count"), f"{len(want)} of {fit['nonzeros']} features found")
        self.assertEqual(self.run_js("document.querySelector('#table mark').textContent"), "g1_")
        self.assertEqual(self.run_js("document.getElementById('count').getAttribute('aria-live')"), "polite")
        chart = f"Chart.getChart({canvas('path-chart')})"
        found = self.run_js(f"{chart}.data.datasets.map((d, k) => [nameOf(report.lines.features[k]), d.borderColor === colour('ink')])")
        self.assertEqual(sorted(name for name, bold in found if bold), sorted(name for name, _ in found if "g1_" in name))
        self.browser.type("nothing like it")
        self.assertEqual(self.column(0), [])
        self.run_js("document.getElementById('search').value = ''")
        self.browser.type(str(fit["coefficients"][0][0]))
        self.assertIn(fit["names"][0], self.column(0))


class Looks(ReportTest):
    def background(self):
        return self.run_js("getComputedStyle(document.body).backgroundColor")

    def lightness(self):
        return sum(map(int, re.findall(r"\d+", self.background())))

    def test_dark(self):
        self.path_page()
        ticks = f"Chart.getChart({canvas('path-chart')}).options.scales.x.ticks.color"
        light, light_ticks = self.lightness(), self.run_js(ticks)
        self.click_id("theme")
        self.assertGreater(light, 600)
        self.assertLess(self.lightness(), 200)
        self.assertNotEqual(self.run_js(ticks), light_ticks)
        self.assertEqual(self.run_js("document.getElementById('theme').getAttribute('aria-pressed')"), "true")
        self.click_id("theme")
        self.assertEqual((self.lightness(), self.run_js(ticks)), (light, light_ticks))

    def test_dark_by_preference(self):
        self.browser.prefer("dark")
        self.path_page()
        self.assertLess(self.lightness(), 200)
        self.browser.prefer("light")
        self.browser.wait("document.documentElement.dataset.theme === 'light'")

    def test_print_is_light(self):
        self.browser.prefer("dark")
        self.path_page()
        self.run_js("addEventListener('beforeprint', () => { window.printed = document.documentElement.dataset.theme; })")
        self.assertGreater(len(self.browser.send("Page.printToPDF")["data"]), 20000)
        self.assertEqual(self.run_js("window.printed"), "light")
        self.browser.wait("document.documentElement.dataset.theme === 'dark'")

    def test_narrow(self):
        self.browser.size(390, 800, mobile=True)
        self.path_page()
        self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), 390)
        self.open_made("cv")
        self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), 390)


class Names(ReportTest):
    def test_hostile_names_stay_text(self):
        names = ",".join('"' + name.replace('"', '""') + '"' for name in [*HOSTILE, "y"])
        lines = [[(i * (k + 3) * 7919) % 101 for k in range(len(HOSTILE))] for i in range(1, 30)]
        text = names + "\n" + "".join(",".join(map(str, [*row, sum((k + 1) * x for k, x in enumerate(row))])) + "\n" for row in lines)
        (self.folder / "hostile.csv").write_text(text)
        fit = self.open_report("path", "hostile.csv", "--target", "y", "--steps", "12")["fits"][-1]
        self.assertEqual(fit["nonzeros"], len(HOSTILE))
        self.run_js("chooseStep(11)")
        self.click_id("by-feature")
        shown = self.run_js("[...document.querySelectorAll('#table tbody .name')].map((node) => node.textContent)")
        want = [name if len(name) < 400 else name[:400] + "\u2026" for name in fit["names"]]
        self.assertEqual(sorted(shown), sorted(want))
        self.click_id("by-group")
        self.run_js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.browser.settle()
        self.assertEqual(self.run_js("document.querySelectorAll('img, b > b, #table script, section script').length"), 0)
        self.assertEqual(self.run_js("document.scripts.length"), 3)
        self.assertNotEqual(self.run_js("document.title"), "owned")
        self.browser.size(390, 800, mobile=True)
        self.browser.settle()
        self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), 390)

    def test_scripts_put_in_do_not_run(self):
        """The policy of the page, should a name ever get out of its element."""
        self.path_page()
        self.run_js("""(() => { const script = document.createElement('script'); script.textContent = "document.title = 'owned'";
                       document.body.append(script); })()""")
        self.browser.settle()
        self.assertNotEqual(self.run_js("document.title"), "owned")
        self.assertEqual(len(self.browser.complaints()), 1)
        self.browser.events.clear()


class Controls(ReportTest):
    def span(self):
        """What the path's chart shows of the strengths."""
        low, high = self.run_js(f"(({{x}}) => [x.min, x.max])(Chart.getChart({canvas('path-chart')}).scales)")
        return high - low

    def test_strength_by_keyboard_and_click(self):
        fits = self.path_page()["fits"]
        self.run_js("document.getElementById('strength').focus()")
        step = int(self.run_js("document.getElementById('strength').value"))
        self.browser.press("ArrowRight")
        self.browser.wait(f"state.step === {step + 1}")
        said = self.run_js("document.getElementById('strength').getAttribute('aria-valuetext')")
        self.assertIn(f"step {step + 1} of 0 to 39", said)
        self.assertIn(f"{fits[step + 1]['nonzeros']} feature", said)
        self.assertEqual(self.run_js("document.querySelector('#tiles dd').textContent"), str(fits[step + 1]["nonzeros"]))
        self.run_js(f"{canvas('path-chart')}.scrollIntoView({{block: 'center'}})")
        x, y = self.run_js(f"""(() => {{ const box = {canvas('path-chart')}.getBoundingClientRect();
            return [box.x + Chart.getChart({canvas('path-chart')}).scales.x.getPixelForValue(place(12)), box.y + 60]; }})()""")
        self.browser.click(x, y)
        self.browser.wait("state.step === 12")

    def test_zoom(self):
        self.path_page()
        whole = self.span()
        self.click(self.button("Zoom in"))
        self.assertAlmostEqual(self.span(), whole / 2)
        self.click(self.button("Show all"))
        self.assertAlmostEqual(self.span(), whole)
        self.run_js(f"{canvas('path-chart')}.focus()")
        self.browser.press("+")
        self.assertAlmostEqual(self.span(), whole / 2)
        self.browser.press("ArrowRight")
        self.assertAlmostEqual(self.span(), whole / 2)
        self.browser.press("Escape")
        self.assertAlmostEqual(self.span(), whole)
        left, top = self.run_js(f"(({{x, y}}) => [x, y])({canvas('path-chart')}.getBoundingClientRect())")
        step = self.run_js("state.step")
        self.browser.drag(left + 300, top + 80, left + 500, top + 250)
        self.assertLess(self.span(), whole / 3)
        self.assertEqual(self.run_js("state.step"), step)
        self.browser.mouse("mouseWheel", left + 400, top + 100, deltaX=0, deltaY=-100)
        self.browser.settle()
        self.browser.press("0")
        self.assertAlmostEqual(self.span(), whole)

    def test_keyboard_reaches_everything(self):
        self.path_page()
        reached = set()
        for _ in range(80):
            self.browser.press("Tab")
            reached.add(self.run_js("document.activeElement.id || document.activeElement.textContent || document.activeElement.tagName"))
        for name in ("theme", "print", "strength", "search", "by-group", "by-feature", "Numbers", "CANVAS", "Weight"):
            self.assertIn(name, reached)

    def test_text_alternatives(self):
        self.path_page()
        labels = self.run_js("[...document.querySelectorAll('canvas')].map((c) => c.getAttribute('aria-label'))")
        self.assertEqual(len(labels), 7)
        for label in labels:
            self.assertRegex(label, r"\d")
            self.assertNotRegex(label, "undefined|NaN")
        self.run_js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.browser.wait("[...document.querySelectorAll('figure')].every((f) => f.querySelectorAll('tbody tr').length > 1)")
        self.assertNotRegex(self.text("main"), "undefined|NaN|null|\\[object")
        nameless = "[...document.querySelectorAll('button, input, a')].filter((e) => !(e.textContent || e.ariaLabel || e.labels?.length)).length"
        self.assertEqual(self.run_js(nameless), 0)


def open_browser(folder):
    """A browser that has shown that it can read the folder (one in a snap of its own may not)."""
    browser = Browser()
    (folder / "probe.html").write_text("<title>probe</title>")
    try:
        browser.open(folder / "probe.html")
    except RuntimeError as error:
        browser.close()
        raise NoBrowser(str(error)) from error
    return browser


def main():
    if not PROGRAM or not WRITER:
        sys.exit("want TYTO_PROGRAM and TYTO_WRITE_REPORT")
    with tempfile.TemporaryDirectory(prefix="tyto-report-") as folder:
        ReportTest.folder = Path(folder)
        try:
            ReportTest.browser = open_browser(ReportTest.folder)
        except NoBrowser as why:
            print(f"skipped: {why}")
            sys.exit(1 if os.environ.get("TYTO_NEED_BROWSER") else 77)
        try:
            unittest.main()
        finally:
            ReportTest.browser.close()


if __name__ == "__main__":
    main()
