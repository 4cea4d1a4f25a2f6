"""docker-compose.yml and Dockerfile agree with each other and with the code.

No Docker engine is needed: this reads the files as Compose would (YAML with merge keys) and checks what Compose checks
at start, and what it cannot know: that addresses, versions and settings exist.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic_settings import BaseSettings

import dashboard_api.settings
import notifier.settings
import simulator.settings
import streaming.settings
from dashboard_api.health import Health
from dashboard_api.routes.health import health_routes

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
BROKERS = {name: service for name, service in SERVICES.items() if service["image"].startswith("apache/kafka:")}
OURS = {name: service for name, service in SERVICES.items() if name not in BROKERS}
SETTINGS: dict[str, type[BaseSettings]] = {
    "dashboard_api": dashboard_api.settings.Settings,
    "notifier": notifier.settings.Settings,
    "simulator": simulator.settings.Settings,
    "streaming": streaming.settings.Settings,
}
PREFIXES = tuple(settings.model_config["env_prefix"] for settings in SETTINGS.values())
KEYS = {
    *("image", "build", "init", "restart", "command", "hostname", "environment", "ports", "volumes"),
    *("depends_on", "healthcheck", "stop_grace_period"),
}
HEALTHCHECK_KEYS = {"test", "interval", "timeout", "retries", "start_period"}


def environment(service: str) -> dict[str, str]:
    found: dict[str, str] = SERVICES[service].get("environment", {})
    return found


def listeners(text: str) -> dict[str, str]:
    """`INTERNAL://kafka-1:19092,…` → name → host:port."""
    return dict(part.split("://") for part in text.split(","))


def internal_addresses() -> set[str]:
    return {listeners(environment(name)["KAFKA_ADVERTISED_LISTENERS"])["INTERNAL"] for name in BROKERS}


def published_ports() -> Iterator[tuple[str, str, str]]:
    """Service, host side `address:port`, container port."""
    for name, service in SERVICES.items():
        for port in service.get("ports", []):
            host, _, inside = port.rpartition(":")
            yield name, host, inside


def process_of(service: str) -> str | None:
    """The package that a service runs: `python -m <package>`."""
    command = OURS[service]["command"]
    return command[2] if command[:2] == ["python", "-m"] else None


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_uses_only_keys_and_types_that_compose_knows(name: str) -> None:
    service = SERVICES[name]
    assert set(service) <= KEYS
    assert set(service.get("healthcheck", {})) <= HEALTHCHECK_KEYS
    assert all(isinstance(value, str) for value in service.get("environment", {}).values())
    assert all(isinstance(word, str) for word in service.get("command", []))
    assert re.fullmatch(r"unless-stopped|on-failure:\d+", service["restart"])


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_waits_for_exists_and_can_be_waited_for(name: str) -> None:
    for other, wish in SERVICES[name].get("depends_on", {}).items():
        assert other in SERVICES
        if wish["condition"] == "service_healthy":
            assert SERVICES[other]["healthcheck"]["test"][0] == "CMD"
        else:
            assert wish["condition"] == "service_completed_successfully"
            assert SERVICES[other]["restart"].startswith("on-failure"), f"{other} would be started again for ever"


def test_no_two_services_publish_the_same_port_and_all_stay_on_this_machine() -> None:
    hosts = [host for _, host, _ in published_ports()]
    assert len(hosts) == len(set(hosts))
    assert all(host.startswith("127.0.0.1:") for host in hosts)


def test_every_named_volume_is_declared_and_used() -> None:
    used = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert used == set(COMPOSE["volumes"])


def test_driver_and_workers_share_the_checkpoints() -> None:
    folder = environment("streaming")["STREAMING_CHECKPOINT_DIR"]
    mount = f"checkpoints:{folder}"
    assert all(mount in SERVICES[name]["volumes"] for name in ("streaming", "spark-worker-1", "spark-worker-2"))
    assert f"mkdir -p {folder}" in DOCKERFILE, "a volume that is mounted where nothing was would belong to root"


def test_the_three_brokers_are_the_quorum() -> None:
    controllers = {listeners(environment(name)["KAFKA_LISTENERS"])["CONTROLLER"] for name in BROKERS}
    voters = {f"{environment(name)['KAFKA_NODE_ID']}@{name}:9093" for name in BROKERS}
    assert controllers == {":9093"}
    assert len(BROKERS) == 3
    assert all(set(environment(name)["KAFKA_CONTROLLER_QUORUM_VOTERS"].split(",")) == voters for name in BROKERS)
    assert len({environment(name)["CLUSTER_ID"] for name in BROKERS}) == 1


@pytest.mark.parametrize("name", BROKERS)
def test_a_broker_advertises_where_it_listens(name: str) -> None:
    bound = listeners(environment(name)["KAFKA_LISTENERS"])
    told = listeners(environment(name)["KAFKA_ADVERTISED_LISTENERS"])
    published = {host.split(":")[1]: inside for service, host, inside in published_ports() if service == name}
    assert told["INTERNAL"] == f"{name}{bound['INTERNAL']}"
    outside = told["EXTERNAL"].removeprefix("localhost:")
    assert f":{published[outside]}" == bound["EXTERNAL"]
    assert told["INTERNAL"] in SERVICES[name]["healthcheck"]["test"]
    assert f"{name}:{environment(name)['KAFKA_LOG_DIRS']}" in SERVICES[name]["volumes"]
    protocols = dict(pair.split(":") for pair in environment(name)["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(","))
    assert set(protocols) == set(bound)


def test_kafka_answers_at_localhost_9092() -> None:
    assert ("kafka-1", "127.0.0.1:9092", "9092") in set(published_ports())


@pytest.mark.parametrize("name", BROKERS)
def test_every_record_is_kept_three_times_and_two_must_agree(name: str) -> None:
    copies = {key: value for key, value in environment(name).items() if key.endswith("REPLICATION_FACTOR")}
    in_sync = {key: value for key, value in environment(name).items() if key.endswith(("MIN_ISR", "INSYNC_REPLICAS"))}
    assert set(copies.values()) == {"3"}
    assert set(in_sync.values()) == {"2"}
    assert environment(name)["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"


@pytest.mark.parametrize("name", OURS)
def test_a_process_is_given_only_settings_that_it_has_and_values_that_it_takes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {key: value for key, value in environment(name).items() if key.startswith(PREFIXES)}
    process = process_of(name)
    if process not in SETTINGS:
        assert given == {}
        return
    settings = SETTINGS[process]
    prefix = settings.model_config["env_prefix"]
    assert {key.removeprefix(prefix).lower() for key in given} <= set(settings.model_fields)
    for key, value in given.items():
        monkeypatch.setenv(key, value)
    settings()


def test_every_process_is_there_and_told_where_the_brokers_are() -> None:
    running = {process_of(name): name for name in OURS}
    assert set(SETTINGS) <= set(running)
    for process, settings in SETTINGS.items():
        told = environment(running[process])[f"{settings.model_config['env_prefix']}BOOTSTRAP_SERVERS"]
        assert set(told.split(",")) == internal_addresses()
    assert set(SERVICES["topics"]["command"][-1].split(",")) == internal_addresses()
    assert set(SERVICES["topics"]["depends_on"]) == set(BROKERS)


def test_driver_and_workers_find_the_master() -> None:
    command = SERVICES["spark-master"]["command"]
    master = f"spark://{command[command.index('--host') + 1]}:{command[command.index('--port') + 1]}"
    assert master == environment("streaming")["STREAMING_MASTER"]
    assert all(SERVICES[f"spark-worker-{n}"]["command"][-1] == master for n in (1, 2))
    assert master == "spark://spark-master:7077"


def test_the_dashboard_is_published_where_it_listens_and_asked_what_it_answers() -> None:
    port = environment("api")["DASHBOARD_PORT"]
    assert ("api", "127.0.0.1:8000", port) in set(published_ports())
    paths = {getattr(route, "path", "") for route in health_routes(Health()).routes}
    asked = re.search(rf"http://localhost:{port}(/\w+)'", SERVICES["api"]["healthcheck"]["test"][-1])
    assert asked
    assert asked[1] in paths


def test_the_brokers_have_the_version_that_is_tested_here() -> None:
    ivy = (ROOT / "local_stack" / "ivy.xml").read_text()
    version = re.search(r'name="kafka_2\.13" rev="([^"]+)"', ivy)
    assert version
    assert {service["image"] for service in BROKERS.values()} == {f"apache/kafka:{version[1]}"}


def test_our_image_has_the_version_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {service["image"] for service in OURS.values()} == {f"{project['name']}:{project['version']}"}


def test_the_image_is_built_from_the_lock_with_a_python_that_the_project_takes_and_without_root() -> None:
    python = re.search(r"^FROM python:3\.(\d+)-slim-bookworm$", DOCKERFILE, re.MULTILINE)
    assert python
    assert int(python[1]) >= 11
    assert f"SPARK_HOME=/usr/local/lib/python3.{python[1]}/site-packages/pyspark" in DOCKERFILE
    assert "pip install --no-cache-dir --require-hashes -r requirements/run.lock" in DOCKERFILE
    user, jars = DOCKERFILE.index("USER trucks"), DOCKERFILE.index("python -m local_stack jars")
    assert user < jars


def test_the_image_holds_every_package_and_docker_may_see_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = set(project["tool"]["importlinter"]["root_packages"]) - {"benchmarks"}
    copied = set(re.findall(r"^COPY (?:--chown=\w+ )?(\S+) ", DOCKERFILE, re.MULTILINE))
    seen = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == packages | {"requirements/run.lock"} == seen


def test_the_jars_lie_where_the_spark_job_looks() -> None:
    workdir = re.search(r"^WORKDIR (\S+)$", DOCKERFILE, re.MULTILINE)
    assert workdir
    default = streaming.settings.Settings.model_fields["jars_dir"].default
    assert environment("streaming")["STREAMING_JARS_DIR"] == f"{workdir[1]}/{default}"
