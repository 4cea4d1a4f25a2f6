"""A Kafka cluster on this machine: formatted, started, asked until it answers, stopped."""

import json
import subprocess
import uuid
from base64 import urlsafe_b64encode
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from kafka.errors import KafkaError

from local_stack import ports
from local_stack.admin import connected
from local_stack.errors import StackError
from local_stack.node import Node, kafka_command
from local_stack.process import Child

READY_TIMEOUT_S = 90.0


class Cluster:
    """`brokers` nodes on kept data; `first_port` None takes any free ports."""

    def __init__(  # noqa: PLR0913 (each is given by name)
        self,
        *,
        java_home: Path,
        jars: Path,
        data: Path,
        logs: Path,
        brokers: int = 1,
        first_port: int | None = None,
    ) -> None:
        self._java_home = java_home
        self._jars = jars
        # Absolute: the broker reads these paths in its settings.
        self._data = data.resolve()
        self._logs = logs.resolve()
        client_ports = choose_ports(first_port, brokers)
        controller_ports = ports.free_ports(brokers)
        self.nodes = [
            Node(node_id, port, controller_port, self._data / f"node-{node_id}")
            for node_id, (port, controller_port) in enumerate(zip(client_ports, controller_ports, strict=True), start=1)
        ]
        self.children = [self._child(node) for node in self.nodes]

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(node.address for node in self.nodes)

    def start(self) -> None:
        """Return when every broker answers and knows all the others; on failure nothing is left running."""
        self._format()
        try:
            for child in self.children:
                child.start()
            for node, child in zip(self.nodes, self.children, strict=True):
                child.wait_until(partial(self._all_known_to, node), timeout_s=READY_TIMEOUT_S, others=self.children)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        # All are asked before any is waited for: a lone last node would wait for the quorum it no longer has.
        for child in self.children:
            child.ask_to_stop()
        for child in self.children:
            child.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _child(self, node: Node) -> Child:
        log = self._logs / f"broker-{node.node_id}.log"
        command = kafka_command(self._java_home, self._jars, log, "kafka.Kafka", str(node.settings_file))
        return Child(f"Kafka broker {node.node_id}", command, output=log.with_suffix(".out"), log=log)

    def _format(self) -> None:
        cluster_id = claim_data(self._data, len(self.nodes))
        for node in self.nodes:
            node.write_settings(self.nodes)
            if not node.is_formatted:
                self._format_node(node, cluster_id)

    def _format_node(self, node: Node, cluster_id: str) -> None:
        arguments = ("kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", "-c", str(node.settings_file))
        log = self._logs / "broker-format.log"
        command = kafka_command(self._java_home, self._jars, log, *arguments)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise StackError(f"Kafka could not format {node.folder}:\n{done.stdout}{done.stderr}")

    def _all_known_to(self, node: Node) -> bool:
        return ports.is_taken(node.port) and count_brokers(node.address) == len(self.nodes)


def choose_ports(first_port: int | None, count: int) -> list[int]:
    """The wanted port and those after it, or free ones where any of them is taken."""
    if first_port is None:
        return ports.free_ports(count)
    wanted = list(range(first_port, first_port + count))
    return ports.free_ports(count) if any(map(ports.is_taken, wanted)) else wanted


def claim_data(data: Path, brokers: int) -> str:
    """The id of the cluster whose data lies here; a new one where none does."""
    record = data / "cluster.json"
    if not record.is_file():
        data.mkdir(parents=True, exist_ok=True)
        cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        record.write_text(json.dumps({"cluster_id": cluster_id, "brokers": brokers}))
        return cluster_id
    known = json.loads(record.read_text())
    if known["brokers"] != brokers:
        raise StackError(
            f"The data in {data} belongs to a cluster of {known['brokers']} broker(s), but {brokers} were asked for: "
            f"run `make clean-data` to start afresh, or set BROKERS={known['brokers']}."
        )
    return str(known["cluster_id"])


def count_brokers(bootstrap_servers: str) -> int:
    """How many brokers the cluster knows to be at work; 0 while it does not answer."""
    try:
        with connected(bootstrap_servers, timeout_ms=2000) as admin:
            return sum(not broker.get("is_fenced", False) for broker in admin.describe_cluster()["brokers"])
    except KafkaError:
        return 0
