"""Writes the tests of tyto_tests for CTest: one entry for each source file, since a process for each test costs more
than most of them take. Entries are called by their files, and labelled by their folders.

    discover.py PROGRAM OUTPUT [SLOW ...]

Entries are labelled "quick", too, but for those that are named as slow, which start first.
"""
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 900  # that an entry may take


def name_of(file):
    """unit/math/weights of .../tests/unit/math/weights_test.cc"""
    parts = Path(file).parts
    below = len(parts) - parts[::-1].index("tests")
    return "/".join(parts[below:]).removesuffix("_test.cc")


def tests_of(program):
    """(entry, suite, test) of each test."""
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "tests.json"
        subprocess.run([program, "--gtest_list_tests", f"--gtest_output=json:{listing}"], check=True,
                       stdout=subprocess.DEVNULL)
        suites = json.loads(listing.read_text())["testsuites"]
    return [(name_of(test["file"]), suite["name"], test["name"]) for suite in suites for test in suite["testsuite"]]


def filters(tests):
    """The filter of each entry: its suites, or their tests where other files have tests of the same suite."""
    entries_of, result = collections.defaultdict(set), collections.defaultdict(dict)
    for entry, suite, _ in tests:
        entries_of[suite].add(entry)
    for entry, suite, test in tests:
        result[entry][f"{suite}.*" if len(entries_of[suite]) == 1 else f"{suite}.{test}"] = True
    return {entry: ":".join(parts) for entry, parts in sorted(result.items())}


def text_of(entry, program, chosen, slow):
    labels = entry.split("/")[:1] + ([] if slow else ["quick"])
    return (f'add_test([==[{entry}]==] [==[{program}]==] "--gtest_brief=1" [==[--gtest_filter={chosen}]==])\n'
            f'set_tests_properties([==[{entry}]==] PROPERTIES TIMEOUT {SECONDS} LABELS "{";".join(labels)}" '
            f'COST {100 if slow else 1})\n')


def main():
    program, output, *slow = sys.argv[1:]
    tests = tests_of(program)
    entries = filters(tests)
    missing = set(slow) - set(entries)
    if missing:
        sys.exit(f"discover: named as slow, but not there: {sorted(missing)}")
    Path(output).write_text("".join(text_of(entry, program, chosen, entry in slow) for entry, chosen in entries.items()))
    print(f"{len(tests)} C++ tests in {len(entries)} entries of CTest")


if __name__ == "__main__":
    main()
