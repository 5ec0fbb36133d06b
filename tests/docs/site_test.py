"""The pages of the site, as text: each is in one toctree, links lead to files and headings that exist, README is a front page."""
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))
import stage  # noqa: E402

README_LINES = 120


class Pages(unittest.TestCase):
    def test_links_and_toctrees(self):
        self.assertEqual(stage.check(), [])
        self.assertGreater(len(stage.pages()), 40)

    def test_help_has_every_command(self):
        commands = re.findall(r'^    \{"(\w+)", "', (ROOT / "cli" / "main.cc").read_text(), re.MULTILINE)
        self.assertGreater(len(commands), 5)
        page = (ROOT / "docs" / "reference" / "cli-help.md").read_text()
        self.assertEqual(re.findall(r"^```\{tyto-help\} (\w+)$", page, re.MULTILINE), commands)

    def test_reference_has_every_name(self):
        python = (ROOT / "docs" / "reference" / "python-api.md").read_text()
        names = re.search(r"__all__ = \[(.*?)\]", (ROOT / "python" / "tyto" / "__init__.py").read_text(), re.DOTALL).group(1)
        for name in re.findall(r'"(\w+)"', names):
            self.assertRegex(python, rf":: {name}\n")
        cpp = (ROOT / "docs" / "reference" / "cpp-api.md").read_text()
        headers = "".join(path.read_text() for path in (ROOT / "include" / "tyto").glob("*.h"))
        for name in re.findall(r"^(?:struct|class) (\w+)(?: :[^;]*)? \{", headers, re.MULTILINE):
            self.assertIn(f"tyto::{name}\n", cpp)

    def test_how_tos_run_something(self):
        pages = [path for path in (ROOT / "docs" / "howto").glob("*.md") if path.name != "index.md"]
        self.assertGreater(len(pages), 15)
        for path in pages:
            self.assertRegex(path.read_text(), r"(?m)^```(console|python)$", path.name)


class Readme(unittest.TestCase):
    text = (ROOT / "README.md").read_text()

    def test_front_page(self):
        self.assertLessEqual(len(self.text.splitlines()), README_LINES)
        for name in ("scripts/quickstart.sh", "scripts/test.sh", "pip install", "docs/images/", "docs/performance.md"):
            self.assertIn(name, self.text)

    def test_links(self):
        for _, address in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", self.text):
            if not re.match(r"[a-z]+:", address):
                self.assertTrue((ROOT / address.split("#")[0]).exists(), address)

    def test_figures_are_those_measured(self):
        """The table of performance.md, from which the chart is said to be made, has the figures of bench/speed.csv."""
        import csv
        page = (ROOT / "docs" / "performance.md").read_text()
        with open(ROOT / "bench" / "speed.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 3)
        for row in rows:
            self.assertIn(f"| {row['median']} | {row['least']} ({row['least_on']}) | {row['most']} ({row['most_on']}) |", page)
            self.assertTrue((ROOT / row["command"].split()[0]).exists())


class SelfTest(unittest.TestCase):
    """The checks see what they are for."""

    def mistakes(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name in stage.PAGES:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("# A\n")
            toctree = "\n".join(["```{toctree}", *[name.removesuffix(".md") for name in stage.PAGES.values()], "gallery/index", "a", "```", ""])
            for name, text in {"docs/index.md": toctree, "docs/a.md": "# A b\n", **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return stage.check(root)

    def test_a_good_tree(self):
        self.assertEqual(self.mistakes({}), [])
        self.assertEqual(self.mistakes({"docs/a.md": "# A b\n\n[x](#a-b) [y](../MATH.md#a) `[z](none.md)` [w](https://x.y)\n\n    [c](none.md)\n"}), [])

    def test_bad_trees(self):
        self.assertEqual(self.mistakes({"docs/b.md": "# B\n"}), ["docs/b.md: in no toctree; name it in one of docs/*/index.md"])
        self.assertEqual(self.mistakes({"docs/a.md": "[x](none.md)\n"}), ["docs/a.md: [x](none.md): no such file"])
        self.assertEqual(self.mistakes({"docs/a.md": "# A\n\n[x](index.md#no)\n"}), ["docs/a.md: [x](index.md#no): no such heading"])

    def test_links_are_written_anew(self):
        found = stage.Stage()
        text = found.rewritten("cli.md")
        self.assertIn("(/method/mathematics.md)", text)
        self.assertNotIn("(../MATH.md)", text)


if __name__ == "__main__":
    unittest.main()
