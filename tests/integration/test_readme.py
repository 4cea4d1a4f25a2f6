"""The curl examples of the README do what they say."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from kafka import KafkaProducer

from dashboard_api.answers import TRUCK_EXAMPLE
from local_stack.answers import login_link
from schemas.topics import TOPICS, TRUCKS_STATE
from tests.conftest import Kafka
from tests.eventually import eventually
from tests.running import ROOT
from tests.running_api import RunningApi
from tests.unit.test_api_fences import SQUARE

ENDLESS = 28  # curl's exit code when --max-time has passed.
# Every call of the README's own alias ends, and tells its status.
CURL = 'shopt -s expand_aliases; curl() { command curl --max-time 5 -w "\\n%{http_code}" "$@"; }'


def block() -> list[str]:
    section = (ROOT / "README.md").read_text().partition("## Use the API")[2]
    found = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return [line for line in found[1].splitlines() if line]


def test_every_curl_example_is_answered(kafka: Kafka, tmp_path: Path) -> None:
    kafka.make_topics(*TOPICS)
    square = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [SQUARE]}, "properties": {"name": "S"}}
    (tmp_path / "fences.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [square]}))
    examples = [line for line in block() if line.startswith("ask ")]
    setup = [line for line in block() if line not in examples]
    # No example of the README is elsewhere, and nothing in the block is left out.
    assert (ROOT / "README.md").read_text().count("curl") == 1
    assert ([line.partition("=")[0] for line in setup], len(examples)) == (["KEY", "alias ask", "API"], 11)
    (tmp_path / ".data").mkdir()
    with RunningApi(kafka.bootstrap_servers, tmp_path / ".data") as api:
        drive(kafka, api, "truck-00007")
        begin = [CURL, *setup, f"API={api.url}"]
        for example in examples:
            check(begin, example, tmp_path)
        exported = json.loads((tmp_path / "exported.geojson").read_bytes())["features"]
        assert "S" in {each["properties"]["name"] for each in exported}
        assert login_link(api.port, api.key).startswith(f"{api.url}/login?token=")
        assert login_link(api.port, "wrong") == api.url


def drive(kafka: Kafka, api: RunningApi, truck_id: str) -> None:
    make: Any = KafkaProducer
    producer = make(bootstrap_servers=kafka.bootstrap_servers)
    state = json.dumps(TRUCK_EXAMPLE | {"truck_id": truck_id}).encode()
    producer.send(TRUCKS_STATE.name, key=truck_id.encode(), value=state).get(timeout=20)
    producer.close()
    eventually(lambda: api.get(f"/api/trucks/{truck_id}").is_success)


def check(begin: list[str], example: str, folder: Path) -> None:
    script = "\n".join([*begin, example])
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    if "/api/live" in example:
        assert (done.returncode, "event: hello" in done.stdout) == (ENDLESS, True), done
        return
    body, _, status = done.stdout.rpartition("\n")
    assert (done.returncode, status in ("200", "201")) == (0, True), (example, done)
    if body:
        json.loads(body)
