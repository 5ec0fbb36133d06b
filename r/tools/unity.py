"""Joins the sources of the library into fewer files, so that their headers are parsed less often: unity.py SRC

Below SRC, the sources of each folder of tyto/ become tyto/<folder>_<number>.cc, which include up to MOST of them. A source whose own
names (types and constants) are those of another in the same file, or of a header, goes into another one.
"""
import re
import sys
from pathlib import Path

MOST = 8
NAME = re.compile(r"^(?:struct|class|enum class|union) (\w+)|^(?:\w[\w:<>, *]*)?\bconstexpr [\w:<>, *]*\b(\w+)\b *(?:=|\{|\()", re.MULTILINE)


def names(path):
    """What a file defines: types, and constants and functions that are constexpr."""
    return {name for pair in NAME.findall(path.read_text()) for name in pair if name}


def groups(sources, taken):
    """Lists of sources that can stand in one file each."""
    found = []  # (sources, their names)
    for source in sources:
        own = names(source)
        place = next((group for group in found if len(group[0]) < MOST and not own & (group[1] | taken) and not group[2]), None)
        if place is None:
            place = ([], set(), bool(own & taken))
            found.append(place)
        place[0].append(source)
        place[1].update(own)
    return [group[0] for group in found]


def main(root):
    taken = {name for header in (root / "tyto").rglob("*.h") for name in names(header)}
    for folder in sorted({source.parent for source in (root / "tyto").rglob("*.cc")}):
        sources = sorted(folder.glob("*.cc"))
        for number, group in enumerate(groups(sources, taken)):
            if len(group) == 1:
                continue
            lines = [f'#include "{source.relative_to(root)}.h"  // NOLINT\n' for source in group]
            for source in group:
                source.rename(source.with_name(source.name + ".h"))
            (folder / f"{folder.name}_{number}.cc").write_text("".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
