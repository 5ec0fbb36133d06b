"""Model files: those of the command line, written and read."""
from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _solve

if TYPE_CHECKING:
    from ._classifiers import OWLClassifier
    from ._estimators import OWL

FORMATS = ("tyto-model-1", "tyto-fit-1", "tyto-path-model-1", "tyto-path-1", "tyto-cv-model-1", "tyto-cv-1")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Writes a fitted model as ``tyto fit --model`` does, as a whole or not at all."""
    text = json.dumps(document(model), allow_nan=False, indent=1)
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=target.name, suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def document(model: Any) -> dict[str, Any]:
    """The fields that docs/cli.md lists. Objective and alpha count all rows, as on the command line, not their mean."""
    params, size = model._params(), model._size
    coef, certificate = model._coefficients(), model.certificate_
    p, intercepts = model.n_features_in_, [float(value) for value in np.ravel(model.intercept_)]
    places = np.flatnonzero(coef)  # of several classes, those of one class after the other
    places = places[np.lexsort((places // p, places % p))]
    columns = places % p
    cluster = np.full(len(coef), -1)
    for k, members in enumerate(model.clusters_):
        cluster[members] = k
    given = not isinstance(params["weights"], str)
    names = getattr(model, "feature_names_in_", None)
    fields: dict[str, Any] = {
        "format": "tyto-model-1", "n": model._rows, "p": p,
        "weights": "given" if given else params["weights"],
        "q": float(getattr(model, "q_", params["q"])), "slope": float(getattr(model, "slope_", params["slope"])),
        "loss": model._loss(), "fit_intercept": bool(params["fit_intercept"]), "standardize": bool(params["standardize"]),
        "unpenalized": [int(column) for column in model._unpenalized], "ridge": float(params["ridge"]) * size,
        "nonnegative": bool(params["positive"]),
        "weights_column": "", "weights_file": "sample_weight" if model._weighted else "", "target": "", "dropped": [],
        "missing": "refuse", "response": "",
        "solver": "newton" if params["solver"] == "auto" else params["solver"], "screening": params["screening"],
        "tolerance": certificate.tolerance, "alpha": model.alpha_ * size, "status": certificate.status,
        "primal": certificate.primal * size, "dual": certificate.dual * size, "gap": certificate.gap * size,
        "rounding": certificate.rounding * size, "relative_gap": certificate.relative_gap,
        "nonzeros": len(places), "clusters": len(model.clusters_), "intercept": intercepts if len(intercepts) > 1 else intercepts[0],
        "coefficients": [[int(k % p), float(coef[k])] for k in places], "cluster_of": [int(cluster[k]) for k in places],
        "names": [] if names is None else [str(names[j]) for j in columns], "warnings": [],
        "python": {"class": type(model).__name__, "size": float(size), "alpha_max": float(model.alpha_max_),
                   "scale": None if model.scale_ is None else [float(model.scale_[j]) for j in columns],
                   "feature_names": None if names is None else [str(name) for name in names]}}
    if len(intercepts) > 1:
        fields["class_of"] = [int(k // p) for k in places]
    if given:
        fields["weight_values"] = [float(weight) for weight in params["weights"]]
    if params["loss"] == "huber":
        fields["huber_delta"] = float(params["huber_delta"])
    if model._has_offset:
        fields["offset_file"] = "offset"
    if params["loss"] == "cox":
        fields["event_file"] = "event"
    if hasattr(model, "classes_"):
        fields["classes"] = _labels(model.classes_)
    if model.relaxation_ is not None:
        ends = model.relaxation_
        fields.update(gamma=ends.gamma, penalized_intercept=ends.penalized_intercept, relaxed_intercept=ends.relaxed_intercept,
                      penalized=[float(ends.penalized_coef[j]) for j in columns], relaxed=[float(ends.relaxed_coef[j]) for j in columns])
    return fields


def _labels(classes: np.ndarray) -> list[Any]:
    """Numbers, or words."""
    if classes.dtype.kind in "iufb":
        return [float(label) if classes.dtype.kind == "f" else int(label) for label in classes]
    return [str(label) for label in classes]


def load(path: str | os.PathLike[str], step: int | None = None) -> OWL | OWLClassifier:
    """A fitted `OWL` or `OWLClassifier` from a model file, of Python or of the command line.

    Of a cross-validation, the best model; ``step`` names another one, and one of a path. Columns are found by position: files of the command
    line name only those with a coefficient.
    """
    try:
        fields = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: expected a tyto model (JSON): {error}") from None
    if not isinstance(fields, dict) or fields.get("format") not in FORMATS:
        found = fields.get("format") if isinstance(fields, dict) else fields
        raise ValueError(f"{path}: expected format {_solve.listed(list(FORMATS))}, got {str(found)[:40]!r}")
    try:
        return _model(_one(fields, step, path))
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path}: damaged model: {type(error).__name__}: {error}") from None


def _one(fields: dict[str, Any], step: int | None, path: Any) -> dict[str, Any]:
    if "fits" not in fields:
        return fields
    fits = fields["fits"]
    if step is None and "best" in fields:
        step = fields["best"]["step"]
    if step is None:
        raise ValueError(f"step: want a number from 0 to {len(fits) - 1}, as {path} holds a path, got None")
    return {**fits[_solve.whole("step", step, 0, len(fits) - 1)], **{name: value for name, value in fields.items() if name != "fits"}}


def _model(fields: dict[str, Any]) -> OWL | OWLClassifier:
    from ._classifiers import OWLClassifier
    from ._estimators import OWL
    ours = fields.get("python", {})
    size, p = float(ours.get("size", fields["n"])), int(fields["p"])
    loss = fields.get("loss", "gaussian")
    params = {"weights": np.array(fields["weight_values"]) if "weight_values" in fields else fields["weights"],
              "alpha": fields["alpha"] / size, "q": fields["q"], "slope": fields.get("slope", 1.0), "loss": loss,
              "fit_intercept": fields["fit_intercept"], "standardize": fields["standardize"], "ridge": fields.get("ridge", 0.0) / size,
              "positive": fields.get("nonnegative", False), "unpenalized": fields.get("unpenalized") or None,
              "tol": fields["tolerance"], "solver": fields["solver"], "screening": fields["screening"]}
    if "classes" in fields:
        model: Any = OWLClassifier(**params)
        model.classes_ = np.array(fields["classes"])
    else:
        model = OWL(**params, gamma=fields.get("gamma"), huber_delta=fields.get("huber_delta", 1.35))
    entries = fields["coefficients"]
    columns, values = [column for column, _ in entries], [value for _, value in entries]
    of_class = np.array(fields.get("class_of", [0] * len(entries)), dtype=int)
    answer = {"columns": of_class * p + np.array(columns, dtype=int), "values": np.array(values), "intercepts": np.atleast_1d(fields["intercept"]),
              "clusters": np.array(fields["cluster_of"], dtype=int)}
    if "gamma" in fields:
        answer["relaxation"] = {name: fields[name] for name in ("gamma", "penalized", "relaxed", "penalized_intercept", "relaxed_intercept")}
    model.n_features_in_ = p
    if ours.get("feature_names"):
        model.feature_names_in_ = np.array(ours["feature_names"], dtype=object)
    model._set_coefficients(_solve.coefficients(answer, p), answer["intercepts"].astype(float))
    model.clusters_, model.relaxation_ = _solve.clusters(answer), _solve.relaxation(answer, p)
    model.certificate_ = _solve.certificate({**fields, "rounding": fields.get("rounding", 0.0)}, size, fields["tolerance"])
    model.dual_gap_, model.alpha_, model.scale_ = model.certificate_.gap, fields["alpha"] / size, None
    model.alpha_max_ = float(ours.get("alpha_max", np.nan))
    if ours.get("scale") is not None:  # of the others nothing depends on it
        model.scale_ = np.ones(p)
        model.scale_[columns] = ours["scale"]
    model._keep_setting(size, int(fields["n"]), fields.get("unpenalized") or [], bool(fields.get("weights_file") or fields.get("weights_column")),
                        bool(fields.get("offset_file") or fields.get("offset_column")))
    return model
