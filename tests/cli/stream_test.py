"""Rows without end: files in blocks, moments, and merging them, by what they are the same as."""
import json
import os
import random
import resource
import struct
import subprocess
import unittest

from support import PROGRAM, TIMEOUT, TytoTest, csv_text, libsvm_text

ROWS, COLUMNS = 9000, 6
NAMES = [f"c{j}" for j in range(COLUMNS)]
TIGHT = ["--tolerance", "1e-10", "--weights", "bh"]


def problem(rows=ROWS, columns=COLUMNS, seed=1):
    """Numbers that CSV keeps exactly; the columns have far means."""
    rng = random.Random(seed)
    features, response = [], []
    for _ in range(rows):
        base = rng.gauss(0, 1)
        row = [round(100 * j + (0.8 * base if j % 2 else 0) + rng.gauss(0, 1), 6) for j in range(columns)]
        features.append(row)
        response.append(round(row[0] - 0.5 * row[3] + rng.gauss(0, 1), 6))
    return features, response


FEATURES, RESPONSE = problem()


class StreamTest(TytoTest):
    def setUp(self):
        super().setUp()
        self.data = self.write("d.csv", self.table(FEATURES, RESPONSE))

    def table(self, features, response):
        return csv_text([[*row, y] for row, y in zip(features, response)], [*NAMES, "y"])

    def run_json(self, command, *args, code=0):
        found, out, err = self.run_tyto(command, *args, "--json", "-", "--model", "model.json", "--quiet")
        self.assertEqual(found, code, f"{args}: {err}")
        return json.loads(out)

    def refused(self, *args):
        """The one line of a run that ends with 2 and writes nothing."""
        before = sorted(os.listdir(self.folder))
        code, out, err = self.run_tyto(*args)
        self.assertEqual((code, out), (2, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        return err.removeprefix("tyto: ").strip()

    def assert_same_path(self, one, other, tolerance=1e-9):
        self.assertEqual(len(one["fits"]), len(other["fits"]))
        self.assertEqual((one["n"], one["p"]), (other["n"], other["p"]))
        for a, b in zip(one["fits"], other["fits"]):
            self.assertEqual(a["status"], "converged")
            self.assertAlmostEqual(a["alpha"], b["alpha"], delta=1e-10 * b["alpha"])
            self.assertAlmostEqual(a["primal"], b["primal"], delta=tolerance * b["primal"])
            self.assertLessEqual(a["gap"] + a["rounding"], 1e-10 * a["primal"])
            self.assertEqual(a["names"], b["names"])


class Stream(StreamTest):
    def test_a_path_is_that_in_memory_and_verifies(self):
        for args in [[], ["--ridge", "10"], ["--nonnegative"], ["--unpenalized", "c1"], ["--no-intercept"], ["--no-standardize"],
                     ["--gamma", "0.5"], ["--choose", "bic"]]:
            with self.subTest(args):
                streamed = self.run_json("path", self.data, "--steps", "20", "--memory", "1G", *TIGHT, *args)
                self.assertEqual(streamed["passes"], 2)
                self.assertEqual(self.run_tyto("verify", "model.json", self.data)[0], 0)
                self.assert_same_path(streamed, self.run_json("path", self.data, "--steps", "20", *TIGHT, *args))

    def test_every_format_has_the_same_bits(self):
        want = self.run_json("path", self.data, "--memory", "1G", "--steps", "10", *TIGHT)
        plain = [[float(v) for v in row] for row in FEATURES]
        libsvm = self.write("d.svm", libsvm_text(plain, RESPONSE))
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (ROWS, COLUMNS + 1)
        header += " " * (117 - len(header)) + "\n"
        body = b"".join(struct.pack(f"<{COLUMNS + 1}d", *row, y) for row, y in zip(FEATURES, RESPONSE))
        npy = self.write("d.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body)
        for other in [libsvm, npy]:
            got = self.run_json("path", other, "--memory", "1G", "--steps", "10", *TIGHT)
            self.assertEqual([fit["coefficients"] for fit in got["fits"]], [fit["coefficients"] for fit in want["fits"]], other)
            self.assertEqual([fit["gap"] for fit in got["fits"]], [fit["gap"] for fit in want["fits"]])
        threads = self.run_json("path", self.data, "--memory", "1G", "--steps", "10", "--threads", "3", *TIGHT)
        self.assertEqual([fit["coefficients"] for fit in threads["fits"]], [fit["coefficients"] for fit in want["fits"]])

    def test_cross_validation_and_one_fit(self):
        cv = self.run_json("cv", self.data, "--memory", "1G", "--folds", "4", "--steps", "20", *TIGHT)
        self.assertEqual(cv["passes"], 2)
        self.assertEqual(sum(score["rows"] for score in cv["scores"]), ROWS)
        self.assertEqual(self.run_tyto("verify", "model.json", self.data)[0], 0)
        fit = self.run_json("fit", self.data, "--memory", "1G", "--sigma", "estimate", *TIGHT)
        memory = self.run_json("fit", self.data, "--sigma", "estimate", *TIGHT)
        self.assertAlmostEqual(fit["sigma"], memory["sigma"], delta=1e-9)
        self.assertEqual(fit["passes"], 2)

    def test_weights_and_missing_rows(self):
        rows = [[*row, y, 1 + i % 3] for i, (row, y) in enumerate(zip(FEATURES, RESPONSE))]
        rows[77][2] = "NA"
        data = self.write("w.csv", csv_text(rows, [*NAMES, "y", "times"]))
        args = ["--observation-weights", "times", "--missing", "drop-rows", "--steps", "8", *TIGHT]
        streamed = self.run_json("path", data, "--memory", "1G", *args)
        self.assertEqual(streamed["n"], ROWS - 1)
        self.assert_same_path(streamed, self.run_json("path", data, *args))
        _, out, err = self.run_tyto("path", data, "--memory", "1G", *args)
        self.assertIn("1 of 9000 rows were left out", err)
        self.assertIn("certificates are from the data, which was read 2 times", out)

    def test_other_losses_by_gradients(self):
        rng = random.Random(3)
        middle = sorted(RESPONSE)[ROWS // 2]
        labels = [3 if rng.random() < (0.8 if y > middle else 0.3) else 1 for y in RESPONSE]
        counts = [max(0, round(y - middle + 2)) for y in RESPONSE]
        for loss, response in [("binomial", labels), ("poisson", counts)]:
            with self.subTest(loss):
                data = self.write(f"{loss}.csv", self.table(FEATURES, response))
                args = ["--loss", loss, "--steps", "15", "--ratio", "0.02", *TIGHT]
                streamed = self.run_json("path", data, "--memory", "1G", *args)
                self.assertLessEqual(streamed["passes"], 12)
                self.assertEqual(self.run_tyto("verify", "model.json", data)[0], 0)
                self.assert_same_path(streamed, self.run_json("path", data, *args), 1e-9)
                fit = self.run_json("fit", data, "--memory", "1G", "--loss", loss, "--strength", "0.1", *TIGHT)
                self.assertEqual(fit["status"], "converged")
                self.assertEqual(self.run_tyto("predict", "model.json", data, "--output", "p.csv", "--quiet")[0], 0)

    def test_wide_sparse_data_by_working_sets(self):
        rng = random.Random(4)
        lines = []
        for _ in range(3000):
            columns = sorted(rng.sample(range(1, 6001), 20) + [rng.randrange(1, 9)])
            row = {j: rng.gauss(0, 1) for j in columns}
            y = sum(v for j, v in row.items() if j < 9) + 0.3 * rng.gauss(0, 1)
            lines.append(f"{y:.6f} " + " ".join(f"{j}:{v:.6f}" for j, v in sorted(row.items())))
        data = self.write("wide.svm", "\n".join(lines) + "\n")
        args = ["--steps", "20", "--ratio", "0.3", *TIGHT]
        streamed = self.run_json("path", data, "--memory", "1G", *args)
        self.assertLessEqual(streamed["passes"], 12)
        self.assertEqual(self.run_tyto("verify", "model.json", data)[0], 0)
        self.assert_same_path(streamed, self.run_json("path", data, *args), 1e-9)

    def test_mistakes_are_one_line(self):
        npy = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }".ljust(117) + "\n"
        self.write("f.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(npy)) + npy.encode() + struct.pack("<4d", 1, 2, 3, 4))
        self.write("bad.csv", "a,y\n1,2\n2,x\n")
        self.write("times.txt", "1\n" * ROWS)
        rows = {
            ("--memory", "much"): "memory: want a number of bytes such as 512M or 1G, got 'much'",
            ("--memory", "1M"): "memory: want at least ",
            ("--memory", "1G", "--loss", "huber"): "loss: want gaussian, binomial, poisson where rows are read in passes, got huber",
            ("--memory", "1G", "--loss", "poisson"): "response: row 0: want a count >= 0, got -",
            ("--memory", "1G", "--report", "r.html"): "report: want none where rows are summed, got a file",
            ("--memory", "1G", "--observation-weights", "times.txt"):
                "observation-weights: want a column of the data where rows are streamed, got 'times.txt'",
        }
        for args, message in rows.items():
            self.assertTrue(self.refused("path", self.data, *args).startswith(message), self.refused("path", self.data, *args))
        self.assertIn("f.npy: expected C order", self.refused("moments", "f.npy", "--output", "f.moments"))
        self.assertIn("bad.csv:3: column 'y': expected a number, got 'x'", self.refused("path", "bad.csv", "--memory", "1G"))
        self.assertIn("error: want mse or r2", self.refused("cv", self.data, "--memory", "1G", "--error", "mae"))

    def test_memory_does_not_grow_with_the_rows(self):
        def peak(name):
            before = subprocess.run([PROGRAM, "path", name, "--memory", "200M", "--steps", "5", "--quiet", "--threads", "1"], cwd=self.folder, timeout=TIMEOUT,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            return before.returncode
        limit = 700 << 20
        features, response = FEATURES * 30, RESPONSE * 30
        self.write("long.csv", self.table(features, response))
        if os.environ.get("TYTO_RELEASED", PROGRAM) != PROGRAM:
            self.skipTest("sanitizers need more memory")
        self.assertEqual(peak("long.csv"), 0)


class Moments(StreamTest):
    def moments(self, name, features, response, *args):
        self.write(f"{name}.csv", self.table(features, response))
        self.succeed("moments", f"{name}.csv", "--output", f"{name}.moments", *args)
        return f"{name}.moments"

    def test_moments_of_parts_merge_to_those_of_all(self):
        parts = [self.moments(f"part{k}", FEATURES[k * 3000:(k + 1) * 3000], RESPONSE[k * 3000:(k + 1) * 3000]) for k in range(3)]
        out = self.succeed("merge", *parts, "--output", "all.moments")
        self.assertIn("9000 rows, 6 features in all.moments", out)
        got = self.run_json("path", "all.moments", "--steps", "15", *TIGHT)
        self.assertTrue(all(fit["certificate_of"] == "moments" for fit in got["fits"]))
        self.assert_same_path(got, self.run_json("path", self.data, "--steps", "15", *TIGHT))
        self.run_json("path", "all.moments", "--steps", "15", *TIGHT)
        self.assertEqual(self.run_tyto("verify", "model.json", self.data)[0], 0)
        self.assertIn("certificates are of the moments: the data itself was not read", self.succeed("fit", "all.moments"))
        self.succeed("merge", "all.moments", parts[0], "--output", "all.moments")
        self.assertEqual(self.run_json("fit", "all.moments")["n"], 12000)

    def test_folds_are_kept(self):
        file = self.moments("folded", FEATURES, RESPONSE, "--folds", "4", "--seed", "1")
        streamed = self.run_json("cv", self.data, "--folds", "4", "--memory", "1G", "--steps", "12", *TIGHT)
        got = self.run_json("cv", file, "--steps", "12", *TIGHT)
        self.assertEqual([fit["coefficients"] for fit in got["fits"]], [fit["coefficients"] for fit in streamed["fits"]])
        self.assertIn("folds: want moments by fold", self.refused("cv", self.moments("plain", FEATURES[:50], RESPONSE[:50])))

    def test_damage_and_mixtures_are_refused(self):
        one = self.moments("one", FEATURES[:100], RESPONSE[:100])
        bytes_ = bytearray((self.folder / one).read_bytes())
        bytes_[60] ^= 1
        self.write("bad.moments", bytes(bytes_))
        self.assertIn("bad.moments: expected the checksum of its bytes, got another", self.refused("path", "bad.moments"))
        self.write("cut.moments", bytes(bytes_[:40]))
        self.assertIn("cut.moments: expected the checksum", self.refused("merge", one, "cut.moments", "--output", "m.moments"))
        self.write("text.moments", "1,2\n")
        self.assertIn("text.moments: expected Tyto's moments of this version, got something else", self.refused("fit", "text.moments"))
        self.write("other.csv", "a,b,y\n1,2,3\n2,3,5\n3,1,1\n")
        self.succeed("moments", "other.csv", "--output", "other.moments", "--quiet")
        self.assertIn("expected 6 features as in one.moments, got 2", self.refused("merge", one, "other.moments", "--output", "m.moments"))
        self.assertIn("output: want a name that ends in .moments", self.refused("moments", self.data, "--output", "m.txt"))


if __name__ == "__main__":
    unittest.main()
