"""Metrics, logs, and the files for Prometheus and Grafana that read them."""

import json
import logging
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboard_api.answers import QUERY_EXAMPLE, TRUCK_EXAMPLE
from dashboard_api.logs import REQUEST_ID, JsonLines
from schemas.models import Alert, Visit
from tests.api import Api
from tests.unit.test_store import a_visit, an_alert

OPERATIONS = Path(__file__).parents[2] / "operations"
RULES: list[dict[str, Any]] = yaml.safe_load((OPERATIONS / "prometheus-rules.yml").read_text())["groups"][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((OPERATIONS / "grafana-dashboard.json").read_text())


@pytest.fixture
def metrics(api: Api) -> str:
    """What Prometheus reads once everything has happened."""
    counts = {"shard": 0, "input": 5, "judged": 3, "duplicate": 0, "late": 0, "rejected": {"bad_lat": 2}}
    api.view.apply("pipeline", "counts/0", json.dumps(counts).encode())
    api.view.apply("pipeline", "query/fixes", json.dumps(QUERY_EXAMPLE).encode())
    api.view.apply("trucks_state", "t", json.dumps(TRUCK_EXAMPLE).encode())
    alerts: list[Alert] = [an_alert()]
    visits: list[Visit] = [a_visit()]
    api.metrics.took_in(alerts, visits)
    api.metrics.stored("read", 0.01)
    client = api.client()
    client.get("/api/trucks")
    return client.get("/metrics").text


def names(text: str) -> set[str]:
    return {re.split(r"[{ ]", line, maxsplit=1)[0] for line in text.splitlines() if not line.startswith("#")}


def asked_for() -> set[str]:
    expressions = [rule["expr"] for rule in RULES]
    expressions += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return {name for each in expressions for name in re.findall(r"\btrucks_\w+", each)}


def test_the_metrics_say_what_an_operator_asks(metrics: str) -> None:
    for line in (
        'trucks_query_input_rows_per_s{query="fixes"} 100.0',
        'trucks_query_lag{query="fixes"} 0.0',
        'trucks_rejects{reason="bad_lat"} 2.0',
        'trucks_alerts_total{kind="geofence_enter",status="raised"} 1.0',
        'trucks_known{status="moving"} 1.0',
        'trucks_clients{way="sse"} 0.0',
        'trucks_store_seconds_count{what="read"} 1.0',
        'trucks_http_seconds_count{method="GET",route="/api/trucks",status="200"} 1.0',
        'trucks_part_ready{part="kafka"} 1.0',
    ):
        assert line in metrics
    assert "trucks_delay_seconds_bucket" in metrics


def test_every_metric_that_rules_and_dashboard_read_exists(metrics: str) -> None:
    assert len(asked_for()) > 10
    assert asked_for() - names(metrics) == set()


def test_every_rule_says_what_to_do() -> None:
    assert all({"summary", "todo"} <= set(rule["annotations"]) for rule in RULES)


def test_promtool_takes_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool on the PATH")
    subprocess.run([promtool, "check", "rules", str(OPERATIONS / "prometheus-rules.yml")], check=True)


def test_a_log_line_is_json_with_the_request_it_is_about() -> None:
    record = logging.LogRecord("a.b", logging.WARNING, "", 0, "%d trucks", (3,), None)
    record.path = "/api/trucks"
    token = REQUEST_ID.set("abc")
    line = json.loads(JsonLines().format(record))
    REQUEST_ID.reset(token)
    assert (line["message"], line["level"], line["request_id"], line["path"]) == (
        "3 trucks",
        "WARNING",
        "abc",
        "/api/trucks",
    )
    assert line["time"].endswith("Z")


def test_no_secret_is_in_the_log(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        path = api.client().post("/api/links", {}).json()["path"]
        key = api.client().post("/api/keys", {"name": "k", "role": "viewer"}).json()["key"]
        api.client(None).get(path)
        api.client(None).get("/api/trucks", headers={"Authorization": f"Bearer {key}"})
    told = "\n".join(JsonLines().format(record) for record in caplog.records if "httpx" not in record.name)
    assert "/login" in told
    assert path.partition("=")[2] not in told
    assert key.rpartition("_")[2] not in told
