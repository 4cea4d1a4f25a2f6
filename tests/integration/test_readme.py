"""The curl examples of the README do what they say."""

import json
import re
import subprocess
from pathlib import Path

from local_stack.answers import login_link
from schemas.topics import TOPICS
from tests.conftest import Kafka
from tests.running_api import ROOT, RunningApi
from tests.unit.test_api_fences import SQUARE

ENDLESS = 28  # curl's exit code when --max-time has passed.


def examples() -> list[str]:
    section = (ROOT / "README.md").read_text().partition("## Use the API")[2]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return [re.split(r"\s{2,}# ", line)[0] for line in block[1].splitlines() if line.startswith("ask ")]


def test_every_curl_example_is_answered(kafka: Kafka, tmp_path: Path) -> None:
    kafka.make_topics(*TOPICS)
    square = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [SQUARE]}, "properties": {"name": "S"}}
    (tmp_path / "fences.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [square]}))
    with RunningApi(kafka.bootstrap_servers, tmp_path) as api:
        assert len(examples()) > 8
        for example in examples():
            check(api, example, tmp_path)
        assert login_link(api.port, api.key).startswith(f"{api.url}/login?token=")
        assert login_link(api.port, "wrong") == api.url


def check(api: RunningApi, example: str, folder: Path) -> None:
    curl = 'curl -s --max-time 5 -w "\\n%{http_code}" -H "Authorization: Bearer $KEY"'
    script = example.replace("ask ", f"{curl} ", 1)
    env = {"KEY": api.key, "API": api.url, "PATH": "/usr/bin:/bin:/usr/local/bin"}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if "/api/live" in example:
        assert (done.returncode, "event: hello" in done.stdout) == (ENDLESS, True), done
        return
    body, _, status = done.stdout.rpartition("\n")
    # There is no truck of that name here, and it is told so in the API's own shape.
    expected = ("404",) if "truck-00007" in example else ("200", "201")
    assert (done.returncode, status in expected) == (0, True), (example, done)
    json.loads(body)
