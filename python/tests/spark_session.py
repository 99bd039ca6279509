"""Sessions of Spark for the tests, which need pyspark and Java."""

import contextlib
import os
import shutil
import sys
from pathlib import Path

import frazil
import pytest


def skip_without_spark():
    """Skips a file of tests where Spark cannot run."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("there is no Java", allow_module_level=True)


@contextlib.contextmanager
def session(master):
    """A session that knows the format "frazil". One session runs at a time in a process."""
    from pyspark.sql import SparkSession

    import frazil.spark

    # Executors find the package where this process has it.
    home = str(Path(frazil.__file__).parents[1])
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.pyspark.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([home, os.environ.get("PYTHONPATH", "")]),
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        patched.setenv("PYTHONPATH", settings["spark.executorEnv.PYTHONPATH"])
        builder = SparkSession.builder.master(master).appName("frazil")
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        frazil.spark.register(spark)
        yield spark
        spark.stop()


def load(spark, place, table, **options):
    reader = spark.read.format("frazil").option("table", table)
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load(str(place))
