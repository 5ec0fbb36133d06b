#!/usr/bin/env python3
"""The Debian packages: made by CPack, installed into a folder of their own by dpkg, used from there, and removed without a trace.

TYTO_PACKAGE_BUILD: a build folder with the program and the manual. Ends with code 77 where there is none, or no dpkg.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BUILD = os.environ.get("TYTO_PACKAGE_BUILD", "")


def run(*args, **more):
    done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{args}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="tyto-deb-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        run("cpack", "-G", "DEB", "-B", cls.folder / "made", "--config", Path(BUILD) / "CPackConfig.cmake", cwd=cls.folder)
        cls.packages = {file.name.split("_")[0]: file for file in (cls.folder / "made").glob("*.deb")}

    def install(self, root, *names):
        for part in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log"):
            (root / part).mkdir(parents=True, exist_ok=True)
        for part in ("status", "available"):
            (root / "var/lib/dpkg" / part).touch()
        run("dpkg", f"--root={root}", "--force-not-root", "--force-depends", "-i", *(self.packages[name] for name in names))

    def files(self, root):
        return {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file() and "var/" not in str(file.relative_to(root))}

    def test_names_and_dependencies(self):
        self.assertEqual(set(self.packages), {"tyto", "libtyto-dev"})
        needs = run("dpkg-deb", "-f", self.packages["tyto"], "Depends")
        for library in ("libarchive13", "libhwy", "libfmt", "libstdc++6", "libc6"):
            self.assertIn(library, needs)
        self.assertIn("libeigen3-dev", run("dpkg-deb", "-f", self.packages["libtyto-dev"], "Depends"))
        self.assertLess(self.packages["tyto"].stat().st_size, 4e6)

    def test_installed_used_and_removed(self):
        root = self.folder / "root"
        begin = time.monotonic()
        self.install(root, "tyto", "libtyto-dev")
        there = self.files(root)
        for file in ("usr/bin/tyto", "usr/share/man/man1/tyto.1", "usr/share/bash-completion/completions/tyto",
                     "usr/share/zsh/vendor-completions/_tyto", "usr/share/fish/vendor_completions.d/tyto.fish",
                     "usr/include/tyto/tyto.h", "usr/share/doc/tyto/LICENSE"):
            self.assertTrue(file in there or file + ".gz" in there, f"{file} of {sorted(there)}")
        self.assertTrue(any(file.endswith("cmake/tyto/tyto-config.cmake") for file in there), there)
        program = root / "usr/bin/tyto"
        run(program, "simulate", "--rows", 50, "--cols", 60, "--output", "d.csv", "--quiet", cwd=self.folder)
        out = run(program, "fit", "d.csv", "--target", "y", "--model", "m.json", cwd=self.folder)
        seconds = time.monotonic() - begin
        self.assertIn("converged", out)
        self.assertIn("the certificate holds", run(program, "verify", "m.json", "d.csv", cwd=self.folder))
        size = sum((root / file).stat().st_size for file in there) / 1e6
        print(f"debian: both packages installed and a first fit in {seconds:.2f} s, {size:.1f} MB; "
              f"tyto {self.packages['tyto'].stat().st_size / 1e6:.2f} MB as a package", file=sys.stderr)
        run("dpkg", f"--root={root}", "--force-not-root", "-P", "tyto", "libtyto-dev")
        self.assertEqual(self.files(root), set())


if __name__ == "__main__":
    if not BUILD or not (Path(BUILD) / "CPackConfig.cmake").exists() or not shutil.which("dpkg") or not shutil.which("cpack"):
        print("debian: skipped: no build to package, or no dpkg")
        sys.exit(77)
    unittest.main()
