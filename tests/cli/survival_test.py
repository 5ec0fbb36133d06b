#!/usr/bin/env python3
"""Times to an event (--loss cox), through the program: every command, events as people have them, against plain code in Python."""
import json
import math
import random
import unittest

from support import ModelTest, csv_text, libsvm_text

NAMES = [f"x{j}" for j in range(6)]
COX = ["--loss", "cox", "--target", "time", "--event", "died"]
TIGHT = ["--tolerance", "1e-12", "--quiet"]


def table(seed=0, n=80):
    """Features, times of which some are equal, events."""
    source = random.Random(seed)
    rows = [[source.gauss(0, 1) for _ in NAMES] for _ in range(n)]
    times, events = [], []
    for row in rows:
        until = source.expovariate(math.exp(row[0] - 0.7 * row[1]))
        seen = source.expovariate(0.5)
        times.append(math.ceil(20 * min(until, seen)))
        events.append(int(until <= seen))
    return rows, times, events


def partial_likelihood(times, events, etas, weights=None):
    """Breslow's, negative, event by event; less what no model could avoid."""
    weights = weights or [1] * len(times)
    total = 0
    for i, (time, event) in enumerate(zip(times, events)):
        if not event or not weights[i]:
            continue
        here = sum(v * math.exp(eta) for t, eta, v in zip(times, etas, weights) if t >= time)
        tied = sum(v * d for t, d, v in zip(times, events, weights) if t == time)
        total += weights[i] * (math.log(here / tied) - etas[i])
    return total


def c_index(times, events, etas):
    pairs = right = 0
    for i, time in enumerate(times):
        for k, other in enumerate(times):
            if events[i] and (other > time or (other == time and not events[k])):
                pairs += 1
                right += (etas[i] > etas[k]) + 0.5 * (etas[i] == etas[k])
    return right / pairs


def unpenalised(rows, times, events, steps=30):
    """Newton's method on the partial likelihood of two features, with sums over all pairs."""
    b = [0.0, 0.0]
    for _ in range(steps):
        slope, h = [0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]]
        sizes = [math.exp(b[0] * row[0] + b[1] * row[1]) for row in rows]
        for i, time in enumerate(times):
            if not events[i]:
                continue
            risk = [k for k, t in enumerate(times) if t >= time]
            total = sum(sizes[k] for k in risk)
            mean = [sum(sizes[k] * rows[k][j] for k in risk) / total for j in (0, 1)]
            for j in (0, 1):
                slope[j] += rows[i][j] - mean[j]
                for m in (0, 1):
                    h[j][m] += sum(sizes[k] * rows[k][j] * rows[k][m] for k in risk) / total - mean[j] * mean[m]
        det = h[0][0] * h[1][1] - h[0][1] * h[1][0]
        b[0] += (h[1][1] * slope[0] - h[0][1] * slope[1]) / det
        b[1] += (h[0][0] * slope[1] - h[1][0] * slope[0]) / det
    return b


class SurvivalTest(ModelTest):
    def data(self, name="d.csv", words=("0", "1"), seed=0, n=80, scale=1.0, extra=None):
        rows, times, events = table(seed, n)
        extra = extra or {}
        lines = [row + [repr(scale * time), words[event], *(column[i] for column in extra.values())]
                 for i, (row, time, event) in enumerate(zip(rows, times, events))]
        return self.write(name, csv_text(lines, NAMES + ["time", "died", *extra]))

    def gap(self, data, *more):
        """The relative gap that `verify` finds in m.json, which must hold."""
        self.succeed("verify", "m.json", data, *more, "--json", "v.json", "--quiet")
        return json.loads(self.read("v.json"))["relative_gap"]

    def predicted(self, data, *more):
        return [float(line) for line in self.succeed("predict", "m.json", data, "--quiet", *more).splitlines()[1:]]


class Commands(SurvivalTest):
    def test_every_command(self):
        data = self.data()
        rows, times, events = table()
        for command in (["fit", "--strength", "0.1"], ["path", "--steps", "8", "--choose", "bic"], ["cv", "--folds", "4", "--steps", "8"],
                        ["cv", "--folds", "4", "--steps", "8", "--error", "c-index"]):
            said = self.succeed(*command, data, *COX, "--model", "m.json", "--json", "r.json", "--report", "r.html", "--coefficients", "c.csv",
                                "--threads", "1")
            self.assertIn("loss cox (no intercept)", said)
            self.assertIn("deviance", said)
            self.assertIn("hold", self.succeed("verify", "m.json", data))
            model = json.loads(self.read("m.json"))
            self.assertEqual((model["event_column"], model["fit_intercept"]), ("died", False))
            step = ["--step", "5"] if command[0] == "path" else []
            links = self.predicted(data, "--type", "link", *step)
            for risk, link in zip(self.predicted(data, *step), links):
                self.assertAlmostEqual(risk, math.exp(link), delta=1e-12 * risk)
            self.assertIn("intercept 0", self.succeed("coef", "m.json", *step))
            self.succeed("predict", "m.json", data, "--json", "p.json", "--output", "p.csv", *step)
            measured = json.loads(self.read("p.json"))
            self.assertAlmostEqual(measured["c_index"], c_index(times, events, links), places=12)
            self.assertAlmostEqual(measured["deviance"], 2 * partial_likelihood(times, events, links) / len(times), places=10)
            page = self.read("r.html")
            self.assertIn('"risk_groups"', page)
        self.refused(["predict", "m.json", data, "--type", "class"], "want response or link")

    def test_gaps_of_extended_precision(self):
        data = self.data()
        extra = {"v": [0.5 + (i % 3) for i in range(80)], "shift": [0.1 * (i % 7) for i in range(80)]}
        wide = self.data("wide.csv", extra=extra)
        for more in ([], ["--ridge", "2"], ["--nonnegative"], ["--unpenalized", "x2,x5"], ["--no-standardize"], ["--weights", "bh"],
                     ["--weights", "lasso", "--screening", "seed"], ["--screening", "strong"]):
            for strength in ("0.5", "0.05", "0.001"):
                with self.subTest(more=more, strength=strength):
                    self.succeed("fit", data, *COX, "--strength", strength, *more, *TIGHT, "--model", "m.json")
                    self.assertLessEqual(abs(self.gap(data)), 1e-12)
        self.succeed("fit", wide, *COX, "--observation-weights", "v", "--offset", "shift", "--unpenalized", "x1", "--ridge", "0.5",
                     "--strength", "0.1", *TIGHT, "--model", "m.json")
        self.assertLessEqual(abs(self.gap(wide)), 1e-12)

    def test_a_changed_claim_does_not_verify(self):
        data = self.data()
        model = self.model("fit", data, *COX, "--strength", "0.1")
        for change in (lambda m: m["coefficients"][0].__setitem__(1, 1.01 * m["coefficients"][0][1]),
                       lambda m: m.__setitem__("primal", 1.001 * m["primal"])):
            changed = json.loads(json.dumps(model))
            change(changed)
            self.write("changed.json", json.dumps(changed))
            self.assertEqual(self.run_tyto("verify", "changed.json", data)[0], 1)
        # Other events are other data.
        rows, times, events = table()
        self.write("other.csv", csv_text([row + [t, 1 - e] for row, t, e in zip(rows, times, events)], NAMES + ["time", "died"]))
        self.assertEqual(self.run_tyto("verify", "m.json", "other.csv")[0], 1)

    def test_the_objective_is_the_partial_likelihood(self):
        data = self.data()
        rows, times, events = table()
        model = self.model("fit", data, *COX, "--weights", "lasso", "--strength", "0.2", "--no-standardize", *TIGHT)
        etas = self.predicted(data, "--type", "link")
        value = partial_likelihood(times, events, etas) + model["alpha"] * sum(abs(value) for _, value in model["coefficients"])
        self.assertAlmostEqual(model["primal"], value, delta=1e-11 * value)

    def test_without_a_penalty_it_is_the_maximum_of_the_partial_likelihood(self):
        rows, times, events = table()
        self.write("two.csv", csv_text([row[:2] + [t, e] for row, t, e in zip(rows, times, events)], ["a", "b", "time", "died"]))
        model = self.model("fit", "two.csv", *COX, "--strength", "1e-6", "--relative-to", "absolute", "--tolerance", "1e-8", "--quiet")
        for (_, found), expected in zip(model["coefficients"], unpenalised(rows, times, events)):
            self.assertAlmostEqual(found, expected, delta=1e-6)
        # The same where a column is not penalised, and the penalty keeps the other out.
        self.write("one.csv", csv_text([[row[0], 0.001 * row[2], t, e] for row, t, e in zip(rows, times, events)], ["a", "c", "time", "died"]))
        model = self.model("fit", "one.csv", *COX, "--unpenalized", "a", "--strength", "1.01", *TIGHT)
        self.assertEqual(len(model["coefficients"]), 1)
        alone = self.model("fit", "one.csv", *COX, "--drop", "c", "--strength", "1e-6", "--relative-to", "absolute", "--tolerance", "1e-8", "--quiet")
        self.assertAlmostEqual(model["coefficients"][0][1], alone["coefficients"][0][1], delta=1e-6)

    def test_the_unit_of_time_does_not_matter(self):
        days = self.model("fit", self.data(), *COX, "--strength", "0.1", *TIGHT)
        years = self.model("fit", self.data("y.csv", scale=1 / 365.25), *COX, "--strength", "0.1", *TIGHT)
        self.assertEqual(days["coefficients"], years["coefficients"])

    def test_a_weight_of_two_is_a_row_twice(self):
        rows, times, events = table()
        weights = [1 + (i % 4 == 0) for i in range(80)]
        self.write("w.csv", csv_text([row + [t, e, w] for row, t, e, w in zip(rows, times, events, weights)], NAMES + ["time", "died", "w"]))
        lines = [row + [t, e] for row, t, e, w in zip(rows, times, events, weights) for _ in range(w)]
        self.write("twice.csv", csv_text(lines, NAMES + ["time", "died"]))
        weighted = self.model("fit", "w.csv", *COX, "--observation-weights", "w", "--strength", "0.1", *TIGHT)
        twice = self.model("fit", "twice.csv", *COX, "--strength", "0.1", *TIGHT)
        self.assertAlmostEqual(weighted["primal"], twice["primal"], delta=1e-11 * twice["primal"])
        for (a, x), (b, y) in zip(weighted["coefficients"], twice["coefficients"], strict=True):
            self.assertEqual(a, b)
            self.assertAlmostEqual(x, y, delta=1e-9)

    def test_resume_and_folds(self):
        data = self.data()
        args = ["cv", data, *COX, "--folds", "4", "--steps", "6", "--threads", "1"]
        self.succeed(*args, "--resume", "state.json", "--json", "a.json")
        self.succeed(*args, "--resume", "state.json", "--json", "b.json")
        a, b = (json.loads(self.read(name)) for name in ("a.json", "b.json"))
        self.assertEqual([fit["error"] for fit in a["fits"]], [fit["error"] for fit in b["fits"]])
        # Events of other rows are other data.
        rows, times, events = table()
        self.write("d.csv", csv_text([row + [t, 1 - e] for row, t, e in zip(rows, times, events)], NAMES + ["time", "died"]))
        self.assertEqual(self.run_tyto(*args, "--resume", "state.json")[0], 2)
        for measure in ("mse", "auc", "r2"):
            self.refused(["cv", data, *COX, "--error", measure], f"error: want deviance or c-index for the loss cox, got {measure}")
        self.refused(["cv", data, "--target", "time", "--error", "c-index"], "which is for the loss cox")


class Events(SurvivalTest):
    def test_words(self):
        expected = self.model("fit", self.data(), *COX, "--strength", "0.1", *TIGHT)
        for words in (("FALSE", "TRUE"), ("false", "True"), ('"0"', '"1"'), ("0.0", "1.0")):
            data = self.data("w.csv", words)
            model = self.model("fit", data, *COX, "--strength", "0.1", *TIGHT)
            self.assertEqual(model["coefficients"], expected["coefficients"])
            self.assertIn("holds", self.succeed("verify", "m.json", data))
        for words, got in ((("alive", "dead"), "'dead'"), (("1", "2"), "'2'"), (("no", "yes"), "'yes'")):
            self.refused(["fit", self.data("bad.csv", words), *COX], f"column 'died': expected an event as 0 or 1, FALSE or TRUE, got {got}")

    def test_mistakes(self):
        data = self.data()
        self.refused(["fit", data, "--loss", "cox", "--target", "time"], "event: want --event COLUMN with the loss cox")
        self.refused(["fit", data, "--target", "time", "--event", "died"], "event: want none with the loss gaussian, got 'died'")
        self.refused(["fit", data, "--loss", "cox", "--target", "time", "--event", "dead"], "event: no column 'dead'")
        self.refused(["fit", data, "--loss", "cox", "--target", "died", "--event", "died"], "want a column")
        self.refused(["fit", self.data("none.csv", ("0", "0")), *COX], "event: want at least one row with an event, got none")
        self.refused(["fit", data, *COX, "--gamma", "0"], "gamma")
        rows, times, events = table(n=12)
        one = [int(i == 3) for i in range(12)]
        self.write("one.csv", csv_text([row + [t, e] for row, t, e in zip(rows, times, one)], NAMES + ["time", "died"]))
        self.refused(["cv", "one.csv", *COX, "--folds", "3"], "folds: want an event outside each fold, got none outside fold")
        ordered = csv_text([[t, row[0], t, 1] for row, t in zip(rows, range(12))], ["a", "b", "time", "died"])
        self.write("ordered.csv", ordered)
        self.refused(["fit", "ordered.csv", *COX, "--unpenalized", "a"], "no minimum")

    def test_missing_events(self):
        rows, times, events = table()
        lines = [row + [t, "NA" if i == 5 else e] for i, (row, t, e) in enumerate(zip(rows, times, events))]
        self.write("d.csv", csv_text(lines, NAMES + ["time", "died"]))
        self.refused(["fit", "d.csv", *COX], "missing value")
        model = self.model("fit", "d.csv", *COX, "--missing", "drop-rows", "--strength", "0.1", "--quiet")
        self.assertEqual(model["n"], 79)
        self.assertIn("holds", self.succeed("verify", "m.json", "d.csv"))

    def test_new_data_may_be_without(self):
        data = self.data()
        self.succeed("fit", data, *COX, "--strength", "0.1", "--model", "m.json", "--quiet")
        everything = self.predicted(data)
        rows, times, _ = table()
        self.write("features.csv", csv_text(rows, NAMES))
        self.assertEqual(self.predicted("features.csv"), everything)
        self.write("times.csv", csv_text([row + [t] for row, t in zip(rows, times)], NAMES + ["time"]))
        self.assertEqual(self.predicted("times.csv"), everything)
        self.refused(["verify", "m.json", "times.csv"], "event: no column 'died'")

    def test_events_beside_a_sparse_matrix(self):
        rows, times, events = table()
        sparse = [[value if abs(value) > 0.7 else 0.0 for value in row] for row in rows]
        self.write("d.svm", libsvm_text(sparse, times))
        self.write("events.csv", "\n".join(map(str, events)) + "\n")
        self.write("dense.csv", csv_text([row + [t, e] for row, t, e in zip(sparse, times, events)], NAMES + ["time", "died"]))
        dense = self.model("fit", "dense.csv", *COX, "--strength", "0.1", *TIGHT)
        model = self.model("fit", "d.svm", "--loss", "cox", "--event", "events.csv", "--strength", "0.1", *TIGHT)
        self.assertEqual(model["event_file"], "events.csv")
        for (a, x), (b, y) in zip(model["coefficients"], dense["coefficients"], strict=True):
            self.assertEqual(a, b)
            self.assertAlmostEqual(x, y, delta=1e-9)
        self.refused(["verify", "m.json", "d.svm"], "event: want the file that the model was fitted with")
        self.assertLessEqual(abs(self.gap("d.svm", "--event", "events.csv")), 1e-12)
        self.assertEqual(len(self.predicted("d.svm")), 80)
        self.write("bad.csv", "\n".join(["2"] * 80) + "\n")
        self.refused(["fit", "d.svm", "--loss", "cox", "--event", "bad.csv"], "event: row 0: want 1 (event) or 0 (censored), got 2")


if __name__ == "__main__":
    unittest.main()
