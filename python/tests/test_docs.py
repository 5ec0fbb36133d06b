"""docs/python.md: its examples run, one after the other, and print what stands below them.

`python python/tests/test_docs.py` writes their pictures to docs/images.
"""
import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def run(text, folder):
    """Pairs of what an example printed and what it should have."""
    names = {}
    before = os.getcwd()
    os.chdir(folder)
    try:
        for match in EXAMPLE.finditer(text):
            code, want = match.groups()
            line = text[:match.start()].count("\n") + 1
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * line + code, str(GUIDE), "exec"), names)
            yield printed.getvalue(), want or ""
    finally:
        os.chdir(before)


def test_guide(tmp_path):
    for package in ("matplotlib", "pandas"):
        pytest.importorskip(package)
    import matplotlib
    matplotlib.use("Agg")
    examples = list(run(GUIDE.read_text(), tmp_path))
    assert len(examples) >= 6
    for printed, want in examples:
        assert printed == want
    assert {path.name for path in tmp_path.iterdir()} == {"python-grouping.png", "python-cv.png", "python-convergence.png"}


def test_the_test_sees_what_is_printed(tmp_path):
    text = "```python\nprint(1)\n```\n```text\n2\n```\n"
    assert list(run(text, tmp_path)) == [("1\n", "2\n")]


if __name__ == "__main__":
    import matplotlib
    matplotlib.use("Agg")
    with tempfile.TemporaryDirectory() as made:
        for printed, want in run(GUIDE.read_text(), made):
            print(printed, end="")
        for name in sys.argv[1:] or ["python-grouping.png"]:
            image = GUIDE.parent / "images" / name
            image.write_bytes((Path(made) / name).read_bytes())
            print("wrote", image)
