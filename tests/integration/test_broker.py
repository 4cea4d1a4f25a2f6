"""The local Kafka cluster, started for real."""

from pathlib import Path
from uuid import uuid4

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from local_stack.admin import connected
from local_stack.broker import Cluster
from local_stack.errors import StackError
from local_stack.jars import JarStore
from local_stack.topics import describe_when_known, make_topics
from schemas.topics import TOPICS, Topic
from tests.conftest import Kafka


def cluster_in(folder: Path, java_home: Path, jars: JarStore, *, brokers: int = 1) -> Cluster:
    return Cluster(java_home=java_home, jars=jars.broker, data=folder / "kafka", logs=folder / "logs", brokers=brokers)


def write(bootstrap_servers: str, topic: str, value: bytes) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap_servers.split(","), acks="all")
    producer.send(topic, value, partition=0).get(timeout=30)
    producer.close()


def read_first(bootstrap_servers: str, topic: str) -> bytes:
    consumer = KafkaConsumer(bootstrap_servers=bootstrap_servers.split(","), auto_offset_reset="earliest")
    partition = TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    records = consumer.poll(timeout_ms=30_000)
    consumer.close()
    return bytes(records[partition][0].value)


def test_a_restart_on_other_ports_keeps_topics_and_records(tmp_path: Path, java_home: Path, jars: JarStore) -> None:
    with cluster_in(tmp_path, java_home, jars) as first:
        assert make_topics(first.bootstrap_servers) == [topic.name for topic in TOPICS]
        write(first.bootstrap_servers, "trucks_gps", b"before the restart")
    with cluster_in(tmp_path, java_home, jars) as second:
        assert second.bootstrap_servers != first.bootstrap_servers
        assert make_topics(second.bootstrap_servers) == []
        assert read_first(second.bootstrap_servers, "trucks_gps") == b"before the restart"
    assert all(child.exit_code is not None for child in (*first.children, *second.children))


def test_a_broker_that_cannot_start_shows_its_log(tmp_path: Path, java_home: Path, jars: JarStore) -> None:
    with cluster_in(tmp_path, java_home, jars), pytest.raises(StackError, match="Failed to acquire lock"):
        cluster_in(tmp_path, java_home, jars).start()


def test_a_compacted_topic_is_made_of_small_segments_also_where_it_was_not(kafka: Kafka) -> None:
    topic = Topic(f"parcels-{uuid4().hex[:8]}", key="truck_id", partitions=1, compacted=True)
    with connected(kafka.bootstrap_servers, timeout_ms=10_000) as admin:
        admin.create_topics({topic.name: {"num_partitions": 1, "replication_factor": 1, "configs": topic.settings}})
        assert describe_when_known(admin, [topic.name])[topic.name][1]["segment.bytes"] != topic.tuning["segment.bytes"]
        assert make_topics(kafka.bootstrap_servers, [topic]) == []
        assert topic.tuning.items() <= describe_when_known(admin, [topic.name])[topic.name][1].items()


def test_a_topic_that_differs_from_the_table_is_reported_not_changed(kafka: Kafka) -> None:
    name = f"parcels-{uuid4().hex[:8]}"
    kafka.make_topics(Topic(name, key="truck_id", partitions=2, retention_ms=1000))
    with pytest.raises(StackError) as raised:
        kafka.make_topics(Topic(name, key="truck_id", partitions=3, compacted=True))
    assert str(raised.value).splitlines() == [
        f"Topic {name} has 2 partitions, expected 3.",
        f"Topic {name} has cleanup.policy=delete, expected compact.",
        f"Topic {name} has retention.ms=1000, expected -1.",
    ]
    kafka.make_topics(Topic(name, key="truck_id", partitions=2, retention_ms=1000))


def test_three_brokers_hold_three_copies_and_survive_the_loss_of_one(
    tmp_path: Path, java_home: Path, jars: JarStore
) -> None:
    with cluster_in(tmp_path, java_home, jars, brokers=3) as cluster:
        make_topics(cluster.bootstrap_servers)
        with connected(cluster.bootstrap_servers, timeout_ms=10_000) as admin:
            described = admin.describe_topics([topic.name for topic in TOPICS])
        copies = {len(partition["replica_nodes"]) for topic in described for partition in topic["partitions"]}
        assert copies == {3}
        cluster.children[2].stop()
        write(cluster.bootstrap_servers, "trucks_gps", b"two copies are enough")
        assert read_first(cluster.bootstrap_servers, "trucks_gps") == b"two copies are enough"
