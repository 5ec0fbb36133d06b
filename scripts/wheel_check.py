"""Whether an installed package works: a fit in Python, the program beside it, and that both agree. python wheel_check.py [FOLDER with data.csv]"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import tyto

rng = np.random.default_rng(1)
X = rng.standard_normal((80, 20))
y = X[:, :3] @ [2.0, 2.0, -1.0] + 0.1 * rng.standard_normal(80)
model = tyto.OWL(weights="bh", alpha=0.1, relative=True, standardize=True).fit(X, y)
assert model.certificate_.converged and model.score(X, y) > 0.8, model.certificate_
folder = Path(tyto.__file__).parent
print(f"tyto {tyto.__version__}: {np.count_nonzero(model.coef_)} of 20 coefficients, relative gap {model.certificate_.relative_gap:.2g}")

program = Path(sys.executable).parent / "tyto"
if len(sys.argv) > 1 and (program.exists() or shutil.which("tyto")):
    here = Path(sys.argv[1])
    said = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split()[1] == tyto.__version__, said
    table = np.genfromtxt(here / "data.csv", delimiter=",", names=True)
    names = [name for name in table.dtype.names if name != "y"]
    fitted = json.loads((here / "model.json").read_text())
    data = np.column_stack([table[name] for name in names])
    ours = tyto.OWL(alpha=0.1, relative=True, standardize=True).fit(data, table["y"])
    theirs = np.zeros(data.shape[1])
    for column, value in fitted["coefficients"]:
        theirs[column] = value
    assert np.allclose(ours.coef_, theirs, atol=1e-4 * abs(theirs).max()), (ours.coef_, theirs)
    print("the program and the package agree")
