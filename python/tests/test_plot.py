"""Every picture is one call that returns its axes."""
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import tyto  # noqa: E402
from support import grouped  # noqa: E402
from tyto import plot  # noqa: E402


@pytest.fixture(autouse=True)
def close():
    import matplotlib.pyplot as plt
    yield
    plt.close("all")


def curves(ax, steps):
    """The lines of coefficients, not those of the axes."""
    return [line for line in ax.lines if len(line.get_xdata()) == steps]


def in_units(n, p, **options):
    """Groups whose columns have units of their own."""
    X, y, group = grouped(n, p, **options)
    return X * np.geomspace(1e-3, 1e3, p), y, group


def test_path():
    X, y, group = grouped(60, 20)
    path = tyto.owl_path(X, y, n_alphas=20)
    ax = path.plot(names=[f"gene {j}" for j in range(20)], labels=4)
    assert len(ax.texts) == 4 and all(text.get_text().startswith("gene ") for text in ax.texts)
    lines = curves(ax, 20)
    assert len(lines) == (abs(path.coefs).max(axis=1) > 0).sum()
    np.testing.assert_allclose(max(abs(line.get_ydata()).max() for line in lines), abs(path.coefs).max())
    figure, mine = matplotlib.pyplot.subplots()
    assert plot.path(path, ax=mine, most=3) is mine


def test_a_group_runs_as_one_line_whatever_its_units():
    X, y, group = in_units(60, 20)
    path = tyto.owl_path(X, y, weights="oscar", standardize=True, n_alphas=20)
    tied = [any(np.isin(group, cluster).all() for cluster in clusters) for clusters in path.clusters]
    assert sum(tied) > 5
    lines = np.array([line.get_ydata() for line in curves(plot.path(path), 20)])
    first = lines[np.isclose(lines[:, tied], (path.coefs * path.scale[:, None])[group[0], tied], rtol=1e-9).all(axis=1)]
    assert len(first) == len(group) and np.ptp(path.coefs[group][:, tied], axis=0).min() > 0
    assert "standard deviation" in plot.path(path).get_ylabel()


def test_names_of_a_frame():
    pandas = pytest.importorskip("pandas")
    X, y, group = grouped(60, 20)
    frame = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(20)])
    path, model = tyto.owl_path(frame, y, n_alphas=20), tyto.OWLCV(n_alphas=20).fit(frame, y)
    for what in (path, model, model.path_):
        assert "gene 0" in " ".join(text.get_text() for text in plot.path(what).texts)
    assert "gene 0" in " ".join(text.get_text() for text in plot.clusters(model).get_yticklabels())


def test_a_hundred_features():
    X, y, _ = in_units(200, 100)
    rng = np.random.default_rng(1)
    y = y + (X / X.std(axis=0)) @ rng.normal(size=100)
    path = tyto.owl_path(X, y, weights="lasso", standardize=True)
    ax = plot.path(path, labels=30)
    places = np.sort([text.get_position()[1] for text in ax.texts])
    height = ax.figure.get_size_inches()[1] * ax.get_position().height * 72
    assert len(places) > 5 and np.diff(places).min() * height >= 8  # the names are that high
    model = tyto.OWL("lasso", alpha=0.001, relative=True, standardize=True).fit(X, y)
    assert len(model.clusters_) > 90
    ax = plot.clusters(model, X=X)
    rows = len(ax.get_yticklabels())
    assert rows == 40 and "(40 shown)" in ax.get_title()
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().height / ax.figure.dpi * 72 / rows >= 8
    bars = np.array([bar.get_width() for bar in ax.patches])
    np.testing.assert_allclose(np.sort(abs(bars)), np.sort(abs(model.coef_ * model.scale_))[-40:])
    assert len(plot.clusters(model, most=100).get_yticklabels()) == len(model.clusters_)


def test_clusters_convergence_cv():
    X, y, group = in_units(60, 20)
    model = tyto.OWLCV("oscar", n_alphas=20, standardize=True).fit(X, y)
    standardized = model.coef_ * model.scale_
    signs = [set(np.sign(standardized[columns])) for columns in model.clusters_]
    bars = plot.clusters(model).patches
    assert len(bars) == sum(map(len, signs))
    assert {round(abs(bar.get_width()), 9) for bar in bars} == {round(x, 9) for x in abs(standardized[standardized != 0])}
    assert len(plot.clusters(model, most=2).patches) == sum(map(len, signs[:2]))
    texts = [text.get_text() for text in plot.clusters(model, X=X).texts]
    assert texts == [f"|r| {row.mean_correlation:.2f}" for row in model.cluster_table(X) if row.size > 1] != []
    ax = plot.convergence(tyto.OWL("bh", alpha=0.1, relative=True).fit(X, y))
    assert ax.get_yscale() == "log"
    np.testing.assert_array_equal(plot.cv(model).lines[0].get_ydata(), model.cv_error_)
    assert plot.path(model) is not None


def test_empty_models():
    X, y, _ = grouped(30, 5)
    empty = tyto.OWL(alpha=2, relative=True).fit(X, y)
    assert len(plot.clusters(empty).patches) == 0
    plot.convergence(empty)
    tyto.owl_path(X, y, n_alphas=1).plot()
