#!/usr/bin/env python3
"""The version is written in one place, CMakeLists.txt; wherever else it stands, it is the same."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def found(file, pattern):
    text = (ROOT / file).read_text()
    match = re.search(pattern, text, re.MULTILINE)
    return match.group(1) if match else None


class Version(unittest.TestCase):
    def test_citation(self):
        version = found("CMakeLists.txt", r"^project\(tyto VERSION (\d+\.\d+\.\d+) ")
        self.assertIsNotNone(version)
        self.assertEqual(found("CITATION.cff", r"^version: (\S+)$"), version)

    def test_python_takes_it_from_there(self):
        self.assertEqual(found("pyproject.toml", r'^dynamic = (\["version"\])'), '["version"]')
        self.assertIsNone(found("pyproject.toml", r'^version = (".*")'))

    def test_changelog(self):
        version = found("CMakeLists.txt", r"^project\(tyto VERSION (\S+) ")
        released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
        self.assertEqual(released[:1] or [version], [version])
        self.assertIsNotNone(found("CHANGELOG.md", r"^## (\[Unreleased\])$"))

    def test_r(self):
        if (ROOT / "r" / "DESCRIPTION").exists():
            self.assertEqual(found("r/DESCRIPTION", r"^Version: (\S+)$"), found("CMakeLists.txt", r"^project\(tyto VERSION (\S+) "))


if __name__ == "__main__":
    unittest.main()
