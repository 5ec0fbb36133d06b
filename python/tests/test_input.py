"""Awkward input: the right answer, or a ValueError or TypeError in the words of a user."""
import decimal
import fractions
import inspect
import re
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse

import tyto
from tyto import OWL, OWLCV, OWLClassifier, OWLClassifierCV, SortedL1, plot

N, P = 24, 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, P))
Y = X[:, 0] - X[:, 1] + 0.1 * RNG.normal(size=N)
LABELS = np.where(Y > 0, "yes", "no")
COUNTS = np.round(np.exp(Y))
WEIGHTS = RNG.integers(1, 5, size=N).astype(float)
THINNED = sparse.csc_matrix(np.where(abs(X) > 0.5, X, 0))
BINDING = re.compile(r"incompatible function|nanobind|_core|ndarray\[|std::|nb::|invoked with|unable to convert|overload|Eigen", re.IGNORECASE)


def outcome(call):
    """The answer, or the error; fails where it is another kind of error, or speaks of the binding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (ValueError, TypeError) as error:
            assert not BINDING.search(str(error)), error
            return error


def unaligned(values):
    """The same numbers at an odd address."""
    found = np.empty(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape, order="F")
    found[...] = values
    return found


def with_parts(**parts):
    """The thinned matrix with other arrays inside, unchecked by SciPy."""
    matrix = THINNED.copy()
    for name, value in parts.items():
        setattr(matrix, name, value)
    return matrix


# The same numbers in other clothes.
CLOTHES = {
    "foreign byte order": lambda v: v.astype(v.dtype.newbyteorder()),
    "foreign byte order, by columns": lambda v: np.asfortranarray(v.astype(v.dtype.newbyteorder())),
    "longdouble": lambda v: v.astype(np.longdouble),
    "objects": lambda v: v.astype(object),
    "fractions": lambda v: np.array([fractions.Fraction(x) for x in v.ravel()], dtype=object).reshape(v.shape),
    "masked array without a mask": lambda v: np.ma.masked_array(v),
    "masked array with no entry masked": lambda v: np.ma.masked_array(v, np.zeros(v.shape, bool)),
    "backwards twice": lambda v: v[::-1].copy()[::-1],
    "strided": lambda v: np.repeat(v, 3, axis=0)[::3],
    "unaligned": unaligned,
    "subclass": lambda v: v.view(type("Mine", (np.ndarray,), {})),
    "list": lambda v: v.tolist(),
}


@pytest.mark.parametrize("clothes", CLOTHES)
@pytest.mark.parametrize("estimator", [OWL(alpha=0.05), OWL("bh", alpha=0.05, standardize=True), OWLCV(n_alphas=4, cv=3)])
def test_other_clothes_same_model(clothes, estimator):
    dress = CLOTHES[clothes]
    want = estimator.fit(np.asfortranarray(X), Y, sample_weight=WEIGHTS).coef_
    for case in ((dress(X), Y, WEIGHTS), (X, dress(Y), WEIGHTS), (X, Y, dress(WEIGHTS)), (np.asfortranarray(X), dress(Y), dress(WEIGHTS))):
        np.testing.assert_array_equal(estimator.fit(case[0], case[1], sample_weight=case[2]).coef_, want)
    np.testing.assert_allclose(estimator.predict(dress(X)), estimator.predict(X), rtol=1e-12)
    assert tyto.verify(estimator, dress(X), dress(Y), sample_weight=dress(WEIGHTS))
    np.testing.assert_array_equal(tyto.prox_sorted_l1(dress(Y), dress(np.sort(WEIGHTS)[::-1])), tyto.prox_sorted_l1(Y, np.sort(WEIGHTS)[::-1]))
    np.testing.assert_array_equal(OWL(dress(np.linspace(2, 1, P)), alpha=0.05).fit(X, Y).coef_, OWL(np.linspace(2, 1, P), alpha=0.05).fit(X, Y).coef_)


SPARSE = {
    "foreign values": with_parts(data=THINNED.data.astype(">f8")),
    "longdouble": with_parts(data=THINNED.data.astype(np.longdouble)),
    "64-bit indices": with_parts(indices=THINNED.indices.astype(np.int64), indptr=THINNED.indptr.astype(np.int64)),
    "mixed indices": with_parts(indices=THINNED.indices.astype(np.int64)),
    "16-bit indices": with_parts(indices=THINNED.indices.astype(np.int16)),
    "unsigned indices": with_parts(indices=THINNED.indices.astype(np.uint32), indptr=THINNED.indptr.astype(np.uint32)),
    "foreign indices": with_parts(indices=THINNED.indices.astype(">i4"), indptr=THINNED.indptr.astype(">i4")),
    "strided": with_parts(data=np.repeat(THINNED.data, 2)[::2], indices=np.repeat(THINNED.indices, 2)[::2]),
    "duplicates": sparse.csc_matrix((np.repeat(THINNED.data / 2, 2), np.repeat(THINNED.indices, 2), 2 * THINNED.indptr), shape=(N, P)),
    "too long": with_parts(data=np.append(THINNED.data, 7.0), indices=np.append(THINNED.indices, THINNED.indices[0])),
    **{kind: THINNED.asformat(kind) for kind in ("csr", "coo", "bsr", "lil", "dok", "dia")},
}


@pytest.mark.parametrize("kind", SPARSE)
def test_sparse_matrices_of_every_make(kind):
    want = OWL("bh", alpha=0.05).fit(THINNED, Y)
    model = OWL("bh", alpha=0.05).fit(SPARSE[kind], Y)
    np.testing.assert_allclose(model.coef_, want.coef_, atol=1e-12)
    np.testing.assert_allclose(model.predict(SPARSE[kind]), want.predict(THINNED), atol=1e-12)


def csr_with(name, place, value):
    matrix = THINNED.tocsr()
    getattr(matrix, name)[place] = value
    return matrix


@pytest.mark.parametrize("matrix", [
    with_parts(indices=np.where(THINNED.indices == 3, N, THINNED.indices)), with_parts(indices=np.where(THINNED.indices == 3, -1, THINNED.indices)),
    with_parts(indices=THINNED.indices.astype(float)), with_parts(indices=THINNED.indices[:-3]), with_parts(data=THINNED.data[:-3]),
    with_parts(data=THINNED.data[:, None]), with_parts(indptr=THINNED.indptr[:-1]), with_parts(indptr=np.append(THINNED.indptr, 10**6)),
    with_parts(indptr=THINNED.indptr[:0]), with_parts(indptr=THINNED.indptr + 1), with_parts(indptr=THINNED.indptr[::-1].copy()),
    csr_with("indices", 2, 99), csr_with("indices", 2, -7), csr_with("indptr", 2, 10**6), csr_with("indptr", 2, -5),
])
def test_broken_sparse_matrices(matrix):
    """SciPy would follow their indices out of its memory."""
    for call in (lambda: OWL(alpha=0.05).fit(matrix, Y), lambda: OWL(alpha=0.05).fit(X, Y).predict(matrix),
                 lambda: tyto.owl_path(X, Y, n_alphas=2).predict(matrix), lambda: tyto.alpha_max(matrix, Y)):
        with pytest.raises(ValueError, match="X: want"):
            call()


@pytest.mark.parametrize("y, error, message", [
    (Y.astype(str), TypeError, "y: want numbers, got an array of <U"),
    (np.array(["a", "b"] * 12, dtype=object), ValueError, "could not convert string to float"),
    (Y.astype("timedelta64[s]"), TypeError, "y: want numbers, got times"),
    ([np.ma.masked if v > 1 else v for v in Y], ValueError, r"y: want no masked entries, got \d+"),
    (np.ma.masked_array(Y, Y > 1), ValueError, r"y: want no masked entries, got \d+; fill them in, or drop their rows"),
    (Y.astype(np.longdouble) * np.longdouble("1e4000"), ValueError, "y: want numbers that float64 can hold"),
    ([10**400] * N, ValueError, "int too large"),
    (Y + 1j, ValueError, "Complex data not supported"),
    (np.where(Y > 1, np.inf, Y), ValueError, "infinity"),
    (Y[None], ValueError, "1d array"),
    (np.column_stack([Y, Y]), ValueError, "1d array"),
    (Y[:-1], ValueError, "inconsistent numbers of samples"),
    (None, ValueError, "y"),
    (sparse.csc_matrix(Y[:, None]), TypeError, "dense data is required"),
])
def test_no_y(y, error, message):
    for call in (lambda: OWL(alpha=0.1).fit(X, y), lambda: OWLCV(n_alphas=3, cv=3).fit(X, y), lambda: tyto.owl_path(X, y, n_alphas=3),
                 lambda: tyto.alpha_max(X, y), lambda: tyto.verify(OWL(alpha=0.1).fit(X, Y), X, y)):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("matrix, error, message", [
    (np.ma.masked_array(X, X > 1), ValueError, "X: want no masked entries"),
    ([np.ma.masked_array(row, row > 1) for row in X], ValueError, "X: want no masked entries"),
    (X + 0j, ValueError, "Complex data not supported"),
    ([[1, 2], [3]] * 12, ValueError, "inhomogeneous"),
    (X[None], ValueError, "dim 3"),
    (X[:, 0], ValueError, "Expected 2D array"),
    (X[:0], ValueError, "0 sample"),
    (X[:, :0], ValueError, r"0 feature\(s\)"),
    (X.astype("datetime64[s]"), TypeError, "X: want numbers, got times"),
    (np.where(X > 1.5, np.nan, X), ValueError, "NaN"),
    (X * 1e300, ValueError, "X: column 0: want finite numbers whose squares can be added"),
    (np.array([["a"] * P] * N, dtype=object), ValueError, "could not convert string"),
    (THINNED.astype(complex), ValueError, "Complex data not supported"),
    (THINNED * np.nan, ValueError, "NaN"),
])
def test_no_matrix(matrix, error, message):
    for call in (lambda: OWL(alpha=0.1).fit(matrix, Y), lambda: OWLCV(n_alphas=3, cv=3).fit(matrix, Y), lambda: tyto.owl_path(matrix, Y, n_alphas=3)):
        with pytest.raises(error, match=message):
            call()


def test_frames_of_every_type():
    pandas = pytest.importorskip("pandas")
    want = OWL(alpha=0.05).fit(X, Y).coef_
    frame = pandas.DataFrame(X, columns=list("abcde"))
    np.testing.assert_array_equal(OWL(alpha=0.05).fit(frame.astype("Float64"), pandas.Series(Y).astype("Float64")).coef_, want)
    mixed = pandas.DataFrame({"i": pandas.array(np.arange(N), dtype="Int64"), "b": Y > 0, "c": pandas.Categorical([1, 2] * 12), "f": Y})
    numbers = np.column_stack([np.arange(N), Y > 0, [1, 2] * 12, Y]).astype(float)
    np.testing.assert_array_equal(OWL(alpha=0.05).fit(mixed, Y).coef_, OWL(alpha=0.05).fit(numbers, Y).coef_)
    for wrong, message in ((frame.astype("Float64").mask(X > 1), "NaN"), (pandas.DataFrame({"a": ["u", "v"] * 12}), "could not convert string"),
                           (pandas.DataFrame({"a": pandas.Categorical(["u", "v"] * 12)}), "could not convert string"),
                           (pandas.DataFrame({"a": pandas.date_range("2020", periods=N)}), "X: want numbers, got times")):
        with pytest.raises((ValueError, TypeError), match=message):
            OWL().fit(wrong, Y)


class Short(OWL):
    def __init__(self, alpha=0.05):
        super().__init__("bh", alpha=alpha)


class Shorter(OWL):
    """Sets only what it takes: all else is as OWL has it."""

    def __init__(self, alpha=0.05):
        self.alpha = alpha


class Keywords(OWL):
    def __init__(self, **options):
        super().__init__(**options)


class ShortCV(OWLCV):
    def __init__(self, cv=3):
        self.cv = cv


def test_subclasses_with_a_shorter_init():
    for model, like in ((Short(), OWL("bh", alpha=0.05)), (Shorter(), OWL(alpha=0.05)), (Keywords(alpha=0.05), OWL(alpha=0.05)),
                        (ShortCV(), OWLCV(cv=3))):
        np.testing.assert_array_equal(model.fit(X, Y).coef_, like.fit(X, Y).coef_)
        assert tyto.verify(model, X, Y)
    np.testing.assert_array_equal(Short().path(X, Y, n_alphas=3).coefs, OWL("bh").path(X, Y, n_alphas=3).coefs)


@pytest.mark.parametrize("options, error, message", [
    ({"max_iter": 2**63}, ValueError, "max_iter: want a whole number up to 9223372036854775807"),
    ({"max_iter": 10.0}, TypeError, "max_iter: want a whole number, got 10.0"),
    ({"n_jobs": 2**31}, ValueError, "n_jobs: want a whole number up to"),
    ({"alpha": 10**400}, ValueError, "alpha: want a finite number > 0"),
    ({"alpha": decimal.Decimal(1)}, TypeError, "alpha: want a number"),
    ({"weights": []}, ValueError, "weights: want a name or numbers"),
    ({"weights": "\ud800"}, ValueError, "weights: want a word"),
    ({"weights": [[1.0] * P]}, ValueError, "weights: want a name or numbers, a vector"),
    ({"weights": np.ma.masked_array([1.0] * P, [1, 0, 0, 0, 0])}, ValueError, "weights: want"),
    ({"standardize": "yes"}, TypeError, "standardize: want True or False, got 'yes'"),
    ({"warm_start": 2}, TypeError, "warm_start: want True or False"),
    ({"solver": "a\nb"}, ValueError, "solver: want a word"),
])
def test_options(options, error, message):
    with pytest.raises(error, match=message):
        OWL(**options).fit(X, Y)


ODD = [None, True, np.True_, 0, -1, 1, 2, 0.5, -0.5, 1e-300, 1e300, 5e-324, np.inf, -np.inf, np.nan, 2**63, 2**64, -2**63, 10**400, "a", "", "\ud800",
       b"x", [], [0.5], [1, 2], (0.3,), {}, np.array(0.5), np.array([0.5]), np.float32(0.5), np.longdouble("1e4000"), np.int8(3),
       np.uint64(2**64 - 1), 1j, object(), np.datetime64("2020"), fractions.Fraction(1, 3), decimal.Decimal("0.5"), len, np.ma.masked, float,
       np.zeros((2, 2, 2)), [[1], [2, 3]], np.array(["a"]), {1}, iter([1]), X, Y, THINNED, slice(3)]


def parameters(call, *skipped):
    return [name for name in inspect.signature(call).parameters if name not in skipped]


@pytest.mark.parametrize("call, names, base", [
    (lambda **o: OWL(**o).fit(X, Y), parameters(OWL, "verbose"), {"alpha": 0.1, "max_iter": 50, "max_seconds": 1}),
    (lambda **o: OWLCV(**o).fit(X, Y), parameters(OWLCV, "verbose"), {"n_alphas": 3, "cv": 3, "max_iter": 50, "max_seconds": 2}),
    (lambda **o: tyto.owl_path(X, Y, **o), parameters(tyto.owl_path, "X", "y", "verbose"), {"n_alphas": 3, "max_iter": 50, "max_seconds": 2}),
    (lambda **o: tyto.alpha_max(X, Y, **o), parameters(tyto.alpha_max, "X", "y"), {}),
    (lambda **o: OWLClassifier(**o).fit(X, LABELS), parameters(OWLClassifier, "verbose"), {"max_iter": 50, "max_seconds": 1}),
    (lambda **o: OWLClassifierCV(**o).fit(X, LABELS), parameters(OWLClassifierCV, "verbose"), {"n_alphas": 3, "cv": 3, "max_iter": 50, "max_seconds": 2}),
    (lambda **o: OWLClassifier(alpha=0.1).fit(**o), ["X", "y", "sample_weight", "offset"], {"X": X, "y": LABELS}),
    (lambda **o: OWLClassifierCV(n_alphas=3, cv=3).fit(**o), ["X", "y", "sample_weight", "offset"], {"X": X, "y": LABELS}),
    (lambda **o: OWLClassifier().path(**o), ["X", "y", "sample_weight", "offset"], {"X": X, "y": LABELS, "n_alphas": 3}),
    (OWLClassifier(alpha=0.1).fit(X, LABELS).predict_proba, ["X", "offset"], {"X": X}),
    (OWLClassifier(alpha=0.1).fit(X, LABELS).decision_function, ["X", "offset"], {"X": X}),
    (lambda **o: OWL(loss="poisson", alpha=0.1, max_iter=50, max_seconds=1).fit(**o), ["X", "y", "sample_weight", "offset"], {"X": X, "y": COUNTS}),
    (tyto.owl_path, ["y", "loss"], {"X": X, "y": LABELS, "loss": "binomial", "n_alphas": 3}),
    (tyto.verify, ["model", "X", "y", "sample_weight", "offset"], {"model": OWLClassifier(alpha=0.1).fit(X, LABELS), "X": X, "y": LABELS}),
    (tyto.owl_path, ["X", "y"], {"X": X, "y": Y, "n_alphas": 3}),
    (tyto.alpha_max, ["X", "y"], {"X": X, "y": Y}),
    (tyto.verify, ["model", "X", "y", "sample_weight"], {"model": OWL(alpha=0.1).fit(X, Y), "X": X, "y": Y}),
    (lambda **o: OWL(alpha=0.1).fit(**o), ["X", "y", "sample_weight"], {"X": X, "y": Y}),
    (lambda **o: OWLCV(n_alphas=3, cv=3).fit(**o), ["X", "y", "sample_weight"], {"X": X, "y": Y}),
    (OWL(alpha=0.1).fit(X, Y).predict, ["X"], {}),
    (OWL(alpha=0.1).fit(X, Y).cluster_table, ["X", "sample_weight"], {"X": X}),
    (OWLCV(n_alphas=3, cv=3).fit(X, Y).with_choice, ["choose"], {}),
    (tyto.owl_path(X, Y, n_alphas=3).predict, ["X"], {}),
    (tyto.owl_path(X, Y, n_alphas=3).choose, ["criterion"], {}),
    (tyto.prox_sorted_l1, ["v", "weights", "step", "q", "slope", "out"], {"v": Y, "weights": "bh"}),
    (tyto.prox_sorted_l1, ["v", "weights", "step", "q", "slope", "out"], {"v": Y, "weights": 1.0}),
    (tyto.sorted_l1_norm, ["v", "weights", "q", "slope"], {"v": Y, "weights": "oscar"}),
    (tyto.dual_sorted_l1_norm, ["v", "weights", "q", "slope"], {"v": Y, "weights": "oscar"}),
    (tyto.owl_weights, ["name", "n_features", "q", "slope", "n_samples"], {"name": "gaussian", "n_features": 5, "n_samples": 9}),
    (tyto.owl_weights, ["name", "n_features", "q", "slope", "n_samples"], {"name": "oscar", "n_features": 5}),
    (SortedL1, ["weights"], {}),
    (SortedL1([2.0, 1.0]), ["v"], {}),
    (SortedL1([2.0, 1.0]).dual, ["v"], {}),
    (SortedL1([2.0, 1.0]).prox, ["v", "step", "out"], {"v": [1.0, 2.0]}),
])
def test_odd_arguments(call, names, base):
    for name in names:
        for value in ODD:
            outcome(lambda: call(**{**base, name: value}))


@pytest.mark.parametrize("function, model", [
    (plot.path, tyto.owl_path(X, Y, n_alphas=4)), (plot.path, OWLCV(n_alphas=4, cv=3).fit(X, Y)), (plot.clusters, OWL(alpha=0.1).fit(X, Y)),
    (plot.convergence, OWL(alpha=0.1).fit(X, Y)), (plot.cv, OWLCV(n_alphas=4, cv=3).fit(X, Y)),
])
def test_odd_arguments_of_pictures(function, model):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, ax = pyplot.subplots()
    first, *names = parameters(function, "ax")
    for value in ODD:
        error = outcome(lambda: function(value, ax=ax))
        assert isinstance(error, TypeError) and "want a " in str(error)
        for name in names:
            outcome(lambda: function(model, ax=ax, **{name: value}))
    pyplot.close(figure)


SCRIBBLES = [np.nan, np.inf, -np.inf, 0.0, 1e308, 1e-320, -1.0]


def scribble_while(fit, values, seconds=1.0):
    """Runs fits while another thread writes what it likes into the data that they borrow."""
    stop = threading.Event()

    def scribble():
        rng = np.random.default_rng(0)
        clean = values.copy()
        while not stop.is_set():
            values[rng.integers(0, len(values), 50)] = rng.choice(SCRIBBLES, 50)
            values[:] = clean

    thread = threading.Thread(target=scribble)
    thread.start()
    timer = threading.Timer(seconds, stop.set)
    timer.start()
    fits = 0
    while not stop.is_set():
        outcome(fit)
        fits += 1
    thread.join()
    timer.join()
    return fits


@pytest.mark.parametrize("solver", ["newton", "apgd", "spgd"])
@pytest.mark.parametrize("storage", ["dense", "float32", "sparse"])
def test_data_that_change_during_a_fit(storage, solver):
    """The answer may be wrong, but nothing is read or written outside of memory (for the address sanitizer: docs/python.md says more)."""
    rng = np.random.default_rng(1)
    data = np.asfortranarray(rng.normal(size=(100, 300)), dtype=np.float32 if storage == "float32" else np.float64)
    y = data[:, :10].sum(axis=1) + rng.normal(size=100)
    if storage == "sparse":
        data = sparse.csc_matrix(np.where(abs(data) > 1, data, 0))
    values = data.data if storage == "sparse" else data.reshape(-1, order="F")
    assert np.shares_memory(values, data.data if storage == "sparse" else data)
    options = dict(solver=solver, max_iter=200, max_seconds=1)

    def fit():
        OWL("bh", alpha=0.05, relative=True, standardize=True, gamma=0.5, **options).fit(data, y)
        tyto.owl_path(data, y, n_alphas=10, eps=0.05, **options)
        OWLCV(n_alphas=5, eps=0.1, cv=3, n_jobs=2, **options).fit(data, y)

    assert scribble_while(fit, values) >= 1
