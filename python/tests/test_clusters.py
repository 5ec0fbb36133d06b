"""Correlations within clusters."""
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import tyto
from tyto import OWL, OWLCV, _clusters
from support import grouped


def correlations(X, columns, weights=None):
    r = abs(np.corrcoef(X[:, columns].T) if weights is None else weighted(X[:, columns], weights))
    return r[np.triu_indices(len(columns), 1)]


def weighted(X, weights):
    covariance = np.cov(X.T, aweights=weights, ddof=0)
    return covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_matrix, sparse.csr_matrix])
@pytest.mark.parametrize("rows", [1 << 14, 16])
def test_table(storage, rows, monkeypatch):
    monkeypatch.setattr(_clusters, "ROWS", rows)
    X, y, group = grouped(80, 30, noise=3)
    X = X * np.exp(np.random.default_rng(0).normal(size=30)) + 5
    X[:, 1] *= -1
    weights = np.random.default_rng(1).integers(1, 4, size=80).astype(float)
    for given in (None, weights):
        model = OWL("oscar", alpha=0.05, relative=True, slope=30, standardize=True).fit(storage(X), y, sample_weight=given)
        table = model.cluster_table(storage(X), sample_weight=given)
        assert len(table) == len(model.clusters_) > 1 and any(cluster.size > 1 for cluster in table)
        for cluster, columns in zip(table, model.clusters_):
            np.testing.assert_array_equal(cluster.columns, columns)
            assert cluster.members == [f"x{j}" for j in columns] and cluster.size == len(columns)
            np.testing.assert_allclose(model.coef_[columns] * model.scale_[columns], cluster.signs * cluster.coefficient, rtol=1e-12)
            if cluster.size == 1:
                assert np.isnan(cluster.mean_correlation) and not cluster.coincidental
                continue
            r = correlations(X, columns, given)
            np.testing.assert_allclose([cluster.mean_correlation, cluster.min_correlation], [r.mean(), r.min()], rtol=1e-9)
            assert cluster.coincidental == (r.mean() < 0.5)


def test_groups_and_coincidences():
    """Equal columns are a cluster; unrelated ones become one where the weights are steep, and are called so."""
    X, y, group = grouped(200, 30)
    alike = OWL("oscar", alpha=0.3, relative=True).fit(X, y).cluster_table(X)
    assert alike[0].columns.tolist() == group.tolist() and alike[0].min_correlation > 0.9 and not alike[0].coincidental
    independent = np.random.default_rng(0).normal(size=(200, 6))
    steep = OWL("oscar", alpha=0.5, relative=True, slope=1000).fit(independent, independent[:, :5].sum(axis=1)).cluster_table(independent)
    assert steep[0].size > 1 and steep[0].coincidental


def test_large_clusters_constants_and_names():
    pandas = pytest.importorskip("pandas")
    columns = _clusters.compared(np.arange(2000)[::-1])
    assert len(columns) == 500 and columns[0] == 0 and columns[-1] == 1999 and (np.diff(columns) > 0).all()
    X = np.zeros((10, 2))
    X[:, 1] = np.arange(10)
    assert _clusters.correlation(X, np.arange(2), None) == (0, 0)
    assert _clusters.correlation(1e200 * X[:, [1, 1]] - 1e199, np.arange(2), None) == pytest.approx((1, 1))
    X, y, _ = grouped(50, 4)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = OWLCV("oscar", n_alphas=10, slope=5).fit(frame, y)
    table = pandas.DataFrame(model.cluster_table(frame))
    assert table["members"][0] == [list("abcd")[j] for j in model.clusters_[0]]
    with pytest.raises(ValueError, match="feature names should match"):
        model.cluster_table(frame[list("abc")])
    with pytest.raises(ValueError, match="NaN"):
        model.cluster_table(frame * np.nan)
    with pytest.raises(NotFittedError):
        OWL().cluster_table(X)


def test_scale():
    X, y, _ = grouped(50, 6)
    X = X * np.arange(1, 7)
    model = OWL(alpha=0.1, standardize=True, unpenalized=[2]).fit(X, y)
    want = X.std(axis=0)
    want[2] = 1
    np.testing.assert_allclose(model.scale_, want)
    np.testing.assert_allclose(tyto.owl_path(X, y, standardize=True, unpenalized=[2], n_alphas=3).scale, want)
    assert OWL(alpha=0.1).fit(X, y).scale_ is None and tyto.owl_path(X, y, n_alphas=3).scale is None
