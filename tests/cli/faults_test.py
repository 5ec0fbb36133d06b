"""Faults and hostile input: terminals, spreadsheets, files that a model names, full disks, kills, endless data."""
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from support import PROGRAM, RELEASED, TIMEOUT, TytoTest, csv_text, mtx_text, npy_bytes

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
ROWS = [[(7 * i + 3 * j * i * i) % 11 - 5.0 + j / 7, (5 * i * i) % 13 / 3, i % 4 * 1.25, 0.0] for i in range(12)
        for j in (1,)]
for row in ROWS:
    row[3] = 2 * row[0] - row[1] + 0.1 * row[2]
NAMES = ["a", "b", "c", "y"]
DATA = csv_text(ROWS, NAMES)
FEATURES = [row[:3] for row in ROWS]
LINES = "".join(f"{row[3]!r}\n" for row in ROWS)
FIT = ["--strength", "0.01"]
HIDDEN = ["\u202e", "\u2066", "\u200b", "\ufeff", "\x85", "\u2028"]


class Faults(TytoTest):
    def refused(self, *args, stdin=None):
        """The one line of a run that has to end with 2."""
        code, out, err = self.run_tyto(*args, stdin=stdin)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), f"{args}: {out}{err}")
        return err

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def quoted_header(self, names):
        return ",".join('"' + name.replace('"', '""') + '"' for name in names) + "\n" + csv_text(ROWS)


class Terminal(Faults):
    def assert_harmless(self, text):
        for character in text:
            self.assertTrue(character == "\n" or character.isprintable(), f"{character!r} in {text!r}")

    def test_names_in_summaries(self):
        names = [ESCAPE + "a", "b\nthe certificate holds", "c" + "".join(HIDDEN), "d"]
        self.write("a.csv", self.quoted_header([*names[:3], "y" + ESCAPE]))
        for command in ("fit", "path", "cv"):
            more = FIT if command == "fit" else ["--steps", "3"]
            code, out, err = self.run_tyto(command, "a.csv", "--target", "3", *more)
            self.assertEqual(code, 0, err)
            self.assert_harmless(out + err)
            self.assertIn("\\x1b[31m", out)
            self.assertNotIn("\nthe certificate holds", out)
        self.assertIn("c\\xe2\\x80\\xae", self.run_tyto("fit", "a.csv", "--target", "3", *FIT)[1])

    def test_options_and_file_names(self):
        bad = ESCAPE + "x\ny"
        self.write("a.csv", DATA)
        rows = [[bad], ["fit", bad], ["fit", "a.csv", bad], ["fit", "a.csv", "--target", bad],
                ["fit", "a.csv", "--weights", bad], ["fit", "a.csv", "--solver", bad],
                ["fit", "a.csv", "--screening", bad], ["fit", "a.csv", "--relative-to", bad],
                ["fit", "a.csv", "--sigma", bad, "--weights", "bh"], ["fit", "a.csv", "--missing", bad],
                ["fit", "a.csv", "--format", bad], ["fit", "a.csv", "--header", bad], ["fit", "a.csv", "--drop", bad],
                ["fit", "a.csv", "--unpenalized", bad], ["fit", "a.csv", "--strength", bad],
                ["fit", "a.csv", "--model", f"no/{bad}"], ["path", "a.csv", "--choose", bad],
                ["path", "a.csv", "--steps", bad], ["cv", "a.csv", "--error", bad], ["cv", "a.csv", "--fold-file", bad],
                ["cv", "a.csv", "--resume", f"no/{bad}"], ["predict", bad, "a.csv"], ["verify", bad, "a.csv"],
                ["simulate", "--format", bad], ["simulate", "--output", bad + ".x"],
                ["reproduce", "--data", bad, "--output", "o"], ["reproduce", "--sets", bad, "--data", ".", "--output", "o"]]
        for args in rows:
            with self.subTest(args=args):
                self.assert_harmless(self.refused(*args))

    def test_words_of_a_model(self):
        self.write("a.csv", DATA)
        self.succeed("fit", "a.csv", *FIT, "--model", "m.json")
        whole = json.loads(self.read("m.json"))
        for key in ("format", "weights", "status", "target", "response", "weights_column", "weights_file", "missing",
                    "solver", "screening", "dropped", "names", "coefficients", "sigma_status", "n"):
            with self.subTest(key=key):
                value = [ESCAPE + "\nx"] if key in ("dropped", "names", "coefficients") else ESCAPE + "\nx"
                self.write("m.json", json.dumps({**whole, key: value, "sigma": 1.0}))
                for command in ("predict", "verify"):
                    code, out, err = self.run_tyto(command, "m.json", "a.csv")
                    self.assert_harmless(out + err)
                    self.assertNotIn("\nx", out + err)

    def test_progress_and_notes(self):
        self.write("a.csv", DATA)
        code, out, err = self.run_tyto("cv", "a.csv", "--max-seconds", "0", "--resume", ESCAPE)
        self.assertEqual(code, 1, err)
        self.assert_harmless(out + err)
        code, out, err = self.run_tyto("simulate", "--rows", "3", "--cols", "60", "--output", ESCAPE + ".csv")
        self.assertEqual(code, 0, err)
        self.assert_harmless(out + err)


class Spreadsheet(Faults):
    def test_names_that_are_formulas(self):
        names = ["=cmd|' /C calc'!A0", "@SUM(1;2)", "-2+3", "y"]
        self.write("a.csv", self.quoted_header(names))
        for command, more in (("fit", FIT), ("path", ["--steps", "3"]), ("cv", ["--steps", "3"])):
            self.succeed(command, "a.csv", *more, "--coefficients", "c.csv", "--model", "m.json")
            text = self.read("c.csv")
            for name in names[:3]:
                if name in json.dumps(json.loads(self.read("m.json"))):
                    self.assertIn("'" + name, text)
            for field in text.replace('"', "").replace("\n", ",").split(","):
                self.assertFalse(field[:1] in ("=", "@", "+") or field.startswith("-2+"), field)
        fit = self.succeed("fit", "a.csv", *FIT, "--coefficients", "-", "--quiet")
        self.assertIn(",\"'@SUM(1;2)\",", fit)  # quoted for the semicolon
        self.assertIn(",-", fit)  # a negative number stays one

    def test_model_keeps_the_names(self):
        self.write("a.csv", self.quoted_header(["=a", "b", "c", "y"]))
        self.succeed("fit", "a.csv", *FIT, "--model", "m.json")
        self.assertEqual(json.loads(self.read("m.json"))["names"][0], "=a")
        self.succeed("predict", "m.json", "a.csv")


class FilesOfAModel(Faults):
    def model(self, *args, **changes):
        self.succeed("fit", *args, *FIT, "--model", "m.json")
        self.write("m.json", json.dumps({**json.loads(self.read("m.json")), **changes}))

    def not_opened(self, *args):
        """Runs with a pipe called trap that nobody writes to: opening it would wait for ever."""
        os.mkfifo(self.folder / "trap") if not (self.folder / "trap").exists() else None
        done = subprocess.run([PROGRAM, *args], cwd=self.folder, capture_output=True, text=True, timeout=20)
        return done.returncode, done.stderr

    def test_weights(self):
        self.write("a.csv", DATA)
        self.write("w.txt", "1\n" * len(ROWS))
        self.model("a.csv", "--observation-weights", "w.txt")
        err = self.refused("verify", "m.json", "a.csv")
        self.assertIn("observation-weights: ", err)
        self.assertIn("--observation-weights FILE", err)
        self.succeed("verify", "m.json", "a.csv", "--observation-weights", "w.txt")
        for key in ("weights_file", "weights_column"):
            self.model("a.csv", **{key: "trap"})
            code, err = self.not_opened("verify", "m.json", "a.csv")
            self.assertEqual(code, 2, err)
            self.assertIn("observation-weights: ", err)
            self.not_opened("predict", "m.json", "a.csv")
            self.write("m.json", self.read("m.json").replace("trap", "/etc/passwd"))
            self.assertNotIn("root:", self.refused("verify", "m.json", "a.csv"))

    def test_weights_column_is_found(self):
        self.write("a.csv", csv_text([[*row, 1 + k % 3] for k, row in enumerate(ROWS)], [*NAMES, "w"]))
        self.model("a.csv", "--observation-weights", "w")
        self.succeed("verify", "m.json", "a.csv")

    def test_target(self):
        self.write("y.txt", LINES)
        for name, contents in (("a.npy", npy_bytes(FEATURES)), ("a.mtx", mtx_text(FEATURES))):
            self.write(name, contents)
            self.model(name, "--target", "y.txt")
            self.assertIn("--target FILE", self.refused("verify", "m.json", name))
            self.succeed("verify", "m.json", name, "--target", "y.txt")
            self.model(name, "--target", "y.txt", target="trap", response="trap")
            code, err = self.not_opened("verify", "m.json", name)
            self.assertEqual(code, 2, err)
            self.assertIn("--target FILE", err)
            self.assertEqual(self.not_opened("predict", "m.json", name)[0], 0)


COMMANDS = {  # what each of them can write
    "fit": (["fit", "a.csv", *FIT], ["--model", "--json", "--coefficients", "--report"]),
    "path": (["path", "a.csv", "--steps", "3"], ["--model", "--json", "--coefficients", "--report"]),
    "cv": (["cv", "a.csv", "--steps", "3"], ["--model", "--json", "--coefficients", "--report"]),
    "predict": (["predict", "good.json", "a.csv"], ["--output", "--json"]),
    "verify": (["verify", "good.json", "a.csv"], ["--json"]),
    "simulate": (["simulate", "--rows", "4", "--cols", "60"], ["--output", "--truth"]),
}


class ManyOutputs(Faults):
    def setUp(self):
        super().setUp()
        self.write("a.csv", DATA)
        self.succeed("fit", "a.csv", *FIT, "--model", "good.json")

    def outputs(self, command):
        args, options = COMMANDS[command]
        csv = [] if command != "simulate" else ["--format", "csv"]
        return [*args, *csv], options

    def test_one_failure_leaves_all_as_they_were(self):
        for command in COMMANDS:
            args, options = self.outputs(command)
            for failing in options:
                with self.subTest(command=command, failing=failing):
                    for k in range(len(options)):
                        self.write(f"old{k}", "old\n")
                    before = self.files()
                    places = [f"old{k}" if option != failing else "/dev/full" for k, option in enumerate(options)]
                    more = [word for pair in zip(options, places) for word in pair]
                    self.assertIn("/dev/full: cannot write", self.refused(*args, *more))
                    self.assertEqual(self.files(), before)

    def test_full_standard_output(self):
        rows = [([*self.outputs(command)[0], self.outputs(command)[1][0], "old"], command) for command in COMMANDS]
        for command in COMMANDS:
            args, options = self.outputs(command)
            other = ["--output", "old"] if "--output" in options else []
            rows += [([*args, *(other if option != "--output" else []), option, "-"], command) for option in options]
        rows += [(["--help"], "help"), (["--version"], "version")] + [([command, "--help"], command) for command in COMMANDS]
        rows += [(["reproduce", "--help"], "reproduce")]
        for args, command in rows:
            if command == "predict" and "-" not in args and "--help" not in args:
                continue  # its summary goes to standard error
            with self.subTest(args=args):
                self.write("old", "old\n")
                before = self.files()
                with open("/dev/full", "w") as full:
                    done = subprocess.run([PROGRAM, *args], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                          text=True, timeout=TIMEOUT)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, "tyto: standard output: cannot write: No space left on device\n"))
                self.assertEqual(self.files(), before)

    def test_closed_standard_output(self):
        """What is opened next must not take its place and get the summary."""
        done = subprocess.run(f"'{PROGRAM}' fit a.csv --model m.json >&-", shell=True, cwd=self.folder,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output: cannot write", done.stderr)
        self.assertNotIn("m.json", self.files())
        done = subprocess.run(f"'{PROGRAM}' fit a.csv --model m.json --quiet >&- 2>&- <&-", shell=True,
                              cwd=self.folder, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0)
        json.loads(self.read("m.json"))

    def test_reader_that_has_gone(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PROGRAM, "fit", "a.csv", "--model", "m.json"], cwd=self.folder, stdout=writer,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, ""))
        self.assertEqual(sorted(self.files()), ["a.csv", "good.json"])

    def test_file_that_may_not_grow(self):
        """As on a full disk: the largest of the outputs does not fit."""
        for option in ("--model", "--json", "--report"):
            self.write("old" + option, "old\n")
        before = self.files()

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        done = subprocess.run([PROGRAM, "fit", "a.csv", "--model", "old--model", "--json", "old--json", "--report",
                               "old--report"], cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT,
                              preexec_fn=limit)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("old--report: cannot write: File too large", done.stderr)
        self.assertEqual(self.files(), before)

    def temporary(self):
        return list(self.folder.glob("m.json.tyto-*.tmp"))

    def stopped_while_writing(self):
        """A run that has m.json under a temporary name and waits for somebody to read the pipe."""
        before = len(self.temporary())
        process = subprocess.Popen([PROGRAM, "fit", "a.csv", "--model", "m.json", "--json", "pipe"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL)
        end = time.monotonic() + TIMEOUT
        while len(self.temporary()) == before:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        return process

    def test_killed_in_the_middle(self):
        os.mkfifo(self.folder / "pipe")
        self.write("m.json", "old\n")
        self.write("m.json.tyto-0123.tmp", "somebody else's\n")
        killed = self.stopped_while_writing()
        living = self.stopped_while_writing()
        self.assertEqual(len(self.temporary()), 3)
        killed.kill()
        killed.wait()
        self.assertEqual(self.read("m.json"), "old\n")
        self.succeed("fit", "a.csv", "--model", "m.json")
        self.assertEqual(len(self.temporary()), 2, "one is in use, one is not ours")
        reader = os.open(self.folder / "pipe", os.O_RDONLY)
        while os.read(reader, 1 << 16):
            pass
        os.close(reader)
        self.assertEqual(living.wait(TIMEOUT), 0)
        self.assertEqual([path.name for path in self.folder.glob("m.json.tyto-*")], ["m.json.tyto-0123.tmp"])
        self.assertEqual(json.loads(self.read("m.json"))["n"], len(ROWS))


class Endless(Faults):
    def limited(self, *args, **more):
        """One line and exit code 2, within two gigabytes and a minute. The address sanitizer takes more than that for itself."""
        if not RELEASED:
            self.skipTest("want a build without sanitizers (TYTO_RELEASED)")
        done = subprocess.run([RELEASED, *args], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)), **more)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        return done.stderr

    def test_devices(self):
        self.write("a.csv", DATA)
        for device in ("/dev/zero", "/dev/urandom"):
            self.assertIn(f"{device}: expected text, .npy or compressed data", self.limited("fit", device))
            self.assertIn(f"{device}: cannot read: it is a device", self.limited("predict", device, "a.csv"))
            self.assertIn(f"{device}: cannot read: it is a device", self.limited("verify", device, "a.csv"))
            self.assertIn(f"{device}: cannot read: it is a device", self.limited("cv", "a.csv", "--resume", device))
            self.limited("fit", "a.csv", "--weights", device)
            self.limited("fit", "a.csv", "--observation-weights", device)
            self.limited("cv", "a.csv", "--fold-file", device)
        with open("/dev/zero") as zeros:
            self.limited("fit", "-", stdin=zeros)
        zeros = subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE)
        try:
            self.limited("fit", "-", stdin=zeros.stdout)
        finally:
            zeros.stdout.close()
            zeros.kill()
            zeros.wait()

    def test_a_line_without_end(self):
        bomb = subprocess.run("head -c 600000000 /dev/zero | tr '\\0' 1 | gzip -1", shell=True, capture_output=True,
                              check=True).stdout
        self.write("y", "1\n2\n")  # a response, which is opened first
        for name in ("a.csv.gz", "a.svm.gz", "a.mtx.gz"):
            self.write(name, bomb)
            more = ["--target", "y"] if "mtx" in name else []
            self.assertIn(f"{name}:1: expected lines of at most 256 MiB, got a longer one",
                          self.limited("fit", name, *more))

    def test_numbers_of_things(self):
        self.write("a.csv", DATA)
        for args, message in ((["path", "a.csv", "--steps", "1000000000000"],
                               "steps: want at most 100000 strengths, got 1000000000000"),
                              (["cv", "a.csv", "--steps", "100001"], "steps: want at most 100000 strengths, got 100001"),
                              (["cv", "a.csv", "--repeats", "1000000000000"],
                               "repeats: want at most 10000, got 1000000000000")):
            self.assertEqual(self.limited(*args), f"tyto: {message}\n")
        for args in (["cv", "a.csv", "--folds", "1000000000000"], ["simulate", "--rows", "1000000000000"],
                     ["simulate", "--cols", "1000000000000"], ["simulate", "--rows", "2000000000", "--cols", "2000000000"]):
            self.limited(*args)


class Encodings(Faults):
    def test_utf16(self):
        expected = self.same_model("a.csv", DATA)
        for name in ("a.csv", "a.txt", "plain"):
            for text in (b"\xff\xfe" + DATA.encode("utf-16-le"), b"\xfe\xff" + DATA.encode("utf-16-be"),
                         DATA.encode("utf-16-le"), DATA.encode("utf-16-be")):
                for more in ([], ["--format", "csv"]):
                    self.assertEqual(self.same_model(name, text, *more), expected)
        for text in (DATA.encode("utf-32"), b"\0\0\xfe\xff" + DATA.encode("utf-32-be")):
            self.write("a.csv", text)
            self.assertEqual(self.refused("fit", "a.csv"),
                             "tyto: a.csv: expected UTF-8 text, got UTF-32: save the file as UTF-8\n")
        self.write("a.csv", DATA)
        self.write("w.txt", "1\n2\n3\n".encode("utf-32"))
        for option in ("--weights", "--observation-weights"):
            self.assertIn("w.txt: expected UTF-8 text, got UTF-32", self.refused("fit", "a.csv", option, "w.txt"))

    def same_model(self, name, contents, *args):
        self.write(name, contents)
        self.succeed("fit", name, *args, "--model", "m.json")
        return json.loads(self.read("m.json"))["coefficients"]

    def test_byte_order_mark_and_line_ends(self):
        want = self.same_model("a.csv", DATA)
        mark = b"\xef\xbb\xbf"
        svm = "".join(f"{row[3]!r} 1:{row[0]!r} 2:{row[1]!r} 3:{row[2]!r}\n" for row in ROWS)
        self.write("y.txt", LINES)
        for text, args in ((DATA, []), (svm, []), (mtx_text(FEATURES), ["--target", "y.txt"])):
            plain = self.same_model("plain", text, *args)
            self.assertEqual([column for column, _ in plain], [column for column, _ in want])
            for contents in (mark + text.encode(), text.replace("\n", "\r"), text.replace("\n", "\r\n"),
                             text.replace("\n", "\r").rstrip(), mark + text.replace("\n", "\r").encode()):
                self.assertEqual(self.same_model("other", contents, *args), plain)

    def test_long_file_with_old_line_ends(self):
        rows = ROWS * 20000
        want = self.same_model("a.csv", csv_text(rows, NAMES))
        self.assertEqual(self.same_model("b.csv", csv_text(rows, NAMES).replace("\n", "\r")), want)

    def test_libsvm_without_indices(self):
        self.write("a.svm", "1 3.5 2.2\n2 1.5 2.5\n")
        self.assertEqual(self.refused("fit", "a.svm"),
                         "tyto: a.svm:1: expected index:value, got '3.5'; --format csv reads plain tables\n")


class State(Faults):
    def test_damage_is_seen(self):
        self.write("a.csv", DATA)
        command = ["cv", "a.csv", "--steps", "3", "--folds", "3", "--resume", "state.json"]
        self.succeed(*command)
        good = self.read("state.json")
        self.assertEqual(json.loads(good)["format"], "tyto-cv-state-3")
        position = good.index('"errors":[') + 10
        digit = "2" if good[position] != "2" else "3"
        for damaged in (good[:position] + digit + good[position + 1:], good[:-1], good[:len(good) // 2], good + " ",
                        good.replace('"fold":1', '"fold":7'), good.replace('"rows":4', '"rows":-4', 1),
                        good.replace("tyto-cv-state-3", "tyto-cv-state-2"), "[" * 200000, '{"a":' * 200000,
                        good.replace('"folds": [', '"folds": [' + "[" * 100000 + "]" * 100000 + ",")):
            self.write("state.json", damaged)
            self.assertIn("state.json: expected ", self.refused(*command))
            self.assertEqual(self.read("state.json"), damaged)
        self.write("state.json", good)
        self.succeed(*command)


if __name__ == "__main__":
    unittest.main()
