"""A virtual environment with the peers, made once; a peer that cannot be had is left out and said so."""
import json
import os
import pathlib
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = pathlib.Path(os.environ.get("TYTO_PEERS_ENV", ROOT / "build" / "peers-env")).resolve()
NEEDED = ["numpy"]
WANTED = ["scipy", "scikit-learn", "sortedl1", "skglm", "celer", "matplotlib"]
# One thread for everybody: CPU seconds of one thread are what is compared.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                     "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS")}
VERSIONS = ("import importlib.metadata as m, json, sys; "
            "print(json.dumps({d.metadata['Name'].lower(): d.version for d in m.distributions()}))")


def install(python, packages):
    command = [python, "-m", "pip", "install", "--quiet", "--prefer-binary", "--disable-pip-version-check"]
    return subprocess.run(command + packages).returncode == 0


def make():
    print(f"making {FOLDER} (once)", flush=True)
    venv.create(FOLDER, with_pip=True, clear=True)
    python = str(FOLDER / "bin" / "python")
    if not install(python, NEEDED + WANTED):  # one of them cannot be had: take the others
        if not all([install(python, [package]) for package in NEEDED]):
            sys.exit("pip could not install " + ", ".join(NEEDED))
        for package in WANTED:
            if not install(python, [package]):
                print(f"left out: {package} could not be installed", flush=True)
    versions = json.loads(subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True, check=True).stdout)
    (FOLDER / "versions.json").write_text(json.dumps(versions, indent=1))  # last: a half-made one is made again


def versions():
    return json.loads((FOLDER / "versions.json").read_text())


def enter():
    """Starts the program again inside the environment, unless it is there already."""
    if pathlib.Path(sys.prefix).resolve() == FOLDER:
        return
    if not (FOLDER / "versions.json").exists():
        make()
    python = str(FOLDER / "bin" / "python")
    os.execve(python, [python] + sys.argv, {**os.environ, **ONE_THREAD})
