"""Installs a build into a fresh folder, builds a project against what is there with find_package(tyto), runs it.

TYTO_INSTALL_BUILD names the build; without one the test is skipped (exit code 77).
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = os.environ.get("TYTO_INSTALL_BUILD", "")
CMAKE = os.environ.get("TYTO_CMAKE", "cmake")
SOURCE = Path(__file__).resolve().parent
ROOT = SOURCE.parent.parent


class Consumer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tyto-consumer-")
        self.addCleanup(folder.cleanup)
        self.prefix, self.build = Path(folder.name) / "prefix", Path(folder.name) / "build"

    def call(self, *args):
        done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, f"{args}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_installed_package(self):
        self.call(CMAKE, "--install", BUILD, "--prefix", self.prefix)
        version = self.call(self.prefix / "bin" / "tyto", "--version").split()
        self.assertEqual(version[0], "tyto")
        self.assertRegex(version[1], r"^\d+\.\d+\.\d+$")

        self.call(CMAKE, "-S", SOURCE, "-B", self.build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                  "-DCMAKE_BUILD_TYPE=Release")
        self.assertIn(str(self.prefix), self.cached("tyto_DIR"), "another tyto was found")
        self.call(CMAKE, "--build", self.build)
        out = self.call(self.build / "consumer").split()
        self.assertEqual(out[:2], [version[1], "converged"])
        self.assertGreater(int(out[2]), 0)
        self.assertLessEqual(float(out[3]), 1e-6)

        self.check_installed_files()

    def cached(self, name):
        text = (self.build / "CMakeCache.txt").read_text()
        return re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE).group(1)

    def check_installed_files(self):
        """Every header is there, and no file points back to where it was built."""
        headers = {path.relative_to(self.prefix / "include") for path in self.prefix.rglob("*.h")}
        self.assertEqual(headers, {path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*.h")})
        for path in [*self.prefix.rglob("*.cmake"), *self.prefix.rglob("*.h")]:
            text = path.read_text()
            for origin in (str(ROOT), BUILD):
                self.assertNotIn(origin, text, path)


if __name__ == "__main__":
    if not BUILD:
        print("skipped: no build without sanitizers to install (set TYTO_RELEASE_BUILD)")
        sys.exit(77)
    unittest.main()
