"""PLINK's .bed, SciPy's .npz, .npy in place, --response, and files that are named and not read."""
import gzip
import io
import json
import random
import struct
import unittest
import zipfile

import oracle
from support import TytoTest, csv_text, mtx_text, npy_bytes

MAGIC = b"\x6c\x1b\x01"
CODE = {2: 0, 1: 2, 0: 3, None: 1}  # of copies of the first allele
N, P = 22, 6


def bed_bytes(columns, padding=0, magic=MAGIC):
    """`columns` of 0, 1, 2 and None; `padding`: the pairs of bits after the last sample."""
    out = bytearray(magic)
    for column in columns:
        codes = [CODE[x] for x in column]
        codes += [padding] * (-len(codes) % 4)
        for k in range(0, len(codes), 4):
            out.append(sum(code << 2 * i for i, code in enumerate(codes[k:k + 4])))
    return bytes(out)


def naive_columns(bed, n):
    """What stands in a .bed, bit by bit."""
    stride, columns = (n + 3) // 4, []
    for start in range(3, len(bed), stride):
        pairs = [bed[start + i // 4] >> 2 * (i % 4) & 3 for i in range(n)]
        columns.append([{0: 2, 1: None, 2: 1, 3: 0}[pair] for pair in pairs])
    return columns


def filled(column):
    there = [x for x in column if x is not None]
    mean = sum(there) / len(there)
    return [mean if x is None else x for x in column]


def genotypes(seed, missing=0.1, n=N, p=P):
    rng = random.Random(seed)
    return [[None if rng.random() < missing else rng.choice((0, 1, 2)) for _ in range(n)] for _ in range(p)]


def response(columns, seed):
    rng = random.Random(seed)
    return [column_sum + rng.gauss(0, 0.3) for column_sum in
            (2 * a - b for a, b in zip(filled(columns[0]), filled(columns[3])))]


def bim_text(p=P, ids=None, alleles=None):
    ids = ids or [f"rs{j}" for j in range(p)]
    alleles = alleles or [("A", "G")] * p
    return "".join(f"1\t{ids[j]}\t0\t{1000 + j}\t{a}\t{b}\n" for j, (a, b) in enumerate(alleles))


def fam_text(phenotype, samples=None):
    samples = samples or [(f"f{i}", f"i{i}") for i in range(len(phenotype))]
    return "".join(f"{f} {i} 0 0 1 {y}\n" for (f, i), y in zip(samples, phenotype))


def npz_bytes(matrix, form, compression=zipfile.ZIP_DEFLATED, **replaced):
    """As scipy.sparse.save_npz writes a matrix, which is given by rows."""
    outer = matrix if form == "csr" else list(zip(*matrix))
    indices, data, start = [], [], [0]
    for line in outer:
        for k, value in enumerate(line):
            if value != 0:
                indices.append(k)
                data.append(value)
        start.append(len(data))

    def array(kind, values, shape=None):
        code = {"<f8": "d", "<i4": "i", "<i8": "q"}[kind]
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
        return array_bytes(header, struct.pack(f"<{len(values)}{code}", *values))

    members = {"indices": array("<i4", indices), "indptr": array("<i4", start),
               "format": array_bytes("{'descr': '|S3', 'fortran_order': False, 'shape': (), }", form.encode()),
               "shape": array("<i8", [len(matrix), len(matrix[0])]), "data": array("<f8", data)}
    members.update({name: make(array) for name, make in replaced.items()})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, contents in members.items():
            if contents is not None:
                archive.writestr(f"{name}.npy", contents)
    return out.getvalue()


def array_bytes(header, data):
    header = header.encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


class Genotypes(TytoTest):
    def write_bed(self, stem, columns, phenotype, bim=None, padding=0, samples=None):
        self.write(stem + ".bed", bed_bytes(columns, padding))
        self.write(stem + ".bim", bim or bim_text(len(columns)))
        self.write(stem + ".fam", fam_text(phenotype, samples))

    def fit(self, *args):
        return json.loads(self.succeed("fit", *args, "--model", "model.json", "--json", "-", "--tolerance", "1e-10",
                                       "--quiet"))

    def assert_same(self, got, want):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertAlmostEqual(a, b, delta=1e-7 * (1 + abs(b)))

    def refused(self, message, *args):
        code, out, err = self.run_tyto(*args)
        self.assertEqual((code, out), (2, ""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(message, err)

    def as_csv(self, columns, phenotype, name="same.csv"):
        rows = zip(*[filled(column) for column in columns])
        names = [f"rs{j}_A" for j in range(len(columns))]
        self.write(name, csv_text([[*row, y] for row, y in zip(rows, phenotype)], [*names, "y"]))
        return name


class Bed(Genotypes):
    def setUp(self):
        super().setUp()
        self.columns = genotypes(1)
        self.y = response(self.columns, 2)

    def test_same_as_csv(self):
        for padding in range(4):
            for n in (N, N - 1, N - 2, N - 3):
                columns, y = [column[:n] for column in self.columns], self.y[:n]
                self.assertEqual(naive_columns(bed_bytes(columns, padding), n), columns)
                self.write_bed("x", columns, y, padding=padding)
                with self.subTest(padding=padding, n=n):
                    want = self.fit(self.as_csv(columns, y))
                    got = self.fit("x.bed")
                    self.assert_same(oracle.dense(got), oracle.dense(want))
                    self.assertEqual(got["names"], want["names"])
                    self.assertEqual((got["missing"], got["response"]), ("mean", "phenotype"))
                    means = [sum(filled(column)) / n for column in columns]
                    self.assert_same(got["fill"], [means[column] for column, _ in got["coefficients"]])
                    self.assertIn("the certificate holds", self.succeed("verify", "model.json", "x.bed"))

    def test_path_and_cv(self):
        self.write_bed("x", self.columns, self.y)
        csv = self.as_csv(self.columns, self.y)
        for command in (("path", "--steps", "5"), ("cv", "--steps", "5", "--folds", "3")):
            fits = [json.loads(self.succeed(command[0], data, *command[1:], "--json", "-", "--quiet"))["fits"]
                    for data in ("x.bed", csv)]
            for a, b in zip(*fits):
                self.assertAlmostEqual(a["primal"], b["primal"], delta=1e-5 * abs(b["primal"]))
        self.succeed("cv", "x.bed", "--steps", "5", "--folds", "3", "--model", "cv.json", "--quiet")
        self.assertIn("5 of 5 certificates hold", self.succeed("verify", "cv.json", "x.bed"))

    def test_predict_takes_the_alleles_of_the_model(self):
        self.write_bed("x", self.columns, self.y)
        model = self.fit("x.bed")
        want = self.succeed("predict", "model.json", "x.bed", "--quiet")
        fill = dict(zip(model["names"], model["fill"]))
        # other order, one variant more, alleles swapped in some
        order = [4, 2, 0, 5, 1, 3]
        swapped = {0, 2, 3}
        columns = [[2 - x if j in swapped and x is not None else x for x in self.columns[j]] for j in order]
        bim = bim_text(P + 1, [f"rs{j}" for j in order] + ["more"],
                       [("G", "A") if j in swapped else ("A", "G") for j in order] + [("C", "T")])
        self.write_bed("new", columns + [[1] * N], [-9] * N, bim)
        got = self.succeed("predict", "model.json", "new.bed", "--quiet")
        self.assert_same([float(x) for x in got.split()[1:]], [float(x) for x in want.split()[1:]])
        rows = zip(*[[fill.get(f"rs{j}_A", 0) if x is None else x for x in column]
                     for j, column in enumerate(self.columns)])
        self.assert_same([float(x) for x in want.split()[1:]], oracle.predictions(model, [list(row) for row in rows]))

    def test_predict_refuses_other_variants(self):
        self.write_bed("x", self.columns, self.y)
        name = self.fit("x.bed")["names"][0]
        number = int(name[2:-2])
        ids = [f"rs{j}" for j in range(P)]
        cases = [
            (bim_text(alleles=[("C", "T") if j == number else ("A", "G") for j in range(P)]),
             f"new.bim: expected the variant '{name}', which the model uses, got it with the alleles C and T"),
            (bim_text(ids=["other" if j == number else ids[j] for j in range(P)]),
             f"new.bim: expected the variant '{name}', which the model uses, got none of that name"),
            (bim_text(ids=[ids[number] if j == (number + 1) % P else ids[j] for j in range(P)]),
             f"expected the variant '{name}' once, got it again"),
        ]
        for bim, message in cases:
            self.write_bed("new", self.columns, self.y, bim)
            with self.subTest(message=message):
                self.refused(message, "predict", "model.json", "new.bed")

    def test_names(self):
        self.write_bed("x", self.columns, self.y, bim_text(ids=["rs0", ".", ".", "rs3", "twice", "twice"],
                                                           alleles=[("G", "A")] * 5 + [("A", "C")]))
        result = self.fit("x.bed", "--strength", "0.0001")
        self.assertEqual(result["names"], ["rs0_G", "1:1001:A:G_G", "1:1002:A:G_G", "rs3_G", "1:1004:A:G_G",
                                           "1:1005:A:C_A"])
        self.succeed("predict", "model.json", "x.bed", "--quiet")
        self.write("x.bim", "1 . 0 5 A G\n1 . 0 5 A G\n" + bim_text(4))
        self.refused("x.bim: expected each variant once, got '1:5:A:G_A' as variants 1 and 2", "fit", "x.bed")

    def test_samples_in_any_order(self):
        self.write_bed("x", self.columns, [-9] * N)
        self.refused("x.fam: expected phenotypes in column 6, got none but missing ones (-9); give --response FILE",
                     "fit", "x.bed")
        want = oracle.dense(self.fit(self.as_csv(self.columns, self.y)))
        rows = [(f"f{i}", f"i{i}", y) for i, y in enumerate(self.y)] + [("other", "other", 7.0)]
        random.Random(3).shuffle(rows)
        tables = {
            "plink2": "#FID\tIID\tbmi\n" + "".join(f"{f}\t{i}\t{y!r}\n" for f, i, y in rows),
            "iid": "#IID bmi\n" + "".join(f"{i} {y!r}\n" for _, i, y in rows),
            "plink1": "".join(f"{f} {i} {y!r}\n" for f, i, y in rows),
            "csv": "age,IID,bmi\n" + "".join(f"50,{i},{y!r}\n" for _, i, y in rows),
        }
        for name, text in tables.items():
            with self.subTest(name=name):
                self.write("y.txt", text)
                target = ("--target", "bmi") if name == "csv" else ()
                self.assert_same(oracle.dense(self.fit("x.bed", "--response", "y.txt", *target)), want)
                self.assertIn("the certificate holds",
                              self.succeed("verify", "model.json", "x.bed", "--response", "y.txt"))
                self.refused("response: want the file that the model was fitted with: --response FILE",
                             "verify", "model.json", "x.bed")
                self.assertEqual(len(self.succeed("predict", "model.json", "x.bed").split()), N + 1)
        self.refused("target: want one of the columns of y.txt (--response y.txt --target NAME): age, bmi",
                     "fit", "x.bed", "--response", "y.txt")
        self.refused("target: no column 'bim' in y.txt; known: age, bmi; did you mean 'bmi'?",
                     "fit", "x.bed", "--response", "y.txt", "--target", "bim")
        self.write("y.txt", "".join(f"{y!r}\n" for y in self.y))  # no ids: in the order of .fam
        self.assert_same(oracle.dense(self.fit("x.bed", "--response", "y.txt")), want)

    def test_same_persons_in_several_families(self):
        samples = [(f"f{i}", f"i{i // 2}") for i in range(N)]
        self.write_bed("x", self.columns, [-9] * N, samples=samples)
        rows = [(f, i, y) for (f, i), y in zip(samples, self.y)][::-1]
        self.write("y.txt", "FID IID y\n" + "".join(f"{f} {i} {y!r}\n" for f, i, y in rows))
        want = oracle.dense(self.fit(self.as_csv(self.columns, self.y)))
        self.assert_same(oracle.dense(self.fit("x.bed", "--response", "y.txt")), want)
        self.write("y.txt", "IID y\n" + "".join(f"{i} {y!r}\n" for _, i, y in rows))
        self.refused("y.txt: expected a column FID beside IID", "fit", "x.bed", "--response", "y.txt")
        self.write("y.txt", "FID IID y\nf1 i0 1\nf1 i0 2\n")
        self.refused("y.txt:3: expected each sample once, got 'f1 i0' as in line 2", "fit", "x.bed", "--response",
                     "y.txt")
        self.write("y.txt", "FID IID y\nz z 1\n")
        self.refused("y.txt: expected samples of the data such as 'f0 i0', got none of them, but such as 'z z'",
                     "fit", "x.bed", "--response", "y.txt")

    def test_missing_phenotypes(self):
        y = list(self.y)
        y[3], y[7] = -9, "NA"
        self.write_bed("x", self.columns, y)
        self.refused("x.bed: missing value: 2 of 22 rows have no response, the first is sample 'f3 i3'; use --missing "
                     "drop-rows", "fit", "x.bed")
        columns = [filled(column) for column in self.columns]  # means are those of all samples
        kept = [i for i in range(N) if i not in (3, 7)]
        want = self.fit(self.as_csv([[column[i] for i in kept] for column in columns], [y[i] for i in kept]))
        code, out, err = self.run_tyto("fit", "x.bed", "--missing", "drop-rows", "--json", "-", "--tolerance",
                                       "1e-10", "--model", "model.json")
        self.assertEqual(code, 0, err)
        self.assertIn("2 of 22 rows were left out for missing values", err)
        self.assertIn("missing values became the mean of their columns", err)
        self.assert_same(oracle.dense(json.loads(out)), oracle.dense(want))
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "x.bed"))
        self.assertNotIn("NA", self.succeed("predict", "model.json", "x.bed"))  # no phenotype is needed

    def test_cases_and_controls(self):
        cases = [2 if y > 1 else 1 for y in self.y]
        cases[0] = 0
        self.write_bed("x", self.columns, cases)
        self.refused("1 of 22 rows have no response", "fit", "x.bed", "--loss", "binomial")
        model = json.loads(self.succeed("fit", "x.bed", "--loss", "binomial", "--missing", "drop-rows", "--json", "-",
                                        "--quiet"))
        self.assertEqual((model["classes"], model["n"]), ([1, 2], N - 1))
        words = {1: "control", 2: "case", 0: "NA"}
        self.write("y.txt", "IID what\n" + "".join(f"i{i} {words[c]}\n" for i, c in enumerate(cases)))
        other = json.loads(self.succeed("fit", "x.bed", "--loss", "binomial", "--missing", "drop-rows", "--response",
                                        "y.txt", "--json", "-", "--quiet"))
        self.assertEqual(other["classes"], ["case", "control"])
        self.assertAlmostEqual(other["primal"], model["primal"], delta=1e-6 * model["primal"])

    def test_faults(self):
        good = bed_bytes(self.columns)
        self.write_bed("x", self.columns, self.y)
        cases = [
            ("x.bed", good[:-1], "x.bed: expected 36 bytes of genotypes for 22 samples in .fam and 6 variants in "
                                 ".bim, got 35"),
            ("x.bed", good + b"\0", "got 37"),
            ("x.bed", b"\x6c\x1b\x00" + good[3:], "a PLINK .bed in the order of samples"),
            ("x.bed", b"chr1\t10\t20\n", "x.bed: expected a .bed of PLINK, which begins with the bytes 6c 1b 01"),
            ("x.bed", MAGIC, "x.bed: expected 36 bytes of genotypes"),
            ("x.bed", MAGIC[:2], "6c 1b 01"),
            ("x.bed", gzip.compress(good), "x.bed: expected a file that is not compressed"),
            ("x.bim", bim_text(5), "5 variants in .bim"),
            ("x.bim", bim_text(7), "7 variants in .bim"),
            ("x.bim", "1 rs0 0 5 A\n", "x.bim:1: expected chromosome, id, centimorgans, position and two alleles"),
            ("x.bim", "1 rs0 0 5 A G T\n", "x.bim:1: expected chromosome"),
            ("x.bim", "\n", "x.bim: expected a line for each variant, got none"),
            ("x.fam", fam_text(self.y[:-4]), "18 samples in .fam"),
            ("x.fam", fam_text([*self.y, 1]), "expected 36 bytes"),
            ("x.fam", "f i 0 0 1\n", "x.fam:1: expected family, person, father, mother, sex and phenotype"),
            ("x.fam", fam_text(["high", *self.y[1:]]), "x.fam:1: expected a number as phenotype, got 'high'"),
            ("x.fam", fam_text(["inf", *self.y[1:]]), "x.fam:1: expected a number as phenotype, got 'inf'"),
            ("x.fam", fam_text(self.y, [("f", "i")] * N), "x.fam:2: expected each sample once, got 'f i' as in line 1"),
        ]
        for name, contents, message in cases:
            with self.subTest(message=message):
                self.write_bed("x", self.columns, self.y)
                self.write(name, contents)
                if name == "x.fam" and message == "expected 36 bytes":  # 23 samples take as many bytes as 22
                    self.succeed("fit", "x.bed", "--quiet")
                    continue
                self.refused(message, "fit", "x.bed", "--model", "m.json")
                self.assertFalse((self.folder / "m.json").exists())
        self.write_bed("x", self.columns, self.y)
        for name in ("x.bed", "x.bim", "x.fam"):
            before = (self.folder / name).read_bytes()
            self.assertEqual(self.run_tyto("fit", "x.bed", "--model", name)[0], 2)
            self.assertEqual((self.folder / name).read_bytes(), before)
        self.refused("expected one .bed file, got several", "fit", "x.bed", "x.bed")
        self.refused("target: want --response FILE, of which it is a column", "fit", "x.bed", "--target", "bmi")
        self.refused("drop: want none for bed files", "fit", "x.bed", "--drop", "rs1_A")
        (self.folder / "x.fam").unlink()
        self.refused("x.fam: cannot open", "fit", "x.bed")

    def test_a_variant_without_genotypes(self):
        columns = [[None] * N, *self.columns[1:]]
        self.write_bed("x", columns, self.y)
        code, _, err = self.run_tyto("fit", "x.bed", "--strength", "0.001", "--model", "model.json")
        self.assertEqual(code, 0, err)
        self.assertIn("x.bed: 1 variant without any genotype, which count as 0", err)
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "x.bed"))


class Responses(Genotypes):
    def setUp(self):
        super().setUp()
        features, self.y = oracle.problem(N, P, seed=4)
        self.x = [[0.0 if (i + j) % 3 == 0 else x for j, x in enumerate(row)] for i, row in enumerate(features)]
        self.names = [f"c{j}" for j in range(P)]
        self.csv = self.write("all.csv", csv_text([[*row, y] for row, y in zip(self.x, self.y)], [*self.names, "y"]))
        self.write("y.txt", "".join(f"{y!r}\n" for y in self.y))
        self.write("y.npy", npy_bytes([[y] for y in self.y]))
        self.write("table.csv", csv_text([[repr(y), "word", y * y] for y in self.y], ["y", "text", "square"]))

    def test_every_format(self):
        want = oracle.dense(self.fit(self.csv))
        files = {
            "x.csv": csv_text(self.x, self.names), "bare.csv": csv_text(self.x), "x.mtx": mtx_text(self.x),
            "c.npy": npy_bytes(self.x), "f.npy": npy_bytes(self.x, fortran=True), "csr.npz": npz_bytes(self.x, "csr"),
            "csc.npz": npz_bytes(self.x, "csc"), "stored.npz": npz_bytes(self.x, "csc", zipfile.ZIP_STORED),
            "f.npy.gz": gzip.compress(npy_bytes(self.x, fortran=True)),
        }
        for name, contents in files.items():
            self.write(name, contents)
            for given in (("y.txt",), ("y.npy",), ("table.csv", "--target", "y"), ("table.csv", "--target", "0")):
                with self.subTest(name=name, given=given):
                    model = self.fit(name, "--response", *given)
                    self.assert_same(oracle.dense(model), want)
                    self.assertEqual(model["response_file"], given[0])
                    self.assertIn("the certificate holds",
                                  self.succeed("verify", "model.json", name, "--response", given[0]))
            self.refused("response: want the file that the model was fitted with", "verify", "model.json", name)
            lines = self.succeed("predict", "model.json", name, "--quiet").split()
            self.assert_same([float(x) for x in lines[1:]], oracle.predictions(model, self.x))
            self.assertIn("RMSE", self.run_tyto("predict", "model.json", name, "--response", "y.txt", "--output",
                                                "p.csv")[1])

    def test_stacked(self):
        self.write("1.npz", npz_bytes(self.x[:9], "csr"))
        self.write("2.npz", npz_bytes(self.x[9:], "csc"))
        self.assert_same(oracle.dense(self.fit("1.npz", "2.npz", "--response", "y.txt")),
                         oracle.dense(self.fit(self.csv)))

    def test_missing(self):
        lines = [repr(y) for y in self.y]
        lines[5] = "NA"
        self.write("holes.txt", "".join(line + "\n" for line in lines))
        kept = [i for i in range(N) if i != 5]
        self.write("kept.csv", csv_text([[*self.x[i], self.y[i]] for i in kept], [*self.names, "y"]))
        want = oracle.dense(self.fit("kept.csv"))
        for name, contents in (("f.npy", npy_bytes(self.x, fortran=True)), ("x.npz", npz_bytes(self.x, "csr")),
                               ("x.csv", csv_text(self.x, self.names))):
            self.write(name, contents)
            self.refused("holes.txt: missing value: 1 of 22 rows have no response, the first is row 5", "fit", name,
                         "--response", "holes.txt")
            self.assert_same(oracle.dense(self.fit(name, "--response", "holes.txt", "--missing", "drop-rows")), want)

    def test_in_place(self):
        """Every type that stays in the file; what is not finite is refused as in other files."""
        whole = [[(i * j) % 5 for j in range(P)] for i in range(N)]
        self.write("whole.csv", csv_text([[*map(float, row), y] for row, y in zip(whole, self.y)]))
        want = oracle.dense(self.fit("whole.csv"))
        flat = [whole[i][j] for j in range(P) for i in range(N)]
        for kind, code in (("<f8", "d"), ("<f4", "f"), ("|i1", "b"), ("|u1", "B"), ("<i2", "h"), ("<i4", "i")):
            header = f"{{'descr': '{kind}', 'fortran_order': True, 'shape': ({N}, {P}), }}"
            self.write("x.npy", array_bytes(header, struct.pack(f"<{len(flat)}{code}", *flat)))
            with self.subTest(kind=kind):
                self.assert_same(oracle.dense(self.fit("x.npy", "--response", "y.txt")), want)
                self.assertIn("the certificate holds",
                              self.succeed("verify", "model.json", "x.npy", "--response", "y.txt"))
        for bad, message in ((float("nan"), "x.npy: element [3, 2]: missing value"),
                             (float("inf"), "x.npy: element [3, 2]: expected a finite number, got inf")):
            flat[2 * N + 3] = bad
            header = f"{{'descr': '<f8', 'fortran_order': True, 'shape': ({N}, {P}), }}"
            self.write("x.npy", array_bytes(header, struct.pack(f"<{len(flat)}d", *flat)))
            self.refused(message, "fit", "x.npy", "--response", "y.txt")

    def test_faults(self):
        self.write("x.npz", npz_bytes(self.x, "csr"))
        whole = (self.folder / "x.npz").read_bytes()
        none = ("--response", "y.txt")
        self.refused("response: want a file with the response of x.npz (--response FILE), got none", "fit", "x.npz")
        self.refused("expected a file, got a folder", "fit", "x.npz", "--response", ".")
        self.refused("target: no column 'z' in table.csv", "fit", "x.npz", "--response", "table.csv", "--target", "z")
        self.refused("table.csv:2: column 'text': expected a number, got 'word'", "fit", "x.npz", "--response",
                     "table.csv", "--target", "text")
        self.write("short.txt", "1\n2\n")
        self.refused("short.txt: expected 22 rows as in the matrix, got 2", "fit", "x.npz", "--response", "short.txt")
        self.write("x.svm", "1 1:2\n2 1:3\n")
        self.refused("response: want none for libsvm files", "fit", "x.svm", *none)
        cases = [
            (whole[:len(whole) // 2], "x.npz"),
            (npz_bytes(self.x, "coo"), "expected csr or csc, got 'coo'"),
            (npz_bytes(self.x, "csr", data=lambda a: None), "expected a sparse matrix of scipy.sparse.save_npz"),
            (npz_bytes(self.x, "csr", shape=lambda a: a("<i8", [N, 2])), "expected numbers from 0 to 1, got"),
            (npz_bytes(self.x, "csr", shape=lambda a: a("<i8", [N, 2 ** 40])), "expected sizes up to"),
            (npz_bytes(self.x, "csr", shape=lambda a: a("<i8", [-1, P])), "x.npz: shape: expected numbers from 0"),
            (npz_bytes(self.x, "csr", shape=lambda a: a("<i8", [N])), "expected two dimensions, got 1"),
            (npz_bytes(self.x, "csr", indptr=lambda a: a("<i4", [0, 5])), "indptr: expected 23 numbers"),
            (npz_bytes(self.x, "csr", indptr=lambda a: a("<i4", [3] * 23)), "expected numbers that rise from 0"),
            (npz_bytes(self.x, "csr", indices=lambda a: a("<i4", [-1] * 88)), "indices: expected numbers from 0 to 5"),
            (npz_bytes(self.x, "csr", indices=lambda a: a("<f8", [0.0] * 88)), "expected whole numbers, got f8"),
            (npz_bytes(self.x, "csr", data=lambda a: a("<f8", [1.0] * 3)), "entries as indptr says, got 3"),
            (npz_bytes(self.x, "csr", data=lambda a: a("<f8", [float("nan")] * 88)), "expected a finite number, got nan"),
        ]
        for contents, message in cases:
            with self.subTest(message=message):
                self.write("x.npz", contents)
                self.refused(message, "fit", "x.npz", *none)
        damaged = bytearray(npz_bytes(self.x, "csr", zipfile.ZIP_STORED))
        damaged[damaged.index(struct.pack("<d", self.x[0][1]))] ^= 1  # a number that is as good as any
        self.write("x.npz", bytes(damaged))
        self.refused("x.npz: cannot decompress", "fit", "x.npz", *none)


class OtherKinds(Genotypes):
    def test_named(self):
        zipped = io.BytesIO()
        with zipfile.ZipFile(zipped, "w") as archive:
            archive.writestr("[Content_Types].xml", "<x/>")
        plain = io.BytesIO()
        with zipfile.ZipFile(plain, "w") as archive:
            archive.writestr("data.csv", "a,b\n1,2\n")
        kinds = [
            ("x.parquet", b"PAR1\x15\x04\x00", 'x.parquet: this is Parquet: read it in Python: tyto.open("x.parquet")'),
            ("x.feather", b"ARROW1\x00\x00", 'this is Arrow or Feather: read it in Python: tyto.open("x.feather")'),
            ("x.h5ad", b"\x89HDF\r\n\x1a\n\x00", 'this is HDF5, as .h5ad is: read it in Python: tyto.open("x.h5ad")'),
            ("x.pgen", b"\x6c\x1b\x10\x00", "this is PLINK 2's .pgen: plink2 --pfile x --make-bed --out x"),
            ("x.bgen", struct.pack("<IIII", 20, 20, 3, 4) + b"bgen" + b"\0" * 8,
             "this is BGEN: plink2 --bgen x.bgen ref-first --make-bed --out x"),
            ("x.vcf", b"##fileformat=VCFv4.2\n#CHROM\n", "this is VCF: plink2 --vcf x.vcf --make-bed --out x"),
            ("x.vcf.gz", gzip.compress(b"##fileformat=VCFv4.2\n#CHROM\n"), "this is VCF: plink2 --vcf x.vcf.gz"),
            ("x.xlsx", zipped.getvalue(), "this is an Excel workbook: save the table as CSV"),
            ("x.zip", plain.getvalue(), "this is a zip archive: unpack it"),
            ("x.csv", b"%PDF-1.7\n%\xe2\xe3\x01", "this is a PDF: save the table as CSV"),
            ("x.pkl", b"\x80\x04\x95\x00\x00", "this is a Python pickle: numpy.save writes .npy"),
        ]
        for name, contents, message in kinds:
            with self.subTest(name=name):
                self.write(name, contents)
                self.refused(message, "fit", name)
        (self.folder / "x.zarr").mkdir()
        self.write("x.zarr/.zgroup", "{}")
        self.refused('x.zarr: this is zarr: read it in Python: tyto.open("x.zarr")', "fit", "x.zarr")

    def test_text_that_begins_alike(self):
        self.write("x.csv", "PAR1,BCF,y\n1,2,3\n2,5,4\n4,1,6\n3,3,3\n")
        self.succeed("fit", "x.csv", "--quiet")


if __name__ == "__main__":
    unittest.main()
