"""The layers of src/tyto, as the table in ARCHITECTURE.md draws them, and what else holds for every source file.

The table stands under a heading with the word "include": one row for each folder, with the folders (or single
headers, as folder/file) that it may include beside its own. The folder of the public headers, include/tyto, is "public".
"""
import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]tyto/([\w/.]+)[">]', re.MULTILINE)
PRINTS = re.compile(r"\bstd::(?:cout|cerr|clog)\b|\b(?:printf|fprintf|puts|putchar|fputs|perror)\s*\(|\bfmt::print")
PUBLIC = "public"  # the headers of include/tyto, in the table
NAME = re.compile(r"[a-z_0-9]+(?:/[a-z_0-9]+)?")


def table_of(markdown):
    """{folder: {what it may include}} of the first table under a heading with "include" in it."""
    table, state = {}, "before"
    for line in markdown.splitlines():
        if line.startswith("#"):
            if state == "table":
                break
            state = "heading" if "include" in line.lower() else "before"
        elif state != "before" and line.strip().startswith("|"):
            state = "table"
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) != 2:
                raise ValueError(f"want two cells in each row of the include table: {line}")
            folder, allowed = (cell.replace("`", "") for cell in cells)
            if folder == "folder" or set(folder) <= set("-: "):
                continue
            names = [] if allowed == "nothing of ours" else [name.strip() for name in allowed.split(",")]
            for name in (folder, *names):
                if not NAME.fullmatch(name):
                    raise ValueError(f"want folders or folder/file, got {name!r}: {line}")
            if folder in table:
                raise ValueError(f"folder {folder} stands twice in the include table")
            table[folder] = set(names)
        elif state == "table" and line.strip():
            break
    return table


def without_comments(code):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", code, flags=re.DOTALL)


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc"))


def violations(root):
    """What does not hold below `root`, one line each."""
    table = table_of((root / "ARCHITECTURE.md").read_text())
    library = root / "src" / "tyto"
    folders = sorted(path.name for path in library.iterdir() if path.is_dir())
    found = []
    if not table:
        found.append("ARCHITECTURE.md: the include table has no rows")
    found += [f"src/tyto/{name}: not in the include table" for name in folders if name not in table]
    named = sorted({name.split("/")[0] for row in table.values() for name in row} | set(table))
    found += [f"ARCHITECTURE.md: no folder src/tyto/{name}" for name in named if name not in [*folders, PUBLIC]]
    for path in [*sources(root / "src"), *sources(root / "include")]:
        where = path.relative_to(root)
        code = path.read_text()
        if path.suffix == ".h" and not re.search(r"^#pragma once$", code, re.MULTILINE):
            found.append(f"{where}: no #pragma once")
        if PRINTS.search(without_comments(code)):
            found.append(f"{where}: prints")
        if path.parent == library:  # the header of all headers
            continue
        folder = path.relative_to(library).parts[0] if library in path.parents else PUBLIC
        for header in INCLUDE.findall(code):
            if not (library / header).is_file() and not (root / "include" / "tyto" / header).is_file():
                found.append(f"{where}: includes tyto/{header}, which does not exist")
            allowed = table.get(folder, set()) | {folder}
            of = header.split("/")[0] if "/" in header else PUBLIC
            if of not in allowed and header.removesuffix(".h") not in allowed:
                found.append(f"{where}: includes tyto/{header}; {folder} may include {', '.join(sorted(allowed))}")
    return found + between_solvers(root)


def between_solvers(root):
    """A solver, name.cc with make_name(), includes no header of another: neither other.h nor other_part.h."""
    folder = root / "src" / "tyto" / "solve"
    makers = {path.stem for path in sources(folder)
              if path.suffix == ".cc" and re.search(rf"\bmake_{path.stem}\s*\(", path.read_text())}
    found = []
    for path in sources(folder):
        for header in INCLUDE.findall(path.read_text()):
            owner = owner_of(Path(header).stem, makers)
            if owner and owner_of(path.stem, makers) not in (None, owner):
                found.append(f"{path.relative_to(root)}: includes another solver's header, tyto/{header}")
    return found


def owner_of(stem, makers):
    return next((maker for maker in makers if stem == maker or stem.startswith(maker + "_")), None)


class Layering(unittest.TestCase):
    def test_sources(self):
        self.assertEqual(violations(ROOT), [])

    def test_the_table_is_not_trivial(self):
        table = table_of((ROOT / "ARCHITECTURE.md").read_text())
        self.assertGreaterEqual(len(table), 7)
        self.assertEqual(table[PUBLIC], set())
        self.assertEqual(table["base"], {PUBLIC})
        for folder, allowed in table.items():
            self.assertNotIn(folder, allowed)

    def test_no_circles(self):
        table = table_of((ROOT / "ARCHITECTURE.md").read_text())
        done = set()
        while len(done) < len(table):
            ready = {f for f in set(table) - done if {name.split("/")[0] for name in table[f]} <= done}
            self.assertTrue(ready, f"a circle among {sorted(set(table) - done)}")
            done |= ready


def long_lines(markdown):
    """Numbers of the lines of prose, from 1, that are over 100 columns: not code, tables, or what a link points to."""
    found, fenced, code, in_list, blank = [], False, False, False, True
    for number, line in enumerate(markdown.splitlines(), 1):
        if re.match(r"\s*(```|~~~)", line):
            fenced = not fenced
        item = re.match(r"\s*([-*+]|\d+\.)\s", line)
        if line.strip() and not line.startswith(" "):
            in_list = False
        in_list = in_list or bool(item)
        code = line.startswith("    ") and not in_list and (blank or code)
        blank = not line.strip()
        prose = re.sub(r"\]\([^)]*\)", "]", line)
        if len(prose) > 100 and not (fenced or code or line.lstrip().startswith(("|", "!["))):
            found.append(number)
    return found


class Prose(unittest.TestCase):
    def test_markdown_is_wrapped(self):
        pages = [path for path in ROOT.rglob("*.md") if not {"build", ".git", ".pytest_cache"} & set(path.relative_to(ROOT).parts)]
        self.assertGreater(len(pages), 10)
        found = [f"{page.relative_to(ROOT)}:{number}" for page in sorted(pages) for number in long_lines(page.read_text())]
        self.assertEqual(found, [], "lines over 100 columns")

    def test_what_counts(self):
        long = "word " * 25
        for text in (long, f"- {long}", f"text\n    {long}", f"- item\n\n    {long}", f"1. {long}", f"```\na\n```\n{long}"):
            self.assertEqual(long_lines(text), [text.count("\n") + 1], text)
        for text in (f"    {long}", f"```\n{long}\n```", f"| {long} |", f"![{long}](a.png)", f"[a](http://{'x' * 100})",
                     f"text\n\n    code\n    {long}", "word " * 20):
            self.assertEqual(long_lines(text), [], text)


GOOD = {
    "ARCHITECTURE.md": "# A\n\n| folder | holds |\n|---|---|\n| x | y |\n\n## What may include what\n\nText.\n\n"
                       "| folder | may include |\n|---|---|\n| public | nothing of ours |\n"
                       "| `base` | public |\n| `math` | `base` |\n"
                       "| `solve` | base, math/weights |\n\nMore text.\n\n## Other\n\n| solve | math |\n|---|---|\n",
    "src/tyto/all.h": '#pragma once\n#include "tyto/solve/solver.h"\n',
    "include/tyto/tyto.h": '#pragma once\n#include "tyto/error.h"\n',
    "include/tyto/error.h": "#pragma once\n",
    "src/tyto/base/error.h": '#pragma once\n#include "tyto/error.h"\n',
    "src/tyto/base/types.h": "#pragma once\n#include <vector>\n",
    "src/tyto/math/weights.h": '#pragma once\n#include "tyto/base/types.h"  // for Index\n',
    "src/tyto/math/design.h": '#pragma once\n#include "tyto/math/weights.h"\n',
    "src/tyto/solve/solver.h": '#pragma once\n#include "tyto/math/weights.h"\n',
    "src/tyto/solve/a.h": "#pragma once\n",
    "src/tyto/solve/a.cc": '#include "tyto/solve/a.h"\nvoid make_a() {}\n// no printf(here)\n',
    "src/tyto/solve/b.cc": '#include "tyto/solve/solver.h"\nvoid make_b() {}\n',
}


class SelfTest(unittest.TestCase):
    """The checks see what they are for, on a tree made up for it."""

    def found(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return violations(Path(folder))

    def test_a_good_tree(self):
        self.assertEqual(self.found({}), [])

    def test_bad_trees(self):
        rows = [
            ("ARCHITECTURE.md", "# Includes\n\nNo table.\n", "ARCHITECTURE.md: the include table has no rows"),
            ("ARCHITECTURE.md", GOOD["ARCHITECTURE.md"].replace("| `math` | `base` |\n", ""),
             "src/tyto/math: not in the include table"),
            ("src/tyto/other/x.h", "#pragma once\n", "src/tyto/other: not in the include table"),
            ("ARCHITECTURE.md", GOOD["ARCHITECTURE.md"].replace("| `math`", "| gone | base |\n| `math`"),
             "ARCHITECTURE.md: no folder src/tyto/gone"),
            ("include/tyto/tyto.h", '#pragma once\n#include "tyto/math/weights.h"\n',
             "include/tyto/tyto.h: includes tyto/math/weights.h; public may include public"),
            ("src/tyto/math/weights.h", '#pragma once\n#include "tyto/error.h"\n',
             "src/tyto/math/weights.h: includes tyto/error.h; math may include base, math"),
            ("ARCHITECTURE.md", GOOD["ARCHITECTURE.md"].replace("nothing of ours", "everything"),
             "ARCHITECTURE.md: no folder src/tyto/everything"),
            ("src/tyto/base/up.cc", '#include "tyto/math/design.h"\n',
             "src/tyto/base/up.cc: includes tyto/math/design.h; base may include base, public"),
            ("src/tyto/base/up.cc", "# include <tyto/solve/solver.h>\n",
             "src/tyto/base/up.cc: includes tyto/solve/solver.h; base may include base, public"),
            ("src/tyto/solve/c.cc", '#include "tyto/math/design.h"\n',
             "src/tyto/solve/c.cc: includes tyto/math/design.h; solve may include base, math/weights, solve"),
            ("src/tyto/solve/b.cc", '#include "tyto/solve/a.h"\nvoid make_b() {}\n',
             "src/tyto/solve/b.cc: includes another solver's header, tyto/solve/a.h"),
            ("src/tyto/math/weights.h", "// no pragma\n", "src/tyto/math/weights.h: no #pragma once"),
            ("src/tyto/math/loud.cc", "void f() { std::cout << 1; }\n", "src/tyto/math/loud.cc: prints"),
            ("src/tyto/math/loud.cc", "void f() { std::fprintf(stderr, 1); }\n", "src/tyto/math/loud.cc: prints"),
            ("src/tyto/math/gone.cc", '#include "tyto/base/gone.h"\n',
             "src/tyto/math/gone.cc: includes tyto/base/gone.h, which does not exist"),
        ]
        for name, text, message in rows:
            with self.subTest(message=message):
                self.assertIn(message, self.found({name: text}))

    def test_bad_tables(self):
        for row in ("| a | base math |\n", "| a | b | c |\n", "| A | base |\n", "| a | b |\n| a | c |\n"):
            with self.subTest(row=row), self.assertRaises(ValueError):
                table_of("# Includes\n" + row)


if __name__ == "__main__":
    unittest.main()
