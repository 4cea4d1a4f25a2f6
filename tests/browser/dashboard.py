"""A dashboard process over a real broker, and a fleet to show on it."""

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
from kafka import KafkaProducer

from dashboard_api.access import read_admin_key
from local_stack.ports import free_ports
from tests.eventually import eventually

ROOT = Path(__file__).parents[2]


class Dashboard:
    """`python -m dashboard_api`, from start to stop. Its output is in the error when it dies early."""

    def __init__(self, bootstrap_servers: str, log: Path) -> None:
        self.url = f"http://127.0.0.1:{(port := free_ports(1)[0])}"
        self._log = log
        key_file = log.parent / "admin.key"
        self._headers = {"Authorization": f"Bearer {read_admin_key(key_file)}"}
        places = ["--store-url", f"sqlite:///{log}.db", "--admin-key-file", str(key_file)]
        self._flags = ["--port", str(port), "--bootstrap-servers", bootstrap_servers, *places]
        self.start()

    def start(self) -> None:
        """Also again after `stop`: the same port, store and key."""
        with self._log.open("a") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dashboard_api", *self._flags],
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def output(self) -> str:
        return self._log.read_text()

    def get(self, path: str) -> httpx.Response:
        if self._process.poll() is not None:
            raise RuntimeError(f"the dashboard died: {self.output}")
        return httpx.get(self.url + path, headers=self._headers, timeout=5)

    def login_link(self, role: str = "dispatcher") -> str:
        """Opens the page in one browser."""
        made = httpx.post(f"{self.url}/api/links", json={"role": role}, headers=self._headers, timeout=5)
        return self.url + str(made.json()["path"])

    def wait_until_ready(self) -> None:
        eventually(lambda: self.get("/readyz").status_code == 200, timeout_s=60)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        if self._process.poll() is None:
            self._process.send_signal(how)
        return self._process.wait(timeout=20)


class Publisher:
    """Writes what the pipeline would write."""

    def __init__(self, bootstrap_servers: str) -> None:
        make: Any = KafkaProducer
        self._producer = make(bootstrap_servers=bootstrap_servers, linger_ms=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._producer.close()

    def put(self, topic: str, key: str, value: dict[str, Any] | bytes) -> None:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self._producer.send(topic, key=key.encode(), value=content)

    def flush(self) -> None:
        self._producer.flush(timeout=20)


def state(truck_id: str, moment: datetime, **changes: Any) -> dict[str, Any]:
    usual = {
        "truck_id": truck_id,
        "event_time": moment.isoformat(),
        "received_time": moment.isoformat(),
        "lat": 39.0,
        "lon": -98.0,
        "seq": None,
        "accuracy_m": 5.0,
        "speed_kmh": 88.0,
        "heading_deg": 90.0,
        "segment_m": 24.0,
        "jump": False,
        "status": "moving",
        "status_since": (moment - timedelta(minutes=42)).isoformat(),
    }
    return usual | changes


def window(start: datetime, truck_id: str | None = None, **changes: Any) -> tuple[str, dict[str, Any]]:
    """A record of `trucks_windows`: key and value."""
    scope = "fleet" if truck_id is None else "truck"
    value = {
        "scope": scope,
        "truck_id": truck_id,
        "window_start": start.isoformat(),
        "window_end": (start + timedelta(minutes=1)).isoformat(),
        "length_s": 60,
        "fixes": 6000,
        "speed_avg_kmh": 71.3,
        "speed_top_kmh": 118.0,
        "distance_m": 118_833.0,
        "moving_s": 5100.0,
        "idle_s": 900.0,
        "first_lat": None,
        "first_lon": None,
        "last_lat": None,
        "last_lon": None,
        "active_trucks": 100 if truck_id is None else None,
        "final": True,
    } | changes
    return f"{scope}/{truck_id or ''}/60/{start.isoformat()}", value


def reject(offset: int, moment: datetime, **changes: Any) -> dict[str, Any]:
    usual = {
        "reason": "bad_lat",
        "detail": "lat is 91.5, outside -90 to 90",
        "truck_id": "truck-0007",
        "topic": "trucks_gps",
        "partition": 3,
        "offset": offset,
        "received_time": moment.isoformat(),
        "size_bytes": 142,
        "raw_base64": "",
    }
    return usual | changes


def alert(alert_id: str, moment: datetime, **changes: Any) -> dict[str, Any]:
    usual = {
        "alert_id": alert_id,
        "revision": 0,
        "status": "raised",
        "kind": "overspeed",
        "severity": "warning",
        "truck_id": "truck-0007",
        "fence_id": None,
        "start_time": moment.isoformat(),
        "end_time": None,
        "lat": 39.0,
        "lon": -98.0,
        "cause": None,
        "explanation": {"speed_kmh": 121.3, "limit_kmh": 110.0, "inferred": False},
    }
    return usual | changes


def now() -> datetime:
    return datetime.now(UTC)


def this_minute() -> datetime:
    return now().replace(second=0, microsecond=0)
