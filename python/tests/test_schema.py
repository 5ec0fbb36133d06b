"""docs/schema/tyto.schema.json: what the program and the package write is as it says, and what is damaged is not."""
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tyto import OWL, OWLClassifier

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "schema" / "tyto.schema.json").read_text())
PROGRAM = os.environ.get("TYTO_PROGRAM")
rng = np.random.default_rng(5)
X = rng.standard_normal((50, 6))
Y = X[:, :2] @ [1.0, -1.0] + 0.2 * rng.standard_normal(50)


@pytest.fixture(scope="module")
def check():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


def test_models_of_python(check, tmp_path):
    for model, y in ((OWL(weights="bh", alpha=0.1, gamma=0.5), Y), (OWLClassifier(alpha=0.1), np.where(Y > 0, "a", "b"))):
        model.fit(X, y).save(tmp_path / "m.json")
        check.validate(json.loads((tmp_path / "m.json").read_text()))


@pytest.mark.skipif(not PROGRAM, reason="no TYTO_PROGRAM")
def test_files_of_the_program(check, tmp_path):
    words = rng.choice(["red", "green", "blue"], 50)
    rows = [[*map(repr, map(float, row)), word, repr(float(y))] for row, word, y in zip(X, words, Y)]
    rows[3][1] = "NA"
    (tmp_path / "d.csv").write_text("\n".join(",".join(row) for row in [["a", "b", "c", "d", "e", "f", "colour", "y"], *rows]) + "\n")
    data = ["d.csv", "--target", "y", "--missing", "mean", "--one-hot", "colour", "--quiet"]
    calls = [["fit", *data, "--model", "model.json", "--json", "fit.json"],
             ["fit", *data, "--gamma", "0.5", "--weights", "bh", "--sigma", "estimate", "--model", "noise.json"],
             ["path", *data, "--steps", "5", "--choose", "bic,aic", "--model", "path.json", "--json", "path-fit.json"],
             ["cv", *data, "--steps", "8", "--folds", "3", "--q", "0.1,0.2", "--weights", "bh", "--model", "cv.json", "--json", "cv-fit.json"],
             ["coef", "cv.json", "--quiet", "--json", "coef.json"],
             ["predict", "cv.json", "d.csv", "--output", "p.csv", "--quiet", "--json", "prediction.json"],
             ["verify", "model.json", "d.csv", "--quiet", "--json", "verification.json"],
             ["verify", "path.json", "d.csv", "--quiet", "--json", "path-verification.json"]]
    for call in calls:
        done = subprocess.run([PROGRAM, *call], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode in (0, 1), (call, done.stderr)
    found = set()
    for file in sorted(tmp_path.glob("*.json")):
        document = json.loads(file.read_text())
        check.validate(document)
        found.add(document["format"])
        for field in ("format", *(["coefficients"] if "coefficients" in document else ["fits"] if "fits" in document else [])):
            assert not check.is_valid({name: value for name, value in document.items() if name != field}), (file.name, field)
    assert found == {part["allOf"][-1]["properties"]["format"]["const"] for part in SCHEMA["oneOf"]}
