"""Pictures, with matplotlib: each function draws one, on ``ax`` or on new axes, and returns the axes."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.isotonic import isotonic_regression

from . import _solve

_QUIET = "0.75"  # the colour of what has no name, or stands for itself
_POINTS = 8  # the size of names


def _axes(ax: Any, height: float | None = None) -> Any:
    """``height``: of a new figure, in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot: want the package matplotlib; pip install matplotlib") from error
    return plt.subplots(layout="constrained", figsize=None if height is None else (6.4, height))[1]


def _need(model: Any, attribute: str, wish: str) -> Any:
    if not hasattr(model, attribute):
        raise TypeError(f"model: want {wish}, got {model!r}")
    return model


def _of_classes(model: Any, names: list[str], count: int) -> list[str]:
    """The names of `count` coefficients: of several classes, with that."""
    if count == len(names):
        return names
    classes = getattr(model, "classes_", range(count // len(names)))
    return [f"{name} ({label})" for label in classes for name in names]


def _names(model: Any, names: Sequence[str] | None, p: int) -> list[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(p)]
    if isinstance(names, (str, bytes)) or not np.iterable(names) or len(list(names)) != p:
        raise _solve.want("names", f"{p} names, one for each feature", names)
    return [str(name) for name in names]


def _listed(names: list[str], letters: int = 30) -> str:
    """As many names as there is room for, at least one, and how many more there are."""
    text = names[0] if len(names[0]) <= letters else names[0][:letters - 3] + "..."
    shown = 1
    while shown < len(names) and len(text) + 2 + len(names[shown]) <= letters:
        text += ", " + names[shown]
        shown += 1
    return text + (f" + {len(names) - shown} more" if shown < len(names) else "")


def _measure(scale: Any) -> str:
    return "coefficient" if scale is None else "coefficient x standard deviation"


def _inches(ax: Any) -> float:
    return ax.get_position().height * ax.figure.get_size_inches()[1]


def _spread(places: np.ndarray, gap: float) -> np.ndarray:
    """Places in [0, 1] moved as little as possible, in squares, to be `gap` apart and in the same order."""
    order = np.argsort(places, kind="stable")
    before = gap * np.arange(len(places))
    found = np.empty(len(places))
    found[order] = before + isotonic_regression(places[order] - before, y_min=0, y_max=max(0, 1 - gap * (len(places) - 1)))
    return found


def _write_at_the_end(ax: Any, values: list[float], texts: list[str], colours: list[str]) -> None:
    """Names beside the right ends of lines, none above another."""
    low, high = ax.get_ylim()
    places = _spread((np.array(values) - low) / (high - low), 1.3 * _POINTS / 72 / _inches(ax))
    for value, place, text, colour in zip(values, places, texts, colours):
        ax.annotate(text, xy=(1, (value - low) / (high - low)), xytext=(1.03, place), xycoords="axes fraction", va="center", color=colour,
                    fontsize=_POINTS, annotation_clip=False, arrowprops=dict(arrowstyle="-", color=colour, lw=0.6, shrinkA=0, shrinkB=0))


def _families(source: Any, largest: np.ndarray) -> list[np.ndarray]:
    """Features that end as one cluster, with one sign, so that their lines end as one; those that were largest on the way first."""
    last = source.coefs_sparse[:, [-1]].toarray().ravel()
    together = [columns[last[columns] * sign > 0] for columns in source.clusters[-1] for sign in (1, -1)]
    found = [columns for columns in together if len(columns)]
    known = np.concatenate([*found, np.zeros(0, dtype=int)]).astype(int)
    others = np.setdiff1d(np.flatnonzero(largest > 0), known)
    found += [np.array([column]) for column in others]
    return sorted(found, key=lambda columns: -largest[columns].max())


def path(path: Any, *, ax: Any = None, names: Sequence[str] | None = None, most: int = 100, labels: int = 10) -> Any:
    """Coefficients against alpha, of a `Path` or an `OWLCV`, on the scale on which they are penalised: where ``standardize=True``, times
    the standard deviation of their column. There, features that are one cluster run as one line.

    ``most`` features are drawn, the largest ones. ``labels`` lines, the largest ones, have a colour and the names of their features
    at their end.
    """
    source = _need(getattr(path, "path_", path), "coefs_sparse", "a Path or a fitted OWLCV")
    most, labels = _solve.whole("most", most, 0), _solve.whole("labels", labels, 0)
    coefs = source.coefs_sparse.tocsr()
    features = coefs.shape[0] // (len(source.intercepts) if source.intercepts.ndim == 2 else 1)
    names = _of_classes(path, _names(path, names, features), coefs.shape[0])
    ax = _axes(ax)
    scale = np.ones(coefs.shape[0]) if source.scale is None else np.tile(source.scale, coefs.shape[0] // features)
    largest = abs(coefs).max(axis=1).toarray().ravel() * scale
    drawn = np.argsort(-largest, kind="stable")[:min(most, int((largest > 0).sum()))]
    room = int(_inches(ax) * 72 / (1.3 * _POINTS))
    ends = []
    for rank, columns in enumerate(_families(source, largest)):
        named = rank < min(labels, room)
        colour = f"C{rank % 10}" if named or labels == 0 else _QUIET
        columns = columns[np.isin(columns, drawn)]
        for column in columns:
            values = coefs[[column]].toarray().ravel() * scale[column]
            ax.plot(source.alphas, values, lw=1.4 if named else 1.0, color=colour, zorder=2 if named else 1.5)
        if named and len(columns):
            ends.append((values[-1], _listed([names[j] for j in columns]), colour))
    if len(source.alphas) > 1:
        ax.set_xscale("log")
        ax.set_xlim(source.alphas.max(), source.alphas.min())
    ax.axhline(0, color="0.7", lw=0.8, zorder=0)
    ax.set(xlabel="alpha (weaker penalty to the right)", ylabel=_measure(source.scale), title="Path")
    if ends:
        _write_at_the_end(ax, *map(list, zip(*ends)))
    if path is not source:
        ax.axvline(path.alpha_, color="0.4", ls="--", lw=1)
    return ax


def clusters(model: Any, *, ax: Any = None, names: Sequence[str] | None = None, X: Any = None, most: int = 40) -> Any:
    """The clusters of a fitted `OWL` or `OWLCV`, a row for each, the largest magnitude on top: one bar for its features with a
    coefficient above 0, one for those below. The scale is that on which they are penalised, as for `path`.

    ``most`` clusters are drawn; those of one feature are grey. With X, the data that was fitted, the mean ``|r|`` within each cluster
    stands beside it, and those that tie by coincidence (below 0.5) are orange.
    """
    _need(model, "clusters_", "a fitted OWL or OWLCV")
    most = _solve.whole("most", most, 0)
    names = _of_classes(model, _names(model, names, model.n_features_in_), model._coefficients().size)
    table = None if X is None else model.cluster_table(X)
    drawn, coefs = model.clusters_[:most], model._penalized_scale()
    new = ax is None
    ax = _axes(ax, max(2.0, 1.0 + 0.21 * len(drawn)))
    for place, columns in enumerate(drawn):
        single = len(columns) == 1
        colour = _QUIET if single else "C1" if table is not None and table[place].coincidental else "C0"
        for values in (coefs[columns][coefs[columns] > 0], coefs[columns][coefs[columns] < 0]):
            if len(values):
                ax.barh(place, values[0], color=colour, height=0.75)
        if table is not None and not single:
            ax.annotate(f"|r| {table[place].mean_correlation:.2f}", (max(coefs[columns].max(), 0), place), (3, 0), textcoords="offset points",
                        va="center", fontsize=_POINTS)
    points = _POINTS if new else float(np.clip(_inches(ax) * 72 / max(1, len(drawn)) / 1.3, 4, _POINTS))
    signed = [[("-" if coefs[j] < 0 else "") + names[j] for j in columns] for columns in drawn]
    ax.set_yticks(np.arange(len(drawn)), [_listed(members) for members in signed], fontsize=points)
    ax.set_ylim(len(drawn) - 0.4, -0.6)
    ax.axvline(0, color="0.7", lw=0.8)
    left = len(model.clusters_) - len(drawn)
    ax.set(xlabel=_measure(model.scale_), title=f"{sum(map(len, model.clusters_))} features in {len(model.clusters_)} clusters"
           + (f" ({len(drawn)} shown)" if left else ""))
    ax.margins(x=0.12)
    return ax


def convergence(model: Any, *, ax: Any = None) -> Any:
    """The duality gap against time, and on a second axis how many features were not yet proved zero."""
    trace = _need(model, "trace_", "a fitted OWL or OWLCV").trace_
    ax = _axes(ax)
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
    _need(model, "cv_error_", "a fitted OWLCV")
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
    ax.set(xlabel="alpha (weaker penalty to the right)", ylabel=f"{model.scoring_} of rows held out", title="Cross-validation")
    ax.legend(fontsize="small", frameon=False)
    return ax
