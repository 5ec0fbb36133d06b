"""tyto.spark on a driver and two executor JVMs, which are started here."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pyspark = pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java: openjdk-17-jre-headless", allow_module_level=True)

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import RegressionEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import SparkSession

import tyto
from problem import TOL, table
from tyto.spark import SparkOWL, SparkOWLModel

SETTINGS = dict(labelCol="y", weights="bh", alpha=0.1, relative=True, standardize=True, tol=TOL)


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("tyto")
               .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.sql.shuffle.partitions", "4").config("spark.driver.memory", "1g")
               .config("spark.executor.memory", "640m").config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
               .config("spark.sql.files.maxPartitionBytes", "150000").config("spark.sql.files.openCostInBytes", "150000").getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def data(spark, tmp_path_factory):
    """On disk, in six files: a partition that is read again has the same rows."""
    x, y = table(12_000, 8)
    folder = str(tmp_path_factory.mktemp("spark") / "rows")
    import pandas as pd
    frame = pd.DataFrame(x, columns=[f"f{j}" for j in range(8)]).assign(y=y, w=np.linspace(0.5, 1.5, len(y)), fold=np.arange(len(y)) % 5)
    os.makedirs(folder)
    for k in range(6):
        frame[k * 2000:(k + 1) * 2000].to_parquet(f"{folder}/part-{k}.parquet")
    rows = spark.read.option("mergeSchema", "false").parquet(folder)
    return x, y, frame, rows, folder


def columns():
    return [f"f{j}" for j in range(8)]


def check(model: SparkOWLModel, x, y, weights=None) -> None:
    assert model.certificate.converged and model.passes == 2
    assert model.certificate.gap + model.certificate.rounding <= TOL * model.certificate.primal
    found = tyto.verify(model.to_local(), x, y, weights)
    assert found, found.reason


def test_columns_vectors_and_arrays_have_the_same_bits(data):
    x, y, frame, rows, _ = data
    by_columns = SparkOWL(featuresCol=columns(), **SETTINGS).fit(rows)
    check(by_columns, frame[columns()], y)
    from pyspark.sql import functions as F
    vectors = VectorAssembler(inputCols=columns(), outputCol="features").transform(rows)
    by_vector = SparkOWL(**SETTINGS).fit(vectors)
    by_array = SparkOWL(featuresCol="a", **SETTINGS).fit(rows.withColumn("a", F.array(*columns())))
    for other in (by_vector, by_array):
        assert other.coefficients == by_columns.coefficients and other.certificate == by_columns.certificate


def test_weights_and_one_pass_of_verification(data):
    x, y, frame, rows, _ = data
    model = SparkOWL(featuresCol=columns(), weightCol="w", **SETTINGS).fit(rows)
    check(model, frame[columns()], y, frame["w"])
    assert model.verify(rows)
    model.to_local().coef_ = model.to_local().coef_ * 1.01
    assert not model.verify(rows)


def test_other_losses_and_sparse_vectors_by_gradients(spark, data):
    x, y, frame, rows, _ = data
    from pyspark.sql import functions as F
    counts = np.random.default_rng(1).poisson(np.exp(0.3 * (x[:, 0] - x[:, 0].mean())))
    keyed = spark.createDataFrame([(Vectors.sparse(8, [(j, float(v)) for j, v in enumerate(row) if j % 2 == 0]) if i % 3 else
                                    Vectors.dense(row), float(c)) for i, (row, c) in enumerate(zip(x[:1500], counts))], ["features", "y"])
    model = SparkOWL(**{**SETTINGS, "loss": "poisson", "tol": 1e-9}).fit(keyed.repartition(1))
    held = np.where((np.arange(1500) % 3 > 0)[:, None] & (np.arange(8) % 2 > 0)[None, :], 0.0, x[:1500])
    memory = tyto.OWL(weights="bh", alpha=0.1, relative=True, standardize=True, tol=1e-9, loss="poisson").fit(held, counts[:1500])
    assert model.certificate.converged and model.passes <= 12
    assert abs(model.certificate.primal - memory.certificate_.primal) <= 2e-9 * memory.certificate_.primal
    predicted = model.transform(keyed).select("prediction").toPandas()["prediction"].to_numpy()
    np.testing.assert_allclose(np.sort(predicted), np.sort(memory.predict(held)), rtol=1e-3)


def test_transform_pipeline_save_and_load(data, tmp_path):
    x, y, frame, rows, _ = data
    stages = [VectorAssembler(inputCols=columns(), outputCol="features"), SparkOWL(**SETTINGS)]
    fitted = Pipeline(stages=stages).fit(rows)
    fitted.write().overwrite().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    local = again.stages[-1].to_local()
    assert again.stages[-1].certificate == fitted.stages[-1].certificate
    answers = again.transform(rows).select("f0", "prediction").toPandas().sort_values("f0")
    expected = local.predict(frame[columns()].to_numpy())[np.argsort(frame["f0"])]
    np.testing.assert_allclose(answers["prediction"], expected, rtol=1e-12)
    SparkOWL(**SETTINGS).write().overwrite().save(str(tmp_path / "estimator"))
    assert SparkOWL.load(str(tmp_path / "estimator")).getOrDefault("weights") == "bh"


def test_a_grid_of_alphas_is_one_path(spark, data):
    x, y, frame, rows, _ = data
    estimator = SparkOWL(featuresCol=columns(), **SETTINGS)
    grid = ParamGridBuilder().addGrid(SparkOWL.alpha, [0.01, 0.5, 0.1]).build()
    models = dict(estimator.fitMultiple(rows, grid))
    for k, alpha in enumerate([0.01, 0.5, 0.1]):
        single = SparkOWL(featuresCol=columns(), **{**SETTINGS, "alpha": alpha}).fit(rows)
        assert abs(models[k].to_local().alpha_ - single.to_local().alpha_) <= 1e-12 * single.to_local().alpha_
        np.testing.assert_allclose(models[k].coefficients.toArray(), single.coefficients.toArray(), atol=1e-6)
    evaluator = RegressionEvaluator(labelCol="y", metricName="mse")
    chosen = CrossValidator(estimator=estimator, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=1).fit(rows)
    assert len(chosen.avgMetrics) == 3 and np.argmin(chosen.avgMetrics) == 0


def test_folds_of_a_column(data):
    x, y, frame, rows, _ = data
    model = SparkOWL(featuresCol=columns(), foldCol="fold", **SETTINGS).fit(rows)
    fold = frame["fold"].to_numpy()
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    memory = tyto.OWLCV(weights="bh", standardize=True, tol=TOL, cv=pairs).fit(frame[columns()], y)
    assert abs(model.to_local().alpha_ - memory.alpha_) <= 1e-9 * memory.alpha_


def test_same_bits_as_dask(data):
    import dask
    import tyto.dask
    x, y, frame, rows, folder = data
    model = SparkOWL(featuresCol=columns(), **SETTINGS).fit(rows)
    from pyspark.sql import functions as F
    order = [int(row["first"]) for row in
             rows.groupBy(F.spark_partition_id().alias("part")).agg(F.min("w").alias("w"), F.count("y").alias("n"), F.min(F.col("w")).alias("first_w"))
             .withColumn("first", F.round((F.col("first_w") - 0.5) * (len(y) - 1))).orderBy("part").collect()]
    sizes = {int(row["n"]) for row in rows.groupBy(F.spark_partition_id().alias("part")).agg(F.count("y").alias("n")).collect()}
    if sizes != {2000}:
        pytest.skip("Spark has joined files into partitions")
    parts = [slice(first, first + 2000) for first in order]
    local = tyto.dask.OWL(**{name: value for name, value in SETTINGS.items() if name != "labelCol"})
    with dask.config.set(scheduler="synchronous"):
        local.fit([dask.delayed(x[part]) for part in parts], [dask.delayed(y[part]) for part in parts])
    np.testing.assert_array_equal(local.coef_, model.to_local().coef_)
    assert local.certificate_ == model.certificate


def test_bad_rows_name_their_partition(spark):
    rows = spark.createDataFrame([(Vectors.dense([1.0, 2.0]), 1.0), (Vectors.dense([float("nan"), 2.0]), 2.0)], ["features", "y"]).coalesce(1)
    with pytest.raises(Exception, match="partition 0: column 0: want finite numbers"):
        SparkOWL(labelCol="y").fit(rows)
    with pytest.raises(ValueError, match="featuresCol: want a vector, an array, or a list of columns"):
        SparkOWL(featuresCol="y", labelCol="y").fit(rows)


def executors() -> list[int]:
    found = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True)
    mine = []
    for pid in map(int, found.stdout.split()):
        parent = pid
        while parent > 1 and parent != os.getpid():
            try:
                parent = int(open(f"/proc/{parent}/stat").read().rsplit(")", 1)[1].split()[1])
            except OSError:
                break
        if parent == os.getpid():
            mine.append(pid)
    return mine


@pytest.mark.parametrize("seed", range(int(os.environ.get("TYTO_KILLS", "1"))))
def test_killed_executors_do_not_change_a_bit(data, seed):
    x, y, frame, rows, _ = data
    quiet = SparkOWL(featuresCol=columns(), **SETTINGS).fit(rows)
    killed = []
    rng = np.random.default_rng(seed)

    def kill() -> None:
        for _ in range(2):
            time.sleep(0.3 + 0.7 * rng.random())
            for pid in executors()[:1]:
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    model = SparkOWL(featuresCol=columns(), **SETTINGS).fit(rows)
    thread.join()
    again = SparkOWL(featuresCol=columns(), **SETTINGS).fit(rows)
    assert killed
    for other in (model, again):
        assert other.coefficients == quiet.coefficients and other.certificate == quiet.certificate
