"""One Kafka node, broker and controller in one: its ports, its files, its command lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local_stack.paths import HERE
from local_stack.ports import HOST

# A start needs some 100 MB; the rest is room for producers' batches.
HEAP = ("-Xms128m", "-Xmx512m")


@dataclass(frozen=True)
class Node:
    node_id: int
    port: int
    controller_port: int
    folder: Path

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def voter(self) -> str:
        return f"{self.node_id}@{HOST}:{self.controller_port}"

    @property
    def settings_file(self) -> Path:
        return self.folder / "server.properties"

    @property
    def is_formatted(self) -> bool:
        return (self.folder / "log" / "meta.properties").is_file()

    def write_settings(self, nodes: "Sequence[Node]") -> None:
        """Written at each start: ports may differ from those of the last one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}={value}\n" for name, value in server_settings(self, nodes).items()]
        self.settings_file.write_text("".join(lines))


def server_settings(node: Node, nodes: Sequence[Node]) -> dict[str, object]:
    copies = min(3, len(nodes))
    in_sync = 2 if copies == 3 else 1
    return {
        "process.roles": "broker,controller",
        "node.id": node.node_id,
        # Static voters: a quorum that stored its voters' addresses could not come back on other ports.
        "controller.quorum.voters": ",".join(each.voter for each in nodes),
        "listeners": f"CLIENTS://{node.address},CONTROLLER://{HOST}:{node.controller_port}",
        "advertised.listeners": f"CLIENTS://{node.address}",
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "CLIENTS",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": node.folder / "log",
        "auto.create.topics.enable": "false",
        "default.replication.factor": copies,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": 5,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": in_sync,
        "transaction.state.log.num.partitions": 5,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": in_sync,
        # Nobody else will join the group in a moment: hand out partitions at once.
        "group.initial.rebalance.delay.ms": 0,
    }


def kafka_command(java_home: Path, jars: Path, log: Path, *arguments: str) -> list[str]:
    return [
        str(java_home / "bin" / "java"),
        *HEAP,
        f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}",
        f"-Dbroker.log={log}",
        *("-cp", f"{jars}/*"),
        *arguments,
    ]
