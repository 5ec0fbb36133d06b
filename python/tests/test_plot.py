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


def test_path():
    X, y, group = grouped(60, 20)
    path = tyto.owl_path(X, y, n_alphas=20)
    ax = path.plot(names=[f"gene {j}" for j in range(20)], labels=4)
    assert ax.get_legend().get_texts()[0].get_text().startswith("gene ")
    lines = [line for line in ax.lines if len(line.get_xdata()) == 20]
    assert len(lines) == (abs(path.coefs).max(axis=1) > 0).sum()
    np.testing.assert_allclose(max(abs(line.get_ydata()).max() for line in lines), abs(path.coefs).max())
    figure, mine = matplotlib.pyplot.subplots()
    assert plot.path(path, ax=mine, most=3) is mine


def test_clusters_convergence_cv():
    X, y, group = grouped(60, 20)
    model = tyto.OWLCV("oscar", n_alphas=20).fit(X, y)
    bars = plot.clusters(model).patches
    assert len(bars) == np.count_nonzero(model.coef_)
    assert {bar.get_height() for bar in bars} == set(model.coef_[model.coef_ != 0])
    assert len(plot.clusters(model, most=2).patches) == 2
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
