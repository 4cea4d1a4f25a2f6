"""The API keeps what its OpenAPI document says, whatever is sent: schemathesis tries."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx

from dashboard_api.answers import ErrorAnswer
from schemas.topics import TOPICS
from tests.conftest import Kafka
from tests.running_api import RunningApi

# A longer run: SCHEMATHESIS_S=300 python -m pytest tests/integration/test_openapi.py
SECONDS = os.environ.get("SCHEMATHESIS_S", "30")
CONFIG = Path(__file__).parents[1] / "schemathesis.toml"


def test_no_request_breaks_what_the_document_promises(kafka: Kafka, tmp_path: Path, store_url: str) -> None:
    kafka.make_topics(*TOPICS)
    shutil.copy(CONFIG, tmp_path / "schemathesis.toml")
    with RunningApi(kafka.bootstrap_servers, tmp_path, store_url) as api:
        command = [str(Path(sys.executable).parent / "schemathesis"), "--no-color", "run", f"{api.url}/openapi.json"]
        flags = ["--max-time", SECONDS, "--max-failures", "20", "-H", f"Authorization: Bearer {api.key}"]
        done = subprocess.run([*command, *flags], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr
        assert "Test cases:" in done.stdout
        assert '"traceback"' not in api.output
        every_refusal_has_one_shape(api)


def every_refusal_has_one_shape(api: RunningApi) -> None:
    for method, path in (("GET", "/nothing"), ("PATCH", "/api/fences"), ("GET", "/api/alerts?limit=x")):
        ErrorAnswer.model_validate(api.request(method, path).json(), extra="forbid")
    assert api.request("PATCH", "/api/fences").headers["Allow"] == "GET, POST"
    ErrorAnswer.model_validate(httpx.get(f"{api.url}/api/alerts").json(), extra="forbid")
