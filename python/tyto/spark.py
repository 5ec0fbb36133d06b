"""OWL regression as an Estimator of Spark ML, in two passes over a DataFrame (docs/scale.md).

Rows reach Python by Arrow (``mapInArrow``); there is no code for the JVM. Of the losses, squared error, binomial and poisson are there. ``pip install tyto[spark]``.
"""
from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Callable, Iterator

import numpy as np
import pandas
import pyarrow
from pyspark import TaskContext, keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import DenseVector, VectorUDT, Vectors
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasFeaturesCol, HasLabelCol, HasPredictionCol, HasWeightCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsReader, DefaultParamsWritable, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from . import _arrow, _core, _passes, _solve, _verify_passes
from ._estimators import OWL

__all__ = ["SparkOWL", "SparkOWLModel"]

SECONDS_WITHOUT_TASKS = 60.0


def _features(df: DataFrame, columns: Any, unwrapped: bool = False) -> Any:
    """One column of arrays, from a vector, an array, or a list of columns; of vectors as they are stored, where they may be sparse."""
    if isinstance(columns, (list, tuple)):
        return F.array(*[F.col(name).cast("double") for name in columns])
    kind = df.schema[columns].dataType
    if isinstance(kind, VectorUDT):
        return F.unwrap_udt(F.col(columns)) if unwrapped else vector_to_array(F.col(columns))
    if isinstance(kind, ArrayType):
        return F.col(columns).cast("array<double>")
    raise _solve.want("featuresCol", "a vector, an array, or a list of columns", kind.simpleString())


def _collected(df: DataFrame) -> list[Any]:
    """Its rows; an error where no task runs for too long, as Spark itself waits for executors without end."""
    context = df.sparkSession.sparkContext
    group = f"tyto-{uuid.uuid4()}"

    def collect() -> list[Any]:
        context.setJobGroup(group, "tyto: one pass over the rows", interruptOnCancel=True)
        return df.collect()

    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(collect)
        idle_since, last = time.monotonic(), None
        while not wait([found], timeout=0.5).done:
            state = _state(context.statusTracker(), group)
            if state != last or state[0] > 0:
                idle_since, last = time.monotonic(), state
            if time.monotonic() - idle_since > SECONDS_WITHOUT_TASKS:
                context.cancelJobGroup(group)
                raise RuntimeError(f"tyto.spark: no task has run for {SECONDS_WITHOUT_TASKS:.0f} seconds: are there executors?")
        return found.result()


def _state(tracker: Any, group: str) -> tuple[int, int]:
    """Tasks of its stages that run, and that have ended."""
    running = ended = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in filter(None, map(tracker.getStageInfo, info.stageIds if info else [])):
            running, ended = running + stage.numActiveTasks, ended + stage.numCompletedTasks
    return running, ended


class Frame:
    """Rows as Spark has them: a backend of `_passes`."""

    def __init__(self, df: DataFrame, features: Any, label: str, weight: str | None, fold: str | None):
        self.names = tuple(features) if isinstance(features, (list, tuple)) else ()
        columns = [_features(df, features, unwrapped=True).alias("x"), F.col(label).cast("double").alias("y")]
        columns += [F.col(weight).cast("double").alias("w")] if weight else []
        columns += [F.col(fold).cast("long").alias("f")] if fold else []
        self._rows = df.select(*columns)
        self.width = len(features) if self.names else self._width()

    def _width(self) -> int:
        x = self._rows.select("x").first()
        if x is None:
            raise ValueError("df: want at least one row, got none")
        return len(x[0]) if isinstance(x[0], list) else int(x[0]["size"] or len(x[0]["values"]))

    def total(self, task: Callable[..., bytes], merge: Callable[..., bytes]) -> bytes:
        def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
            number = TaskContext.get().partitionId()
            found = task(number, _arrow.in_blocks(batches))
            yield pyarrow.RecordBatch.from_pydict({"number": [number], "sums": [found]})
        rows = _collected(self._rows.mapInArrow(run, "number long, sums binary"))
        parts = [bytes(row["sums"]) for row in sorted(rows, key=lambda row: row["number"])]
        if not parts:
            raise ValueError("df: want at least one row, got none")
        return _passes.merged(parts, merge)


class _OWLParams(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasWeightCol):
    featuresCols = Param(Params._dummy(), "featuresCols", "columns of numbers, in place of featuresCol", TypeConverters.toListString)
    foldCol = Param(Params._dummy(), "foldCol", "column of folds 0, 1, ...: alpha is then chosen by cross-validation", TypeConverters.toString)
    folds = Param(Params._dummy(), "folds", "folds by a hash of the row, >= 2: alpha is then chosen by cross-validation", TypeConverters.toInt)
    weights = Param(Params._dummy(), "weights", "shape of the penalty: oscar, lasso, linf, bh, gaussian, linear", TypeConverters.toString)
    alpha = Param(Params._dummy(), "alpha", "multiplier of the weights", TypeConverters.toFloat)
    relative = Param(Params._dummy(), "relative", "whether alpha counts in units of alpha-max", TypeConverters.toBoolean)
    q = Param(Params._dummy(), "q", "of bh and gaussian", TypeConverters.toFloat)
    slope = Param(Params._dummy(), "slope", "of oscar", TypeConverters.toFloat)
    fitIntercept = Param(Params._dummy(), "fitIntercept", "whether a constant is fitted", TypeConverters.toBoolean)
    standardize = Param(Params._dummy(), "standardize", "whether columns are scaled before they are penalised", TypeConverters.toBoolean)
    loss = Param(Params._dummy(), "loss", "gaussian, binomial or poisson", TypeConverters.toString)
    checkpoint = Param(Params._dummy(), "checkpoint", "folder of the driver, where passes are kept until the model is there", TypeConverters.toString)
    ridge = Param(Params._dummy(), "ridge", "adds ridge/2 ||b||^2", TypeConverters.toFloat)
    positive = Param(Params._dummy(), "positive", "whether coefficients must be >= 0", TypeConverters.toBoolean)
    tol = Param(Params._dummy(), "tol", "relative duality gap", TypeConverters.toFloat)

    def _input(self) -> Any:
        return self.getOrDefault("featuresCols") if self.isDefined("featuresCols") else self.getFeaturesCol()


_NAMES = {"weights": "weights", "alpha": "alpha", "relative": "relative", "q": "q", "slope": "slope", "fitIntercept": "fit_intercept",
          "standardize": "standardize", "ridge": "ridge", "positive": "positive", "tol": "tol",
          "loss": "loss"}
_DEFAULTS: dict[str, Any] = dict(weights="oscar", alpha=1.0, relative=False, q=0.1, slope=1.0, fitIntercept=True, standardize=False,
                                 ridge=0.0, positive=False, tol=1e-6, loss="gaussian")


class SparkOWL(Estimator, _OWLParams, DefaultParamsReadable, DefaultParamsWritable):
    """OWL regression; parameters are those of `tyto.OWL`, in Spark's manner.

    ``featuresCol`` is a vector or an array, ``featuresCols`` a list of columns. ``fitMultiple``, and with it ``CrossValidator``, fits all alphas
    of a grid in one job of two passes. With ``foldCol`` or ``folds`` the model is that with the best alpha of a path, by cross-validation.
    """

    @keyword_only
    def __init__(self, *, featuresCol: Any = "features", labelCol: str = "label", predictionCol: str = "prediction", weightCol: str | None = None,
                 featuresCols: Any = None, foldCol: str | None = None, folds: int | None = None, weights: str = "oscar", alpha: float = 1.0,
                 relative: bool = False, q: float = 0.1, slope: float = 1.0, fitIntercept: bool = True, standardize: bool = False,
                 ridge: float = 0.0, positive: bool = False, tol: float = 1e-6, loss: str = "gaussian", checkpoint: str | None = None):
        super().__init__()
        self._setDefault(labelCol="label", **_DEFAULTS)
        given = {name: value for name, value in self._input_kwargs.items() if value is not None}
        if isinstance(given.get("featuresCol"), (list, tuple)):
            given["featuresCols"] = list(given.pop("featuresCol"))
        self._set(**given)

    def _local(self) -> OWL:
        return OWL(**{ours: self.getOrDefault(name) for name, ours in _NAMES.items()})

    def _backend(self, dataset: DataFrame) -> Frame:
        optional = [self.getOrDefault(name) if self.isDefined(name) else None for name in ("weightCol", "foldCol")]
        return Frame(dataset, self._input(), self.getLabelCol(), *optional)

    def _model(self, local: OWL) -> SparkOWLModel:
        return self._copyValues(SparkOWLModel(local))

    def _fit(self, dataset: DataFrame) -> SparkOWLModel:
        if self.isDefined("foldCol") or self.isDefined("folds"):
            return self._model(self._chosen(dataset))
        local = _Summed(**self._local().get_params())
        local._fit_by_passes(self._backend(dataset), self.getOrDefault("checkpoint") if self.isDefined("checkpoint") else None)
        return self._model(local.as_local())

    def _chosen(self, dataset: DataFrame) -> OWL:
        count = self.getOrDefault("folds") if self.isDefined("folds") else \
            int(dataset.select(F.max(self.getOrDefault("foldCol"))).first()[0]) + 1
        params = {**self._local().get_params(), "alphas": None, "n_alphas": 100, "eps": None, "scoring": "mse", "gamma": None}
        answer = _passes.solve(self._backend(dataset), "cv", params, count)
        return _as_local(self._local(), answer, answer.found["fits"][answer.found["best"]])

    def fitMultiple(self, dataset: DataFrame, paramMaps: Any) -> Iterator[tuple[int, SparkOWLModel]]:
        """All models of a grid of alphas from one path; grids of other parameters one by one."""
        only_alpha = all([param.name for param in each] == ["alpha"] for each in paramMaps)
        if not only_alpha or self.isDefined("foldCol") or self.isDefined("folds"):
            return iter([(k, self.fit(dataset, each)) for k, each in enumerate(paramMaps)])
        asked = [float(next(iter(each.values()))) for each in paramMaps]
        local = self._local()
        backend = self._backend(dataset)
        if _passes.wants_gradients(backend, local.get_params()):
            return iter([(k, self.fit(dataset, each)) for k, each in enumerate(paramMaps)])
        moments = backend.total(_passes.MomentsOf(backend.names), _passes.merge_moments)
        unit = _passes.alpha_max(moments, local.get_params()) if local.relative else 1.0
        alphas = sorted({one * unit for one in asked}, reverse=True)
        params = {**local.get_params(), "alphas": alphas, "n_alphas": 100, "eps": None, "criteria": False}
        answer = _passes.solve(backend, "path", params, moments=moments)
        fits = {alpha: fit for alpha, fit in zip(alphas, answer.found["fits"])}
        return iter([(k, self.copy(each)._model(_as_local(local, answer, fits[asked[k] * unit]))) for k, each in enumerate(paramMaps)])


class _Summed(_passes.FitsOne, OWL):
    """An OWL that is fitted by passes."""

    def as_local(self) -> OWL:
        local = OWL(**self.get_params())
        local.__dict__.update(self.__dict__)
        return local


def _as_local(settings: OWL, answer: _passes.Answer, fit: Any) -> OWL:
    local = _Summed(**settings.get_params())
    local._remember(answer)
    local._keep(fit, answer.found["scale"], answer.size, answer.tolerance)
    local.alpha_max_ = float(answer.found["alpha_max"]) / answer.size
    local._keep_extras(fit)
    return local.as_local()


class SparkOWLModel(Model, _OWLParams, MLReadable, MLWritable):
    """A fitted model: ``coefficients``, ``intercept``, ``certificate``; `to_local` gives the `tyto.OWL`."""

    def __init__(self, local: OWL | None = None):
        super().__init__()
        self._setDefault(labelCol="label", **_DEFAULTS)
        self._owl = local

    def to_local(self) -> OWL:
        return self._owl

    @property
    def coefficients(self) -> DenseVector:
        return Vectors.dense(self._owl.coef_)

    @property
    def intercept(self) -> float:
        return self._owl.intercept_

    @property
    def certificate(self) -> _solve.Certificate:
        return self._owl.certificate_

    @property
    def clusters(self) -> list[np.ndarray]:
        return self._owl.clusters_

    @property
    def passes(self) -> int:
        return self._owl.passes_

    def _transform(self, dataset: DataFrame) -> DataFrame:
        coef, intercept = np.asarray(self._owl.coef_), float(self._owl.intercept_)
        predicted = F.pandas_udf(_predictor(coef, intercept, self._owl.loss), "double")
        return dataset.withColumn(self.getPredictionCol(), predicted(_features(dataset, self._input())))

    def verify(self, dataset: DataFrame) -> Any:
        """One pass over the rows that were fitted: see `tyto.dask.verify`."""
        weight = self.getOrDefault("weightCol") if self.isDefined("weightCol") else None
        return _verify_passes.verify(self._owl, Frame(dataset, self._input(), self.getLabelCol(), weight, None))

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader:
        return _Reader(cls)


def _predictor(coef: np.ndarray, intercept: float, loss: str) -> Callable[[Any], Any]:
    def predicted(rows):
        return pandas.Series(_core.means(loss, np.stack(rows.to_numpy()) @ coef + intercept) if len(rows) else np.empty(0))
    predicted.__annotations__ = {"rows": pandas.Series, "return": pandas.Series}  # as types: Spark does not take them as text
    return predicted


class _Writer(MLWriter):
    def __init__(self, instance: SparkOWLModel):
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        state = _passes.state_of(self.instance._owl)
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession, extraMetadata={"tyto": state})


class _Reader(MLReader):
    def __init__(self, cls: type):
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> SparkOWLModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        model = self.cls(_passes.restored(OWL, metadata["tyto"]))
        DefaultParamsReader.getAndSetParams(model, metadata)
        model._resetUid(metadata["uid"])
        return model
