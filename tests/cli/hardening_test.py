"""What the program as it is released looks like from outside: its ELF headers, and no trace of where it was built.

TYTO_RELEASED names the program; without one, or without readelf, the test is skipped (exit code 77).
"""
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM = os.environ.get("TYTO_RELEASED", "")
SOURCES = Path(__file__).resolve().parents[2]


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options, PROGRAM], capture_output=True, text=True, check=True).stdout


class Hardening(unittest.TestCase):
    def test_tables_of_the_linker_are_read_only(self):
        self.assertIn("GNU_RELRO", readelf("--program-headers"))
        self.assertRegex(readelf("--dynamic"), r"BIND_NOW|\bNOW\b")

    def test_position_independent(self):
        self.assertRegex(readelf("--file-header"), r"Type:\s+DYN")

    def test_the_stack_is_guarded_and_not_executable(self):
        self.assertIn("__stack_chk_fail", readelf("--dyn-syms"))
        stack = [line for line in readelf("--program-headers").splitlines() if "GNU_STACK" in line]
        self.assertEqual(len(stack), 1)
        self.assertNotIn("RWE", stack[0])

    def test_copies_are_checked(self):
        self.assertRegex(readelf("--dyn-syms"), r"__\w+_chk@")

    def test_no_path_of_the_sources(self):
        self.assertNotIn(os.fsencode(SOURCES) + b"/", Path(PROGRAM).read_bytes())

    def test_no_blas(self):
        self.assertNotRegex(readelf("--dynamic"), r"(?i)blas|lapack|gfortran")


if __name__ == "__main__":
    if not PROGRAM or not shutil.which("readelf"):
        print("skipped: want a release build (TYTO_RELEASED) and readelf")
        sys.exit(77)
    unittest.main()
