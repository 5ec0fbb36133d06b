"""The same problem in every format, compressed, in pieces, with holes: same answer, and a certificate that holds."""
import bz2
import gzip
import json
import lzma
import unittest

import oracle
from support import TytoTest, csv_text, libsvm_text, mtx_text, npy_bytes

N, P = 20, 5
NAMES = [f"c{j}" for j in range(P)]
FEATURES, RESPONSE = oracle.problem(N, P, seed=3)
FEATURES = [[0.0 if (i + j) % 4 == 0 else x for j, x in enumerate(row)] for i, row in enumerate(FEATURES)]
TABLE = [[*row, y] for row, y in zip(FEATURES, RESPONSE)]
CSV = csv_text(TABLE, [*NAMES, "y"])
LINES = "".join(f"{y!r}\n" for y in RESPONSE)


class Files(TytoTest):
    want = None  # the coefficients, fitted once

    def setUp(self):
        super().setUp()
        self.write("reference.csv", CSV)
        if Files.want is None:
            Files.want = oracle.dense(self.fit("reference.csv"))

    def fit(self, *args):
        out = self.succeed("fit", *args, "--model", "model.json", "--json", "-", "--tolerance", "1e-10", "--quiet")
        return json.loads(out)

    def assert_same(self, got, want):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertAlmostEqual(a, b, delta=1e-8 * (1 + abs(b)))

    def round_trip(self, files, args=()):
        """Fits, predicts and verifies; the coefficients have to be those of the plain CSV file."""
        result = self.fit(*files, *args)
        self.assert_same(oracle.dense(result), self.want)
        lines = self.succeed("predict", "model.json", *files, "--quiet").split()
        self.assert_same([float(line) for line in lines[1:]], oracle.predictions(result, FEATURES))
        beside = [word for option, word in zip(args, args[1:]) if option == "--target" and not word.isdigit()]
        given = ["--target", *beside] if beside else []  # no file is opened that only the model names
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", *files, *given))
        return result

    def test_formats(self):
        self.write("y.txt", LINES)
        self.write("y.npy", npy_bytes([[y] for y in RESPONSE]))
        rows = [
            ("a", csv_text(TABLE), ("--format", "csv")),
            ("a.tsv", CSV.replace(",", "\t"), ()),
            ("a.txt", CSV.replace(",", ";").replace("\n", "\r\n"), ()),
            ("a", libsvm_text(FEATURES, RESPONSE), ()),
            ("a.npy", npy_bytes(TABLE), ()),
            ("b.npy", npy_bytes(FEATURES, fortran=True), ("--target", "y.txt")),
            ("c.npy", npy_bytes(FEATURES), ("--target", "y.npy")),
            ("a.mtx", mtx_text(FEATURES), ("--target", "y.txt")),
        ]
        for name, contents, args in rows:
            with self.subTest(name=name):
                self.round_trip([self.write(name, contents)], args)

    def test_compressed(self):
        svm = libsvm_text(FEATURES, RESPONSE).encode()
        for name, contents in (("a.csv.gz", gzip.compress(CSV.encode())), ("a.svm.bz2", bz2.compress(svm)),
                               ("a.npy.xz", lzma.compress(npy_bytes(TABLE))), ("a.csv", gzip.compress(CSV.encode()))):
            with self.subTest(name=name):
                self.round_trip([self.write(name, contents)])
        self.write("a.mtx.gz", gzip.compress(mtx_text(FEATURES).encode()))
        self.write("y.txt.gz", gzip.compress(LINES.encode()))
        self.round_trip(["a.mtx.gz"], ["--target", "y.txt.gz"])

    def test_stacked(self):
        self.write("1.csv", csv_text(TABLE[:7], [*NAMES, "y"]))
        self.write("2.csv.gz", gzip.compress(csv_text(TABLE[7:8], [*NAMES, "y"]).encode()))
        self.write("3.csv", csv_text(TABLE[8:], [*NAMES, "y"]))
        self.round_trip(["1.csv", "2.csv.gz", "3.csv"])
        self.write("1.svm", libsvm_text(FEATURES[:9], RESPONSE[:9]))
        self.write("2.svm", libsvm_text(FEATURES[9:], RESPONSE[9:]))
        self.round_trip(["1.svm", "2.svm"])

    def test_target_and_dropped_columns(self):
        rows = [[y, "x y", *row[:2], 99.0, *row[2:]] for row, y in zip(FEATURES, RESPONSE)]
        self.write("d.csv", csv_text(rows, ["y", "id", *NAMES[:2], "junk", *NAMES[2:]]))
        for target, drop in (("y", "id,junk"), ("0", "1,4")):
            result = self.round_trip(["d.csv"], ["--target", target, "--drop", drop])
            self.assertEqual(result["names"], [NAMES[column] for column, _ in result["coefficients"]])

    def test_target_by_number_in_a_file_without_names(self):
        rows = [[*row[:2], y, *row[2:]] for row, y in zip(FEATURES, RESPONSE)]
        self.write("d.csv", csv_text(rows))
        self.round_trip(["d.csv"], ["--target", "2"])
        self.write("d.npy", npy_bytes(rows))
        self.round_trip(["d.npy"], ["--target", "2"])

    def test_rows_with_missing_values(self):
        first = TABLE[0]
        holes = [["NA", *first[1:]], first, [*first[:-1], ""], *TABLE[1:], [*first[:2], "nan", *first[3:]]]
        self.write("d.csv", csv_text(holes, [*NAMES, "y"]))
        result = self.fit("d.csv", "--missing", "drop-rows")
        self.assertEqual(result["n"], N)
        self.assert_same(oracle.dense(result), self.want)
        self.succeed("verify", "model.json", "d.csv", "--missing", "drop-rows")

    def test_new_matrix_after_a_target_file(self):
        """The file beside the old matrix is not the response of a new one."""
        self.write("y.txt", LINES)
        for name, contents in (("new.npy", npy_bytes(FEATURES[:3])), ("new.mtx", mtx_text(FEATURES[:3]))):
            old = self.write("old" + name[3:], npy_bytes(FEATURES) if "npy" in name else mtx_text(FEATURES))
            result = self.fit(old, "--target", "y.txt")
            self.write(name, contents)
            code, out, err = self.run_tyto("predict", "model.json", name)
            self.assertEqual((code, err), (0, ""))
            self.assert_same([float(x) for x in out.split()[1:]], oracle.predictions(result, FEATURES[:3]))

    def test_standard_input(self):
        out = self.succeed("fit", "/dev/stdin", "--format", "csv", "--json", "-", "--tolerance", "1e-10", stdin=CSV)
        self.assert_same(oracle.dense(json.loads(out)), self.want)

    def test_results_replace_files_and_keep_links(self):
        self.write("real.json", "old")
        (self.folder / "link.json").symlink_to("real.json")
        self.succeed("fit", "reference.csv", "--model", "link.json")
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.assertEqual(json.loads(self.read("real.json"))["n"], N)
        self.assertEqual([path.name for path in self.folder.iterdir() if "tmp" in path.name], [])


if __name__ == "__main__":
    unittest.main()
