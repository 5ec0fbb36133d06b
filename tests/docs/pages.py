"""Runs the examples of a page, and compares what they print with what stands there.

    pages.py [--update] [--r] PAGE...

Blocks are run from top to bottom in a folder of the page's own, with copies of the CSV files that stand beside it,
and with docs/ of the tree:
- ```console: lines after "$ " are commands of bash, with `tyto` in the path; what they print stands below them. Numbers are compared
  to three digits and times not at all. A line "..." stands for any lines. A command has to end with 0, unless what it prints is one
  line that begins with "tyto: ". Where nothing stands below it, what it prints is not looked at.
- ```python: in one namespace a page; what is printed stands in a ```text block right below, to the letter.
- ```r: in one session a page, numbers to three digits, compared where a ```text block stands below; where the R package is in TYTO_R_LIBRARY, or r-library beside the program.
- ```sh and others are not run.
--update writes what is printed now into the page. Without a PAGE: all pages with examples; with --r, those with examples in R, which fail
where the R package is missing. TYTO_PROGRAM is the program.
"""
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from shown_lines import same  # noqa: E402

PROGRAM = os.environ.get("TYTO_PROGRAM", "")
MARK = "-- block --"
SECONDS = 120  # that a command may take
R_LIBRARY = Path(os.environ.get("TYTO_R_LIBRARY") or Path(PROGRAM).parent / "r-library")
BLOCK = re.compile(r"^```(?P<kind>console|python|r)\n(?P<code>.*?)^```\n(?:```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def pages_with_examples():
    """Pages of the site whose examples are run here: docs/python.md and what stands in folders of docs/."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs").glob("*/*.md"))]
    return [page for page in found if BLOCK.search(page.read_text()) and page.name not in ("classification.md", "counts.md", "survival.md")]


def kinds_of(page):
    return {match["kind"] for match in BLOCK.finditer(page.read_text())}


def has_r_alone(page):
    return kinds_of(page) == {"r"}


def pages_with_r():
    return [page for page in pages_with_examples() if "r" in kinds_of(page)]


class Page:
    def __init__(self, path, folder):
        self.path, self.folder, self.names = Path(path), Path(folder), {"__name__": "page"}
        self.text = self.path.read_text()
        self.mistakes, self.examples, self.new = [], 0, []
        (self.folder / "bin").mkdir()
        if PROGRAM:
            (self.folder / "bin" / "tyto").symlink_to(Path(PROGRAM).resolve())
        (self.folder / "docs").symlink_to(ROOT / "docs")
        for data in self.path.parent.glob("*.csv"):
            shutil.copy(data, self.folder)
        self.environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def run(self):
        before, place = os.getcwd(), 0
        os.chdir(self.folder)
        try:
            self.r_outputs = self.run_r([match["code"] for match in BLOCK.finditer(self.text) if match["kind"] == "r"])
            for match in BLOCK.finditer(self.text):
                self.new.append(self.text[place:match.start()])
                line = self.text[:match.start()].count("\n") + 1
                run = {"console": self.console, "python": self.python, "r": self.r}[match["kind"]]
                self.new.append(run(match, line))
                place = match.end()
        finally:
            os.chdir(before)
        self.new.append(self.text[place:])
        return self

    def python(self, match, line):
        printed = io.StringIO()
        self.examples += 1
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + match["code"], str(self.path), "exec"), self.names)
        return self.compared(match, line, printed.getvalue())

    def compared(self, match, line, printed):
        """The block with what was printed below it."""
        want = match["output"] or ""
        good = alike(want.splitlines(), printed.splitlines()) if match["kind"] == "r" else printed == want
        if not good:
            self.mistakes.append(f"{self.path.name}:{line}: want\n{want}printed\n{printed}")
        output = f"```text\n{want if good else printed}```\n" if printed else ""
        return f"```{match['kind']}\n{match['code']}```\n{output}"

    def run_r(self, blocks):
        """What each block of R prints; None where they cannot be run."""
        if not blocks or not (R_LIBRARY / "tyto").is_dir() or not shutil.which("Rscript"):
            return None
        (self.folder / "page.R").write_text("".join(f'cat("{MARK}\\n")\n{block}' for block in blocks))
        done = subprocess.run(["Rscript", "--vanilla", "page.R"], env={**self.environment, "R_LIBS": str(R_LIBRARY)}, text=True, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            self.mistakes.append(f"{self.path.name}: Rscript: exit code {done.returncode}:\n{done.stdout}")
            return None
        return done.stdout.split(MARK + "\n")[1:]

    def r(self, match, line):
        if self.r_outputs is None:
            return match.group()
        self.examples += 1
        printed = self.r_outputs.pop(0)
        return match.group() if match["output"] is None else self.compared(match, line, printed)

    def console(self, match, line):
        parts = re.split(r"^\$ (.*(?:\\\n.*)*)\n", match["code"], flags=re.MULTILINE)
        text = parts[0]
        for command, shown in zip(parts[1::2], parts[2::2]):
            text += f"$ {command}\n" + self.command(command, shown.splitlines(), line)
        return f"```console\n{text}```\n" + (f"```text\n{match['output']}```\n" if match["output"] else "")

    def command(self, command, shown, line):
        """What stands below it, as it should be."""
        self.examples += 1
        if not PROGRAM:
            raise RuntimeError("TYTO_PROGRAM: want the path of the program")
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed = done.stdout.splitlines()
        fails = len(shown) == 1 and shown[0].startswith("tyto: ")
        if done.returncode != 0 and not fails:
            self.mistakes.append(f"{self.path.name}:{line}: {command}: exit code {done.returncode}:\n{done.stdout}")
        elif shown and not alike(shown, printed):
            self.mistakes.append(f"{self.path.name}:{line}: {command}: want\n" + "\n".join(shown) + "\nprinted\n" + done.stdout)
        if not shown or alike(shown, printed):
            return "".join(text + "\n" for text in shown)
        return "".join(text.rstrip() + "\n" for text in printed)


def alike(shown, printed):
    """Whether lines are the same, "..." standing for any number of them."""
    if "..." not in shown:
        return len(shown) == len(printed) and all(map(same, shown, printed))
    k = shown.index("...")
    head, rest = shown[:k], shown[k + 1:]
    if len(printed) < k or not all(map(same, head, printed)):
        return False
    return any(alike(rest, printed[j:]) for j in range(k, len(printed) + 1))


def run(path):
    with tempfile.TemporaryDirectory(prefix="tyto-page-") as folder:
        return Page(path, folder).run()


def main():
    import matplotlib
    matplotlib.use("Agg")
    update = "--update" in sys.argv
    need_r = "--r" in sys.argv
    names = [name for name in sys.argv[1:] if name not in ("--update", "--r")] or (pages_with_r() if need_r else pages_with_examples())
    if need_r and not (R_LIBRARY / "tyto").is_dir():
        sys.exit(f"pages: {R_LIBRARY}: want the R package in it")
    failed = False
    for name in names:
        page = run(Path(name).resolve())
        failed = failed or bool(page.mistakes)
        print(f"{name}: {page.examples} examples, {len(page.mistakes)} differ")
        print("\n".join(page.mistakes), end="\n" if page.mistakes else "")
        if update and page.mistakes:
            page.path.write_text("".join(page.new))
    sys.exit(failed and not update)


if __name__ == "__main__":
    main()
