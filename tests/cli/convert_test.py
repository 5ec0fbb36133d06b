"""Files of columns: the same models from them as from what they were made of, whatever the type and the memory;
damage, full disks and ends in the middle."""
import json
import os
import random
import resource
import signal
import subprocess
import time
import unittest

from support import PROGRAM, TIMEOUT, TytoTest, csv_text

ROWS, COLUMNS = 103, 60
NAMES = [f"c{j}" for j in range(COLUMNS)]
# What a type holds and the next narrower one does not.
NUMBERS = {
    "genotype": lambda rng: rng.choice([0, 1, 2]),
    "int8": lambda rng: rng.randint(-128, 127),
    "uint8": lambda rng: rng.randint(0, 255),
    "int16": lambda rng: rng.randint(-30000, 30000),
    "float": lambda rng: rng.randint(-4000, 4000) / 8,
    "double": lambda rng: round(rng.gauss(0, 1), 7),
}
TIMES = {"seconds", "cpu_seconds"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


class ConvertTest(TytoTest):
    def table(self, number, rows=ROWS, seed=1):
        rng = random.Random(seed)
        lines = []
        for _ in range(rows):
            row = [number(rng) for _ in range(COLUMNS)]
            lines.append([*row, round(row[0] - row[5] + 0.5 * rng.gauss(0, 1), 5)])
        return csv_text(lines, [*NAMES, "y"])

    def make(self, kind="double", *options, rows=ROWS):
        self.write("d.csv", self.table(NUMBERS[kind], rows))
        return self.succeed("convert", "d.csv", "--output", "d.tyto", *options)

    def model(self, data, *options):
        self.succeed("path", data, "--steps", "8", "--weights", "bh", "--model", "m.json", "--quiet", *options)
        return without_times(json.loads(self.read("m.json")))

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_each_type_gives_the_model_of_its_text(self):
        for kind in NUMBERS:
            with self.subTest(kind):
                self.assertIn(f"{COLUMNS} columns as {kind},", self.make(kind))
                wide = self.model("d.csv", "--threads", "1")
                models = [self.model("d.tyto", *options) for options in
                          ([], ["--memory", "40M", "--threads", "1"], ["--memory", "1G", "--threads", "2"])]
                self.assertEqual(models[0], models[1])
                self.assertEqual(models[0], models[2])
                for a, b in zip(wide["fits"], models[0]["fits"]):
                    self.assertAlmostEqual(a["alpha"], b["alpha"], delta=1e-9 * a["alpha"])
                    self.assertAlmostEqual(a["primal"], b["primal"], delta=2e-6 * a["primal"])
                self.succeed("verify", "m.json", "d.tyto", "--memory", "40M")
                self.succeed("verify", "m.json", "d.csv")

    def test_rows_in_blocks_make_the_same_file(self):
        for kind in NUMBERS:
            self.make(kind)
            whole = (self.folder / "d.tyto").read_bytes()
            self.make(kind, "--memory", "20K")
            self.assertEqual((self.folder / "d.tyto").read_bytes(), whole, kind)
        self.assertEqual(self.files(), ["d.csv", "d.tyto"])

    def test_all_commands_take_it(self):
        self.make("int8")
        self.succeed("fit", "d.tyto", "--memory", "64M", "--model", "m.json", "--quiet")
        self.succeed("cv", "d.tyto", "--memory", "64M", "--folds", "3", "--steps", "5", "--model", "cv.json", "--quiet")
        a = self.succeed("predict", "m.json", "d.tyto", "--memory", "64M", "--quiet")
        self.assertEqual(a, self.succeed("predict", "m.json", "d.csv", "--quiet"))
        self.succeed("fit", "d.tyto", "--target", "c3", "--drop", "c4,c5", "--quiet", "--model", "m.json")
        self.assertEqual(json.loads(self.read("m.json"))["p"], COLUMNS - 3)

    def test_missing_genotypes_count_as_the_mean(self):
        self.write("g.csv", csv_text([[0, 1, 1.5], ["NA", 2, 2.5], [2, 0, 0.5], [1, "NA", 1]], ["a", "b", "y"]))
        code, _, err = self.run_tyto("convert", "g.csv", "--output", "g.tyto")
        self.assertEqual(code, 2, err)
        out = self.succeed("convert", "g.csv", "--output", "g.tyto", "--missing", "mean")
        self.assertIn("as genotype", out)
        self.assertIn("2 missing values", out)
        self.succeed("fit", "g.tyto", "--strength", "0.2", "--model", "a.json", "--quiet")
        self.succeed("fit", "g.csv", "--missing", "mean", "--strength", "0.2", "--model", "b.json", "--quiet")
        a, b = (json.loads(self.read(name)) for name in ("a.json", "b.json"))
        self.assertAlmostEqual(a["primal"], b["primal"], delta=1e-6)

    def test_damage_is_one_line(self):
        self.make("int16")
        whole = (self.folder / "d.tyto").read_bytes()
        rng = random.Random(3)
        cuts = [0, 1, 7, 8, 36, 43, 4095, 4096, 5000, len(whole) - 1]
        damaged = [whole[:cut] for cut in cuts] + [whole + b"x"]
        for place in [8, 12, 20, 30, 40, 4096, 4100, len(whole) - 1, *(rng.randrange(len(whole)) for _ in range(20))]:
            damaged.append(whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1:])
        for k, contents in enumerate(damaged):
            if k > len(cuts) and contents[44:4096] != whole[44:4096]:
                continue  # bytes that nothing is in
            self.write("bad.tyto", contents)
            for options in ([], ["--memory", "40M"]):
                code, out, err = self.run_tyto("fit", "bad.tyto", "--quiet", *options)
                if code == 0:  # gaps between columns mean nothing
                    self.assertEqual(contents[:4096], whole[:4096])
                    continue
                self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
                self.assertIn("bad.tyto", err)

    def test_mistakes(self):
        self.make()
        for options, wanted in [
                (["convert", "d.csv", "--output", "d.csv.gz"], "ends in .tyto"),
                (["convert", "d.csv", "--output", "d.tyto", "--memory", "much"], "memory: want"),
                (["convert", "d.csv", "--output", "d.tyto", "--target", "y", "--no-target"], "target: want none"),
                (["convert", "nothing.csv", "--output", "n.tyto"], "nothing.csv"),
                (["fit", "d.tyto", "--memory", "1M"], "memory: want at least"),
                (["fit", "d.tyto", "d.tyto"], "expected one .tyto file"),
                (["fit", "d.tyto", "--drop", "nobody"], "nobody")]:
            code, _, err = self.run_tyto(*options)
            self.assertEqual((code, err.count("\n")), (2, 1), err)
            self.assertIn(wanted, err)
        self.assertEqual(self.files(), ["d.csv", "d.tyto"])

    def test_sparse_data_is_refused(self):
        self.write("s.svm", "".join(f"{i} {1 + 40 * i}:1\n" for i in range(50)))
        code, _, err = self.run_tyto("convert", "s.svm", "--output", "s.tyto")
        self.assertEqual(code, 2)
        self.assertIn("expected dense data", err)
        self.assertEqual(self.files(), ["s.svm"])

    def test_a_full_disk_leaves_nothing(self):
        self.write("d.csv", self.table(NUMBERS["double"], 300))
        for options in ([], ["--memory", "100K"]):
            done = subprocess.run([PROGRAM, "convert", "d.csv", "--output", "d.tyto", *options], cwd=self.folder,
                                  capture_output=True, text=True, timeout=TIMEOUT,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
            self.assertEqual((done.returncode, done.stderr), (2, "tyto: d.tyto: cannot write: File too large\n"))
            self.assertEqual(self.files(), ["d.csv"])

    def rows_done(self):
        """Of the file that is being made."""
        try:
            head = (self.folder / "d.tyto.part").read_bytes()[:72]
        except OSError:
            return 0
        return int.from_bytes(head[48:56], "little") if head[:8] == b"\x89typt\r\n\x1a" else 0

    def test_a_killed_run_is_gone_on_with(self):
        self.make("int16", rows=4000)
        whole = (self.folder / "d.tyto").read_bytes()
        (self.folder / "d.tyto").unlink()
        command = ["convert", "d.csv", "--output", "d.tyto", "--memory", "60K"]
        process = subprocess.Popen([PROGRAM, *command, "--quiet"], cwd=self.folder)
        begin = time.monotonic()
        while self.rows_done() == 0 and process.poll() is None and time.monotonic() < begin + TIMEOUT:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (self.folder / "d.tyto").exists():
            self.skipTest("the run was faster than the signal")
        code, _, err = self.run_tyto("fit", "d.tyto.part", "--format", "tyto")
        self.assertEqual(code, 2)
        self.assertIn("not complete", err)
        self.assertIn("had been written by an earlier run", self.succeed(*command))
        self.assertEqual((self.folder / "d.tyto").read_bytes(), whole)
        self.assertEqual(self.files(), ["d.csv", "d.tyto"])

    def test_what_another_run_left_of_other_data_is_not_gone_on_with(self):
        self.write("d.csv", self.table(NUMBERS["int8"]))
        self.write("d.tyto.part", b"\x89typt\r\n\x1a" + bytes(64))
        self.assertNotIn("earlier run", self.succeed("convert", "d.csv", "--output", "d.tyto", "--memory", "60K"))


if __name__ == "__main__":
    unittest.main()
