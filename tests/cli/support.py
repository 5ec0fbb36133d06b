"""What the tests of the command line share: the program, a folder for each test, writers of small files."""
import json
import os
import pty
import re
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ.get("TYTO_PROGRAM", "")
RELEASED = os.environ.get("TYTO_RELEASED", "")  # the same without sanitizers; empty where there is none
TIMEOUT = 120  # seconds, for one start of the program


class TytoTest(unittest.TestCase):
    """Each test has a folder of its own, in which the program runs."""

    maxDiff = 4000

    def setUp(self):
        if not PROGRAM:
            self.fail("TYTO_PROGRAM: want the path of the program")
        folder = tempfile.TemporaryDirectory(prefix="tyto-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_tyto(self, *args, stdin=None):
        """-> (exit code, standard output, standard error)"""
        return run(args, stdin=stdin, cwd=self.folder)

    def succeed(self, *args, stdin=None):
        """Standard output of a run that has to end with 0."""
        code, out, err = self.run_tyto(*args, stdin=stdin)
        self.assertEqual(code, 0, f"{args}: {err}")
        return out

    def progress_on_a_terminal(self, *args):
        """The lines that a run, which has to end with 0, shows there one over the other."""
        master, slave = pty.openpty()
        process = subprocess.Popen([PROGRAM, *args], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(master)
        self.assertEqual(process.wait(timeout=TIMEOUT), 0)
        return re.findall(r"\x1b\[K([^\r\x1b]+)", shown.decode())

    def write(self, name, contents):
        write_bytes(self.folder / name, contents)
        return name

    def read(self, name):
        return (self.folder / name).read_text()


class ModelTest(TytoTest):
    """Tests of what is fitted and what is refused."""

    def refused(self, args, words):
        """Exit code 2, one line that says these words, and nothing written."""
        before = sorted(path.name for path in self.folder.iterdir())
        code, out, err = self.run_tyto(*args)
        self.assertEqual((code, out), (2, ""), f"{args}: {err}")
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(words, err)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)

    def model(self, *args, name="m.json"):
        self.succeed(*args, "--model", name)
        return json.loads(self.read(name))


def run(args, stdin=None, cwd=None):
    done = subprocess.run([PROGRAM, *map(str, args)], input=stdin, cwd=cwd, capture_output=True, text=True,
                          timeout=TIMEOUT, errors="backslashreplace")
    return done.returncode, done.stdout, done.stderr


def write_bytes(path, contents):
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())


def csv_text(rows, header=None):
    lines = [",".join(header)] if header else []
    lines += [",".join(repr(value) if not isinstance(value, str) else value for value in row) for row in rows]
    return "\n".join(lines) + "\n"


def libsvm_text(features, response):
    lines = []
    for row, label in zip(features, response):
        lines.append(" ".join([repr(label)] + [f"{j + 1}:{x!r}" for j, x in enumerate(row) if x != 0]))
    return "\n".join(lines) + "\n"


def npy_bytes(rows, descr="<f8", shape=None, version=1, fortran=False):
    """A matrix as numpy.save writes it, or, with `descr`, `shape` or `version`, as it should not be."""
    rows = list(rows)
    shape = shape or f"({len(rows)}, {len(rows[0])})"
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    order = zip(*rows) if fortran else rows
    data = b"".join(struct.pack("<d", value) for line in order for value in line)
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(header)) + header.encode() + data


MTX_COORDINATE = "%%MatrixMarket matrix coordinate real general\n"


def mtx_text(rows):
    entries = [(i + 1, j + 1, x) for i, row in enumerate(rows) for j, x in enumerate(row) if x != 0]
    sizes = f"{len(rows)} {len(rows[0])} {len(entries)}\n"
    return MTX_COORDINATE + sizes + "".join(f"{i} {j} {x!r}\n" for i, j, x in entries)
