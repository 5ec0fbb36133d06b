"""scripts/get-data.sh against a server of our own: whole files or none, broken downloads go on, wrong contents are refused."""
import bz2
import hashlib
import http.server
import io
import lzma
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
import zipfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "get-data.sh"
DATA = Path(os.environ.get("TYTO_DATA", SCRIPT.parents[2] / "shared" / "data"))
SLICE_URL = "/206/relative+location+of+ct+slices+on+axial+axis.zip"


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves `files`, from a byte on where asked; `cut` gives so many bytes of the next answer and hangs up."""

    def do_GET(self):
        server = self.server
        server.requests.append((self.path, self.headers.get("Range")))
        body = server.files.get(self.path)
        if body is None:
            return self.send_error(404)
        start = 0
        if server.ranges and self.headers.get("Range"):
            start = int(self.headers["Range"].split("=")[1].split("-")[0])
            if start >= len(body):
                return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        end = len(body)
        if server.cuts:
            end = min(end, start + server.cuts.pop(0))
        self.wfile.write(body[start:end])
        self.close_connection = True

    def log_message(self, *_):
        pass


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)
    return out.getvalue()


def digest(contents):
    return hashlib.sha256(contents).hexdigest()


def slice_table(rows=53500, columns=386):
    header = ",".join(["patientId"] + [f"value{k}" for k in range(columns - 2)] + ["reference"])
    return (header + "\n" + (",".join(["0"] * columns) + "\n") * rows).encode()


class Hashes(unittest.TestCase):
    @unittest.skipUnless((DATA / "duke").is_dir(), "needs the real data sets in TYTO_DATA")
    def test_they_are_those_of_the_sets_at_hand(self):
        listing = [line.split() for line in SCRIPT.read_text().splitlines() if len(line.split()) == 2 and len(line.split()[0]) == 64]
        self.assertEqual(len(listing), 5)
        for value, path in listing:
            plain, packed = DATA / path, DATA / (path + ".xz")
            contents = plain.read_bytes() if plain.exists() else lzma.decompress(packed.read_bytes())
            self.assertEqual(digest(contents), value, path)


@unittest.skipUnless(all(map(shutil.which, ("bash", "curl", "unzip", "bzip2"))), "needs curl, unzip and bzip2")
class GetData(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tyto-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.data = self.folder / "data"
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.files, self.server.requests, self.server.cuts, self.server.ranges = {}, [], [], True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.contents = {
            "duke/data.svm": os.urandom(40_000),
            "colon-cancer/data.svm": b"1 1:2\n-1 2:1\n",
            "ujiindoorloc/trainingData.csv": b"WAP001,LONGITUDE\n1,2\n",
            "ujiindoorloc/validationData.csv": b"WAP001,LONGITUDE\n3,4\n",
            "blogfeedback/blogData_train.csv": b"1.0,2.0\n",
        }
        uji = {f"UJIndoorLoc/{name}": self.contents[f"ujiindoorloc/{name}"]
               for name in ("trainingData.csv", "validationData.csv")}
        self.server.files = {
            "/duke.bz2": bz2.compress(self.contents["duke/data.svm"]),
            "/colon-cancer.bz2": bz2.compress(self.contents["colon-cancer/data.svm"]),
            "/310/ujiindoorloc.zip": zipped(uji),
            "/304/blogfeedback.zip": zipped({"BlogFeedback.zip": zipped(
                {"blogData_test.csv": b"9\n", "blogData_train.csv": self.contents["blogfeedback/blogData_train.csv"]})}),
        }
        self.hashes = {path: digest(contents) for path, contents in self.contents.items()}

    def run_script(self, *args, tools=None):
        listing = self.folder / "hashes"
        listing.write_text("".join(f"{value}  {path}\n" for path, value in self.hashes.items()))
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        environment = {**os.environ, "TYTO_LIBSVM_URL": url, "TYTO_UCI_URL": url, "TYTO_DATA_HASHES": str(listing),
                       "no_proxy": "127.0.0.1"}
        if tools is not None:
            environment["PATH"] = str(tools)
        done = subprocess.run([shutil.which("bash"), str(SCRIPT), *args], capture_output=True, text=True, env=environment,
                              timeout=300)
        return done.returncode, done.stdout, done.stderr

    def fetch(self, *sets):
        return self.run_script(str(self.data), *sets)

    def files(self):
        return sorted(str(path.relative_to(self.data)) for path in self.data.rglob("*")
                      if path.is_file() and path.name != "SHA256SUMS")

    def test_all_small_sets(self):
        code, out, err = self.fetch("duke", "colon-cancer", "ujiindoorloc", "blogfeedback")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.files(), sorted(self.contents))
        for path, contents in self.contents.items():
            self.assertEqual((self.data / path).read_bytes(), contents, path)
        asked = len(self.server.requests)
        code, out, err = self.fetch("duke", "colon-cancer", "ujiindoorloc", "blogfeedback")
        self.assertEqual((code, err, out.count("already there")), (0, "", 5))
        self.assertEqual(len(self.server.requests), asked)

    def test_a_cut_download_goes_on_where_it_was(self):
        self.server.cuts = [10_000]
        code, out, err = self.fetch("duke")
        self.assertEqual(code, 0, err)
        self.assertEqual([asked for _, asked in self.server.requests], [None, "bytes=10000-"])
        self.assertEqual((self.data / "duke/data.svm").read_bytes(), self.contents["duke/data.svm"])

    def test_it_goes_on_in_another_call(self):
        (self.data / ".download").mkdir(parents=True)
        whole = self.server.files["/duke.bz2"]
        (self.data / ".download/duke.bz2.part").write_bytes(whole[:5000])
        self.assertEqual(self.fetch("duke")[0], 0)
        self.assertEqual(self.server.requests, [("/duke.bz2", "bytes=5000-")])
        self.assertEqual(self.files(), ["duke/data.svm"])

    def test_a_part_that_is_wrong_or_whole_is_fetched_anew(self):
        for part in (b"x" * 5000, self.server.files["/duke.bz2"]):
            shutil.rmtree(self.data, ignore_errors=True)
            (self.data / ".download").mkdir(parents=True)
            (self.data / ".download/duke.bz2.part").write_bytes(part)
            code, _, err = self.fetch("duke")
            self.assertEqual(code, 0, err)
            self.assertEqual((self.data / "duke/data.svm").read_bytes(), self.contents["duke/data.svm"])

    def test_a_server_without_ranges(self):
        self.server.ranges = False
        (self.data / ".download").mkdir(parents=True)
        (self.data / ".download/duke.bz2.part").write_bytes(self.server.files["/duke.bz2"][:5000])
        code, _, err = self.fetch("duke")
        self.assertEqual(code, 0, err)
        self.assertEqual((self.data / "duke/data.svm").read_bytes(), self.contents["duke/data.svm"])

    def test_a_part_outlives_a_server_that_is_gone(self):
        (self.data / ".download").mkdir(parents=True)
        part = self.data / ".download/duke.bz2.part"
        part.write_bytes(self.server.files["/duke.bz2"][:5000])
        self.server.shutdown()
        self.server.server_close()
        code, _, err = self.fetch("duke")
        self.assertNotEqual(code, 0)
        self.assertIn("cannot fetch", err)
        self.assertEqual(part.stat().st_size, 5000)

    def test_a_folder_that_cannot_be_made_is_a_failure(self):
        self.data.mkdir(parents=True, exist_ok=True)
        (self.data / "duke").write_text("a file, not a folder")
        code, out, err = self.fetch("duke")
        self.assertNotEqual(code, 0)
        self.assertNotIn("done", out)
        self.assertFalse((self.data / "SHA256SUMS").exists())

    def test_a_truncated_archive_leaves_nothing(self):
        self.server.files["/duke.bz2"] = self.server.files["/duke.bz2"][:20_000]
        code, _, err = self.fetch("duke", "colon-cancer")
        self.assertEqual(code, 1)
        self.assertIn("the archive is broken", err)
        self.assertIn("not there: duke;", err)
        self.assertEqual(self.files(), ["colon-cancer/data.svm"])  # the others are fetched all the same

    def test_wrong_contents_are_refused(self):
        self.hashes["duke/data.svm"] = digest(b"something else")
        code, _, err = self.fetch("duke")
        self.assertEqual(code, 1)
        self.assertIn("duke/data.svm: want contents with SHA-256 " + digest(b"something else"), err)
        self.assertEqual(self.files(), [])

    def test_a_file_that_was_changed_is_replaced(self):
        self.assertEqual(self.fetch("colon-cancer")[0], 0)
        (self.data / "colon-cancer/data.svm").write_bytes(b"1 1:3\n")
        self.assertEqual(self.fetch("colon-cancer")[0], 0)
        self.assertEqual((self.data / "colon-cancer/data.svm").read_bytes(), self.contents["colon-cancer/data.svm"])

    def test_a_server_without_the_file(self):
        del self.server.files["/duke.bz2"]
        code, _, err = self.fetch("duke")
        self.assertEqual(code, 1)
        self.assertIn("/duke.bz2: cannot fetch", err)
        self.assertEqual(self.files(), [])

    def test_slice_by_its_shape_and_then_by_its_first_hash(self):
        table = slice_table()
        self.server.files[SLICE_URL] = zipped({"slice_localization_data.csv": table})
        code, _, err = self.fetch("slice")
        self.assertEqual(code, 0, err)
        line = f"{digest(table)}  slice/slice_localization_data.csv\n"
        self.assertEqual((self.data / "SHA256SUMS").read_text(), line)
        (self.data / "slice/slice_localization_data.csv").unlink()
        self.server.files[SLICE_URL] = zipped({"slice_localization_data.csv": table.replace(b"0,0,0,0,", b"1,0,0,0,", 1)})
        code, _, err = self.fetch("slice")
        self.assertEqual(code, 1)
        self.assertIn("want contents with SHA-256 " + digest(table), err)
        self.assertEqual(self.files(), [])

    def test_slice_of_another_shape(self):
        for table, got in ((slice_table(rows=682), "682 rows"), (slice_table(rows=53500, columns=385), "385 columns")):
            self.server.files[SLICE_URL] = zipped({"slice_localization_data.csv": table})
            code, _, err = self.fetch("slice")
            self.assertEqual(code, 1)
            self.assertIn(got, err)
            self.assertEqual(self.files(), [])

    def test_mistakes(self):
        for args, words in (((), "want a folder"), (("--help",), "want a folder"), ((str(self.data), "iris"), "got 'iris'")):
            code, out, err = self.run_script(*args)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(words, err)
        self.assertFalse(self.data.exists())

    def test_missing_tools_are_named(self):
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("bash", "awk", "cat", "mkdir", "bzip2"):
            (tools / name).symlink_to(shutil.which(name))
        code, _, err = self.run_script(str(self.data), tools=tools)
        self.assertEqual(code, 2)
        self.assertIn("apt-get install curl unzip", err)
        self.assertFalse(self.data.exists())


if __name__ == "__main__":
    unittest.main()
