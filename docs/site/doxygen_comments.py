"""Prints a header with its plain comments as doxygen's: those before a declaration as ///, those behind one as ///<.

    doxygen_comments.py HEADER
"""
import re
import sys

NOISE = re.compile(r"NOLINT|IWYU|^\s*// ?namespace|}\s*// namespace")


def converted(text):
    lines = []
    for line in text.splitlines():
        code, mark, comment = line.partition("//")
        if not mark or NOISE.search(line):
            lines.append(code.rstrip() if mark else line)
        elif code.strip():
            lines.append(f"{code}///<{comment}")
        else:
            lines.append(f"{code}///{comment}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        sys.stdout.write(converted(file.read()))
