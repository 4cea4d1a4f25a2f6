"""The Spark session, with every option that this job needs."""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from streaming.settings import Settings

STREAMING = "spark.sql.streaming."


def start_session(settings: Settings) -> SparkSession:
    # Spark's Python workers must be this Python, and find this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parent.parent))
    options = {
        "spark.jars": ",".join(map(str, sorted(connector_jars(settings.jars_dir)))),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": settings.shuffle_partitions,
        "spark.sql.execution.arrow.maxRecordsPerBatch": 50_000,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "localhost" if settings.master.startswith("local") else "",
        "spark.driver.memory": "1g",
        # On few cores Java's default collector takes a seventh of the time for itself, beside the work.
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
        # The queries share the cores evenly: a long batch of one does not hold up the others.
        "spark.scheduler.mode": "FAIR",
        STREAMING + "stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        STREAMING + "stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        # Spark's default forks a process per checkpoint file where Hadoop's native library is missing.
        STREAMING + "checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
        ),
        STREAMING + "minBatchesToRetain": 10,
    }
    builder = SparkSession.builder.master(settings.master).appName("trucks-gps")
    for name, value in options.items():
        if value != "":
            builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def connector_jars(folder: Path) -> list[Path]:
    jars = list(folder.resolve().glob("*.jar"))
    if not jars:
        raise SystemExit(f"Spark's Kafka connector is not in {folder}; fetch it with: python -m local_stack jars")
    return jars
