"""Where the real data sets are, and which column of theirs is the response."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = pathlib.Path(os.environ.get("TYTO_DATA", ROOT.parent / "shared" / "data"))

# name: files, and the response: None for the label of LIBSVM, a column's name, or -1 for the last of a file without names
REAL = {
    "prostate": (["data.csv.xz"], "y"),
    "abalone-libslope": (["data.csv.xz"], "y"),
    "eyedata": (["data.csv.xz"], "y"),
    "tecator": (["data.csv.xz"], "y"),
    "diabetes-lars": (["data.csv.xz"], "y"),
    "colon-cancer": (["data.svm.xz"], None),
    "permeability": (["data.csv.xz"], "y"),
    "slice-part": (["data.csv.xz"], "reference"),
    "leukemia": (["data.svm.xz"], None),
    "riboflavin": (["data.csv.xz"], "y"),
    "duke": (["data.svm.xz"], None),
    "ujiindoorloc": (["trainingData.csv.xz", "validationData.csv.xz"], "LONGITUDE"),
    "blogfeedback": (["blogData_train.csv.xz"], -1),
}
