"""The pages of docs/ and README.md: their examples run, one after the other, and print what stands below them.

`python python/tests/test_docs.py` writes the pictures of docs/python.md to docs/images.
`python tests/docs/pages.py --update` writes what examples print now into the pages.
"""
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "python.md"
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import pages  # noqa: E402


def run(path, folder):
    for package in ("matplotlib", "pandas"):
        pytest.importorskip(package)
    import matplotlib
    matplotlib.use("Agg")
    return pages.Page(path, folder).run()


@pytest.mark.parametrize("path", pages.pages_with_examples(), ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path, tmp_path):
    if "```console" in path.read_text() and not pages.PROGRAM:
        pytest.skip("TYTO_PROGRAM: the page has commands, and no program is named")
    page = run(path, tmp_path)
    if page.examples == 0 and pages.has_r_alone(path):
        pytest.skip("the page has examples in R alone: scripts/test-r.sh runs them")
    assert page.examples > 0
    assert page.mistakes == []
    if path == GUIDE:
        assert {file.name for file in tmp_path.glob("*.png")} == {"python-grouping.png", "python-cv.png", "python-convergence.png"}


def test_enough_pages():
    assert len(pages.pages_with_examples()) > 15


def test_the_test_sees_what_is_printed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n```text\n2\n```\n")
    (tmp_path / "folder").mkdir()
    found = pages.Page(page, tmp_path / "folder").run()
    assert len(found.mistakes) == 1 and "```text\n1\n```" in "".join(found.new)


@pytest.mark.skipif(not pages.PROGRAM, reason="TYTO_PROGRAM: no program is named")
def test_the_test_sees_what_commands_print(tmp_path):
    rows = [("$ echo a\na\n", 0), ("$ echo a\nb\n", 1), ("$ false\n", 1), ("$ printf 'a\\nb\\nc\\n'\na\n...\nc\n", 0), ("$ printf 'a\\nb\\nc\\n'\na\n...\nd\n", 1),
            ("$ tyto fit none.csv\ntyto: none.csv: cannot open: No such file or directory\n", 0), ("$ tyto fit none.csv\n", 1)]
    for number, (code, mistakes) in enumerate(rows):
        (tmp_path / str(number)).mkdir()
        page = tmp_path / "page.md"
        page.write_text(f"```console\n{code}```\n")
        assert len(pages.Page(page, tmp_path / str(number)).run().mistakes) == mistakes, code


if __name__ == "__main__":
    import matplotlib
    matplotlib.use("Agg")
    with tempfile.TemporaryDirectory() as made:
        pages.Page(GUIDE, made).run()
        for name in sys.argv[1:] or ["python-grouping.png"]:
            image = GUIDE.parent / "images" / name
            image.write_bytes((Path(made) / name).read_bytes())
            print("wrote", image)
