"""Makes the topics of `schemas.topics` in a cluster, tunes them, and says where existing ones differ from it."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, KafkaTimeoutError, TopicAlreadyExistsError, UnknownTopicOrPartitionError

from local_stack.admin import connected
from local_stack.errors import StackError
from schemas.topics import TOPICS, Topic

MOST_COPIES = 3
KNOWN_TIMEOUT_S = 30.0
POLL_S = 0.1


def make_topics(bootstrap_servers: str, topics: Sequence[Topic] = TOPICS) -> list[str]:
    """Make what is missing and return its names; raise with one sentence per difference in what exists."""
    try:
        with connected(bootstrap_servers, timeout_ms=10_000) as admin:
            return make_missing(admin, topics)
    except KafkaTimeoutError as error:
        raise StackError(f"No Kafka broker answers at {bootstrap_servers}: {error}") from error
    except KafkaError as error:
        raise StackError(f"Kafka at {bootstrap_servers} refused to make or describe the topics: {error}") from error


def make_missing(admin: Any, topics: Sequence[Topic]) -> list[str]:
    existing = set(admin.list_topics())
    copies = min(MOST_COPIES, len(admin.describe_cluster()["brokers"]))
    missing = [topic for topic in topics if topic.name not in existing]
    for topic in missing:
        create(admin, topic, copies)
    found = describe_when_known(admin, [topic.name for topic in topics])
    wrong = [sentence for topic in topics for sentence in differences(topic, *found[topic.name])]
    if wrong:
        raise StackError("\n".join(wrong))
    tune(admin, [topic for topic in topics if not topic.tuning.items() <= found[topic.name][1].items()])
    return [topic.name for topic in missing]


def create(admin: Any, topic: Topic, copies: int) -> None:
    settings = topic.settings | topic.tuning
    if copies == MOST_COPIES:
        settings["min.insync.replicas"] = str(MOST_COPIES - 1)
    wanted = {"num_partitions": topic.partitions, "replication_factor": copies, "configs": settings}
    try:
        admin.create_topics({topic.name: wanted})
    except TopicAlreadyExistsError:
        # Somebody else made it since we looked; what they made is compared like any other.
        return


def tune(admin: Any, topics: Sequence[Topic]) -> None:
    """Topics that were made with other values."""
    if topics:
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, each.name, each.tuning) for each in topics])


def describe_when_known(admin: Any, names: Sequence[str]) -> dict[str, tuple[int, dict[str, str]]]:
    """Name → number of partitions and settings.

    Of several brokers each question may reach one that has not heard of a new topic yet; so it is asked again.
    """
    deadline = time.monotonic() + KNOWN_TIMEOUT_S
    while True:
        try:
            admin.wait_for_topics(names, timeout_ms=KNOWN_TIMEOUT_S * 1000)
            found = describe(admin, names)
        except UnknownTopicOrPartitionError:
            found = {}
        if len(found) == len(names):
            return found
        if time.monotonic() > deadline:
            raise KafkaTimeoutError(f"topics not known after {KNOWN_TIMEOUT_S:.0f} s: {set(names) - found.keys()}")
        time.sleep(POLL_S)


def describe(admin: Any, names: Sequence[str]) -> dict[str, tuple[int, dict[str, str]]]:
    """Those topics that the asked broker knows."""
    partitions = {topic["name"]: len(topic["partitions"]) for topic in admin.describe_topics(names)}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    described: dict[str, Any] = admin.describe_configs(resources, config_filter="all")["topic"]
    return {
        name: (partitions[name], {key: str(config["value"]) for key, config in described[name].items()})
        for name in names
        if partitions.get(name) and described.get(name)
    }


def differences(topic: Topic, partitions: int, settings: Mapping[str, str]) -> list[str]:
    """One sentence for each way in which the existing topic is not the one of the table."""
    sentences = []
    if partitions != topic.partitions:
        sentences.append(f"Topic {topic.name} has {partitions} partitions, expected {topic.partitions}.")
    for name, expected in topic.settings.items():
        found = settings.get(name, "unset")
        # The order of policies ("compact,delete") has no meaning.
        if set(found.split(",")) != set(expected.split(",")):
            sentences.append(f"Topic {topic.name} has {name}={found}, expected {expected}.")
    return sentences
