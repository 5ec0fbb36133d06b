#!/usr/bin/env python3
"""The worked examples of docs/: every command is run, and prints what stands below it. Times are not compared, other numbers to
three digits, as processors round differently."""
import lzma
import os
import re
import subprocess
import unittest
from pathlib import Path

from shown_lines import same
from support import PROGRAM, TIMEOUT, TytoTest

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = Path(os.environ.get("TYTO_DATA") or "/nowhere")


def examples(text):
    """-> (command, lines below it) for each line that begins with a dollar sign."""
    found = []
    inside = False
    for line in text.splitlines():
        command = re.match(r" {4,}\$ (.*)", line)
        if command:
            found.append((command.group(1), []))
            inside = True
        elif inside and line.startswith("    "):
            found[-1][1].append(line.strip())
        elif not line.startswith("    "):
            inside = False
    return found


class Examples(TytoTest):
    def run_page(self, name):
        text = (DOCS / name).read_text()
        for file, program in re.findall(r"```python\n# (\S+)\n(.*?)```", text, re.S):
            self.write(file, program)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "tyto").symlink_to(Path(PROGRAM).resolve())
        environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        run = examples(text)
        self.assertGreater(len(run), 4)
        for command, shown in run:
            if command.startswith("scripts/get-data.sh"):
                continue
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
            printed = (done.stdout + done.stderr).splitlines()
            self.assertEqual(len(shown), len(printed), f"{command}:\n{done.stdout}{done.stderr}")
            for expected, line in zip(shown, printed):
                self.assertTrue(same(expected, line), f"{command}: in {name}:\n{expected}\nprinted:\n{line}")

    def test_counts(self):
        self.run_page("counts.md")

    def test_survival(self):
        self.run_page("survival.md")

    @unittest.skipUnless((DATA / "colon-cancer").is_dir(), "no colon-cancer in TYTO_DATA")
    def test_classification(self):
        place = self.folder / "data" / "colon-cancer"
        place.mkdir(parents=True)
        place.joinpath("data.svm").write_bytes(lzma.open(DATA / "colon-cancer" / "data.svm.xz").read())
        self.run_page("classification.md")

    def test_a_wrong_page_would_be_seen(self):
        self.assertTrue(same("best: step 3, 0.5 s, 2.0004", "best:  step 3, 0.5 s, 2.0001"))
        self.assertFalse(same("best: step 3", "best: step 4"))
        self.assertFalse(same("alpha 1.01", "alpha 1.02"))
        self.assertFalse(same("9 non-zeros", "9 clusters"))


if __name__ == "__main__":
    unittest.main()
