"""Installs a build into a fresh folder, builds a project against what is there with find_package(tyto), runs it.

TYTO_INSTALL_BUILD names the build; without one the test is skipped (exit code 77).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = os.environ.get("TYTO_INSTALL_BUILD", "")
CMAKE = os.environ.get("TYTO_CMAKE", "cmake")
SOURCE = Path(__file__).resolve().parent
ROOT = SOURCE.parent.parent


def example():
    """The program of docs/cpp.md, and what the page says that it prints."""
    page = (ROOT / "docs" / "cpp.md").read_text()
    (program,) = re.findall(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (output,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return program, output


def tutorial():
    """The pieces of the program of docs/start/tutorial.md, one below the other."""
    page = (ROOT / "docs" / "start" / "tutorial.md").read_text()
    return "".join(re.findall(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


class Consumer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tyto-consumer-")
        self.addCleanup(folder.cleanup)
        self.prefix, self.build = Path(folder.name) / "prefix", Path(folder.name) / "build"

    def call(self, *args, cwd=None):
        done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, timeout=600, cwd=cwd)
        self.assertEqual(done.returncode, 0, f"{args}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_installed_package(self):
        self.call(CMAKE, "--install", BUILD, "--prefix", self.prefix)
        version = self.call(self.prefix / "bin" / "tyto", "--version").split()
        self.assertEqual(version[0], "tyto")
        self.assertRegex(version[1], r"^\d+\.\d+\.\d+$")

        program, output = example()
        (self.build / "source").mkdir(parents=True)
        (self.build / "source" / "example.cc").write_text(program)
        (self.build / "source" / "tutorial.cc").write_text(tutorial())
        self.call(CMAKE, "-S", SOURCE, "-B", self.build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                  "-DCMAKE_BUILD_TYPE=Release", f"-DEXAMPLE={self.build / 'source' / 'example.cc'}",
                  f"-DTUTORIAL={self.build / 'source' / 'tutorial.cc'}")
        self.assertIn(str(self.prefix), self.cached("tyto_DIR"), "another tyto was found")
        self.call(CMAKE, "--build", self.build)
        self.assertEqual(self.call(self.build / "consumer").split(), [version[1], "ok"])
        self.assertEqual(self.call(self.build / "example", cwd=self.build), output)
        shutil.copy(ROOT / "docs" / "start" / "groups.csv", self.build)
        told = self.call(self.build / "tutorial", cwd=self.build)
        self.assertIn("12 features, ", told)
        self.assertIn("holds: yes\n", told)
        self.check_installed_files()

    def cached(self, name):
        text = (self.build / "CMakeCache.txt").read_text()
        return re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE).group(1)

    def check_installed_files(self):
        """The public headers are there and no others; they need Eigen alone, and no file points back to where it was built."""
        headers = {path.relative_to(self.prefix / "include") for path in self.prefix.rglob("*.h")}
        self.assertEqual(headers, {path.relative_to(ROOT / "include") for path in (ROOT / "include").rglob("*.h")})
        for path in self.prefix.rglob("*.h"):
            for name in re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(), re.MULTILINE):
                self.assertRegex(name, r"^(tyto/\w+\.h|Eigen/(Core|SparseCore)|[a-z]+)$", path)
        for path in [*self.prefix.rglob("*.cmake"), *self.prefix.rglob("*.h")]:
            text = path.read_text()
            self.assertNotRegex(text, r"-Wl,|INTERFACE_LINK_OPTIONS|INTERFACE_COMPILE_OPTIONS", path)
            for origin in (str(ROOT), BUILD):
                self.assertNotIn(origin, text, path)


if __name__ == "__main__":
    if not BUILD:
        print("skipped: no build without sanitizers to install (set TYTO_RELEASE_BUILD)")
        sys.exit(77)
    unittest.main()
