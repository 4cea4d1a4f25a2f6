"""`python -m dashboard_api` as a process with a store of its own, and a client that asks it."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from dashboard_api.access import read_admin_key
from local_stack.ports import free_ports
from tests.eventually import eventually
from tests.running import Running


class RunningApi(Running):
    """Started by `start`, also again after `kill`: the same port, store and key."""

    def __init__(self, bootstrap_servers: str, folder: Path, store_url: str | None = None, **settings: str) -> None:
        self.port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        key_file = folder / "admin.key"
        self.key = read_admin_key(key_file)
        self.headers = {"Authorization": f"Bearer {self.key}"}
        usual = {
            "DASHBOARD_BOOTSTRAP_SERVERS": bootstrap_servers,
            "DASHBOARD_PORT": str(self.port),
            "DASHBOARD_STORE_URL": store_url or f"sqlite:///{folder / 'store.db'}",
            "DASHBOARD_ADMIN_KEY_FILE": str(key_file),
            "DASHBOARD_SEALING_KEY_FILE": str(folder / "sealing.key"),
            "DASHBOARD_REQUESTS_PER_S": "100000",
        }
        super().__init__("dashboard_api", folder / "api.log", usual | settings)
        self._client = httpx.Client(base_url=self.url, headers=self.headers, timeout=30)

    def __enter__(self) -> Self:
        self.start()
        self.wait_until_ready()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        assert self.stop() == 0, self.output
        self._client.close()

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.request("GET", path, **more)

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        if self.ended:
            raise RuntimeError(f"the API died: {self.output}")
        return self._client.request(method, path, **more)

    def wait_until_ready(self) -> None:
        eventually(lambda: self.get("/readyz").raise_for_status(), timeout_s=90)
