"""`python -m dashboard_api` as a process with a store of its own, and what writes to Kafka for it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from dashboard_api.access import read_admin_key
from local_stack.ports import free_ports
from tests.eventually import eventually

ROOT = Path(__file__).parents[1]


class RunningApi:
    """Started by `start`, also again after `kill`: the same port, store and key."""

    def __init__(self, bootstrap_servers: str, folder: Path, store_url: str | None = None, **settings: str) -> None:
        self.port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = folder / "api.log"
        key_file = folder / "admin.key"
        self.key = read_admin_key(key_file)
        self.headers = {"Authorization": f"Bearer {self.key}"}
        self._env = os.environ | {
            "DASHBOARD_BOOTSTRAP_SERVERS": bootstrap_servers,
            "DASHBOARD_PORT": str(self.port),
            "DASHBOARD_STORE_URL": store_url or f"sqlite:///{folder / 'store.db'}",
            "DASHBOARD_ADMIN_KEY_FILE": str(key_file),
            "DASHBOARD_SEALING_KEY_FILE": str(folder / "sealing.key"),
            "DASHBOARD_REQUESTS_PER_S": "100000",
            **settings,
        }
        self.process: subprocess.Popen[bytes] | None = None
        self._client = httpx.Client(base_url=self.url, headers=self.headers, timeout=30)

    def __enter__(self) -> Self:
        self.start()
        self.wait_until_ready()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        assert self.stop() == 0, self.output
        self._client.close()

    @property
    def output(self) -> str:
        return self._log.read_text()

    def start(self) -> None:
        with self._log.open("ab") as log:
            command = [sys.executable, "-m", "dashboard_api"]
            self.process = subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=log, stderr=log)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.request("GET", path, **more)

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        if self.process is not None and self.process.poll() is not None:
            raise RuntimeError(f"the API died: {self.output}")
        return self._client.request(method, path, **more)

    def wait_until_ready(self) -> None:
        eventually(lambda: self.get("/readyz").raise_for_status(), timeout_s=90)
