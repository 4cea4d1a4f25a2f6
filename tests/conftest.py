"""Fixtures for every tier: a real Kafka broker, started once, on free ports."""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.java import find_java_home
from local_stack.paths import CACHE
from local_stack.topics import make_topics
from schemas.topics import Topic
from tests.api import Api, made
from tests.postgres import Postgres, programs, running


@dataclass(frozen=True)
class Kafka:
    """A broker for tests; give topics random names, as all tests share it."""

    bootstrap_servers: str

    def make_topics(self, *topics: Topic) -> None:
        make_topics(self.bootstrap_servers, topics)


@pytest.fixture(scope="session")
def java_home() -> Path:
    return find_java_home(CACHE)


@pytest.fixture(scope="session")
def jars(java_home: Path) -> JarStore:
    store = JarStore()
    if not store.is_complete():
        store.fetch(java_home)
    return store


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """The broker that KAFKA_TEST_BOOTSTRAP names, else one of our own."""
    logging.getLogger("kafka").setLevel(logging.ERROR)
    if named := os.environ.get("KAFKA_TEST_BOOTSTRAP"):
        yield Kafka(named)
        return
    folder = tmp_path_factory.mktemp("kafka")
    java_home, jars = request.getfixturevalue("java_home"), request.getfixturevalue("jars")
    with Cluster(java_home=java_home, jars=jars.broker, data=folder / "data", logs=folder / "logs") as cluster:
        yield Kafka(cluster.bootstrap_servers)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    if named := os.environ.get("POSTGRES_TEST_URL"):
        yield Postgres(named)
        return
    found = programs()
    if found is None:
        pytest.skip("no PostgreSQL: neither POSTGRES_TEST_URL nor `initdb` of a package is there")
    with running(found) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.new_database()


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with made(tmp_path) as api:
        yield api
