"""OWL regression (SLOPE, OSCAR, lasso, L-infinity) with safe screening, and a certificate for every answer."""
from . import _core, plot as plot  # a module of the package, not a name of it
from ._classifiers import OWLClassifier, OWLClassifierCV
from ._clusters import Cluster
from ._convert import convert
from ._estimators import OWL, OWLCV
from ._files import load
from ._functions import SortedL1, alpha_max, dual_sorted_l1_norm, owl_weights, prox_sorted_l1, sorted_l1_norm
from ._matrix import Data, Matrix
from ._open import open
from ._path import Path, owl_path
from ._solve import Certificate, ChoiceWarning, Relaxation
from ._verify import Verification, verify

__version__: str = _core.version()
__all__ = ["OWL", "OWLCV", "OWLClassifier", "OWLClassifierCV", "Certificate", "ChoiceWarning", "Cluster", "Data", "Matrix", "Path", "Relaxation", "SortedL1", "Verification", "alpha_max", "convert", "dual_sorted_l1_norm",
           "load", "open", "owl_path", "owl_weights", "prox_sorted_l1", "sorted_l1_norm", "verify"]
