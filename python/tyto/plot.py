"""Pictures, with matplotlib: each function draws one, on ``ax`` or on new axes, and returns the axes."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot: want the package matplotlib; pip install matplotlib") from error
    return plt.subplots(layout="constrained")[1]


def _names(model: Any, names: Sequence[str] | None, columns: np.ndarray) -> list[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" if names is None else str(names[j]) for j in columns]


def path(path: Any, *, ax: Any = None, names: Sequence[str] | None = None, most: int = 100, labels: int = 10) -> Any:
    """Coefficients against alpha, of a `Path` or an `OWLCV`. Features that are one cluster run as one line.

    ``most`` features are drawn, the largest ones; ``labels`` of them are named.
    """
    ax = _axes(ax)
    source = getattr(path, "path_", path)
    coefs = source.coefs_sparse.tocsr()
    largest = np.asarray(abs(coefs).max(axis=1).todense()).ravel()
    drawn = np.argsort(-largest, kind="stable")[:min(most, int((largest > 0).sum()))]
    for rank, (column, name) in enumerate(zip(drawn, _names(path, names, drawn))):
        ax.plot(source.alphas, coefs[column].toarray().ravel(), lw=1.2, label=name if rank < labels else None)
    if len(source.alphas) > 1:
        ax.set_xscale("log")
        ax.invert_xaxis()
    ax.axhline(0, color="0.7", lw=0.8, zorder=0)
    ax.set(xlabel="alpha (weaker penalty to the right)", ylabel="coefficient", title="Path")
    if len(drawn) and labels:
        ax.legend(fontsize="small", frameon=False)
    if path is not source:
        ax.axvline(path.alpha_, color="0.4", ls="--", lw=1)
    return ax


def clusters(model: Any, *, ax: Any = None, names: Sequence[str] | None = None, most: int = 60) -> Any:
    """The non-zero coefficients of a fitted `OWL` or `OWLCV`, cluster by cluster, each cluster in its colour."""
    ax = _axes(ax)
    place, shown = 0, []
    for number, columns in enumerate(model.clusters_):
        columns = columns[:most - place]
        if len(columns) == 0:
            break
        ax.bar(np.arange(place, place + len(columns)), model.coef_[columns], color=f"C{number % 10}",
               label=f"{len(model.clusters_[number])} features" if len(model.clusters_[number]) > 1 else None)
        shown += list(columns)
        place += len(columns)
    ax.set_xticks(np.arange(len(shown)), _names(model, names, np.array(shown, dtype=int)), rotation=90, fontsize="small")
    ax.axhline(0, color="0.7", lw=0.8)
    left = sum(len(columns) for columns in model.clusters_) - place
    ax.set(ylabel="coefficient", title=f"{len(model.clusters_)} clusters" + (f"; {left} smaller coefficients not shown" if left else ""))
    if any(len(columns) > 1 for columns in model.clusters_):
        ax.legend(fontsize="small", frameon=False, title="clusters of")
    return ax


def convergence(model: Any, *, ax: Any = None) -> Any:
    """The duality gap against time, and on a second axis how many features were not yet proved zero."""
    ax = _axes(ax)
    trace = model.trace_
    milliseconds = 1e3 * trace["seconds"]
    ax.plot(milliseconds, np.maximum(trace["gap"], np.finfo(float).tiny), "o-", ms=3, color="C0")
    ax.axhline(model.certificate_.tolerance * model.certificate_.primal, color="C0", ls=":", lw=1)
    ax.set_yscale("log")
    ax.set(xlabel="milliseconds", title=f"Duality gap and screening: {model.certificate_.status}")
    ax.set_ylabel("duality gap (dotted: tol times the objective)", color="C0")
    other = ax.twinx()
    other.step(milliseconds, trace["active"], where="post", color="C1")
    other.set_ylim(0, 1.05 * max(1, max(trace["active"])))
    other.set_ylabel("features not proved zero", color="C1")
    return ax


def cv(model: Any, *, ax: Any = None) -> Any:
    """The error of an `OWLCV` against alpha, with one standard error around it, the best alpha and the one-standard-error one."""
    ax = _axes(ax)
    alphas, error, width = model.path_.alphas, model.cv_error_, model.cv_standard_error_
    ax.fill_between(alphas, error - width, error + width, color="C0", alpha=0.2, lw=0)
    ax.plot(alphas, error, color="C0")
    for index, name, style in ((model.best_index_, "best", "-"), (model.one_se_index_, "one standard error", "--")):
        ax.axvline(alphas[index], color="0.4", ls=style, lw=1,
                   label=f"{name}: alpha {alphas[index]:.3g}, {model.path_.n_nonzero[index]} features")
    if len(alphas) > 1:
        ax.set_xscale("log")
        ax.invert_xaxis()
    ax.set(xlabel="alpha (weaker penalty to the right)", ylabel=f"{model.scoring} of rows held out", title="Cross-validation")
    ax.legend(fontsize="small", frameon=False)
    return ax
