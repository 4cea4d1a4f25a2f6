"""Spark without a broker."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from local_stack.jars import JarStore
from streaming.session import start_session
from streaming.settings import Settings


@pytest.fixture
def session(java_home: Path, jars: JarStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    monkeypatch.setenv("JAVA_HOME", str(java_home))
    session = start_session(Settings.model_validate({"master": "local[2]", "jars_dir": jars.spark}))
    yield session
    session.stop()
