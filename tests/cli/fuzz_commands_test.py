#!/usr/bin/env python3
"""Damaged files into the commands that read them: models, paths and states as JSON, and data. Whatever they hold, the program ends
with 0, 1 or 2, at once, and with one line where it is 2.

A short set of what scripts/fuzz.sh does for long. A mutation depends on its seed alone, which a failure names; TYTO_FUZZ_RUNS says
how many there are for each kind, TYTO_FUZZ_SEED where they begin, and TYTO_FUZZ_SECONDS, of CPU, when a kind ends early."""
import json
import os
import random
import resource
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "fuzz"))
import make_corpus
from support import PROGRAM, TytoTest

RUNS = int(os.environ.get("TYTO_FUZZ_RUNS", "400"))
FIRST = int(os.environ.get("TYTO_FUZZ_SEED", "1"))
SECONDS = float(os.environ.get("TYTO_FUZZ_SECONDS", "4"))

ODD = [None, True, False, "", "converged", "tyto-path-1", 0, 1, -1, 2, 3, 12, 1e300, -1e300, 5e-324, 0.5, 1e15, 2**63 - 1, -2**63, 2**64 - 1,
       [], {}, [0, 1], [[0, 1.5]], -0.0, 1e154, 2**31]


def parts(root):
    """All places below `root`, as (container, key). Without recursion: some are deep."""
    found, left = [], [root]
    while left:
        value = left.pop()
        keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for key in keys:
            found.append((value, key))
            left.append(value[key])
    return found


def deeper(value, levels):
    for _ in range(levels):
        value = [value]
    return value


def change(root, source):
    """One change of a document that leaves it JSON."""
    places = parts(root)
    if not places:
        return
    container, key = source.choice(places)
    kind = source.randrange(6)
    if kind == 0:
        container[key] = source.choice(ODD)
    elif kind == 1:
        del container[key]
    elif kind == 2:
        other, place = source.choice(places)
        try:
            container[key] = json.loads(json.dumps(other[place]))
        except RecursionError:  # too deep to copy
            container[key] = []
    elif kind == 3 and isinstance(container, list):
        container.append(container[key])
    elif kind == 4 and source.random() < 0.1:
        container[key] = deeper(container[key], source.choice([70, 20000]))
    elif isinstance(container[key], float):
        container[key] *= source.choice([-1, 0.5, 1 + 1e-9, 2, 1e10, 1e150, 1e-150])
    elif isinstance(container[key], int):
        container[key] ^= 1 << source.randrange(64)
    else:
        container[key] = source.choice(ODD)


def dumped(value):
    """json.dumps recurses: a deep value is written by hand."""
    try:
        return json.dumps(value)
    except RecursionError:
        return "[" * 20000 + "]" * 20000


def mutated_json(text, source):
    if source.random() < 0.2:
        return mutated_bytes(text.encode(), source)
    document = json.loads(text)
    for _ in range(source.randint(1, 4)):
        change(document, source)
    return dumped(document).encode()


def mutated_bytes(contents, source):
    made = bytearray(contents)
    for _ in range(source.choice([1, 1, 1, 2, 6])):
        place = source.randrange(len(made) + 1)
        kind = source.randrange(7)
        if kind == 0:
            made[place:place] = bytes([source.randrange(256)])
        elif kind == 1:
            del made[place:place + source.choice([1, 1, 8, 100])]
        elif kind == 2:
            made[place:place] = source.choice([b"nan", b"inf", b"1e999", b"-1", b"\n", b"\r", b",", b":", b"\"", b"\x00", b"9" * 30, b" " * 40, b"[{"])
        elif kind == 3 and place < len(made):
            made[place] ^= 1 << source.randrange(8)
        elif kind > 4 and place < len(made) and chr(made[place]) in "0123456789":
            made[place] = ord(source.choice("0123456789"))
        else:
            begin = source.randrange(len(made) + 1)
            made[place:place] = made[begin:begin + source.choice([1, 10, 50])]
    return bytes(made)


def cpu_seconds():
    """Of the runs of the program so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Fuzz(TytoTest):
    def setUp(self):
        super().setUp()
        make_corpus.main(PROGRAM, self.folder / "corpus")
        self.write("data.csv", (make_corpus.HERE / "data.csv").read_bytes())

    def check(self, kind, mutate, commands):
        """Runs commands(choice) on what `mutate` makes of an input of the corpus, which is called `kind`."""
        inputs = [path.read_bytes() for path in sorted((self.folder / "corpus" / kind).iterdir())]
        codes, begin = {}, cpu_seconds()
        for seed in range(FIRST, FIRST + RUNS):
            if cpu_seconds() - begin > SECONDS:
                break
            source = random.Random(f"{kind} {seed}")
            contents = mutate(source.choice(inputs), source)
            for args in commands(contents, source):
                code, out, err = self.run_tyto(*args)
                codes[code] = codes.get(code, 0) + 1
                where = f"{kind} seed {seed}: {args}: exit code {code}: {err[:2000]}"
                self.assertIn(code, (0, 1, 2), where)
                if code == 2:
                    self.assertRegex(err, r"\Atyto: [^\n]+\n\Z", where)
        print(f"{kind}: seeds {FIRST} to {seed}: exit codes {dict(sorted(codes.items()))}")
        self.assertGreater(codes.get(2, 0), 0)
        return codes

    def test_models(self):
        def commands(contents, source):
            self.write("m.json", contents)
            step = [["--step", "1"], ["--choose", "one-se"], []][source.randrange(3)]
            yield source.choice([["verify", "m.json", "data.csv", *step, "--json", "found.json"],
                                 ["predict", "m.json", "data.csv", *step, "--output", "out.csv"]])
        codes = self.check("model", lambda text, source: mutated_json(text.decode(), source), commands)
        self.assertGreater(codes.get(0, 0), 0)

    def test_states(self):
        def commands(contents, source):
            self.write("state.json", contents)
            yield make_corpus.STATE
        codes = self.check("state", lambda text, source: mutated_json(text.decode(), source), commands)
        self.assertGreater(codes.get(0, 0), 0)

    def test_data(self):
        def commands(contents, source):
            choice = contents[0] if contents else 0
            name, form = [("d.csv", "csv"), ("d.svm", "libsvm"), ("d.npy", "npy"), ("d.mtx", "mtx")][choice % 4]
            self.write(name, contents[1:])
            self.write("y.txt", "1\n2.5\n-1\n")
            reading = [name, "--format", form, *(["--target", "y.txt"] if choice % 4 == 3 else [])]
            yield ["fit", *reading, "--model", "d.json", "--max-epochs", "50", "--threads", "1", "--quiet"]
        codes = self.check("data", lambda text, source: text[:1] + mutated_bytes(text[1:], source), commands)
        self.assertGreater(codes.get(0, 0), 0)

    def test_journals(self):
        def commands(contents, source):
            (self.folder / "runs").mkdir(exist_ok=True)
            self.write("runs/runs.jsonl", contents)
            yield ["reproduce", "--output", "runs", "--redraw", "--quiet"]

        def mutate(text, source):
            lines = text.decode().splitlines()
            place = source.randrange(len(lines))
            made = [line.encode() for line in lines]
            made[place] = mutated_json(lines[place], source)
            return b"\n".join(made) + b"\n"
        self.check("journal", mutate, commands)


if __name__ == "__main__":
    unittest.main()
