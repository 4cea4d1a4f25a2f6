"""The dashboard's application without a socket and without Kafka, and a client that asks it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from cryptography.fernet import Fernet
from fastapi import FastAPI

from dashboard_api.access import Access, Role
from dashboard_api.app import make_app
from dashboard_api.health import Health
from dashboard_api.hub import Hub
from dashboard_api.metrics import Metrics
from dashboard_api.parts import Parts
from dashboard_api.view import View
from store import keys
from store.engine import Store
from store.moments import as_ms
from store.sealing import Sealer

NOW = datetime(2026, 3, 2, 14, 6, tzinfo=UTC)
ADMIN_KEY = "tg_file_" + "a" * 43


class Client:
    """Asks the application without a socket. (Starlette's own test client warns about the httpx that is installed.)"""

    def __init__(self, app: FastAPI, key: str | None) -> None:
        self._app = app
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def get(self, path: str, params: Any = None, **more: Any) -> httpx.Response:
        return self.request("GET", path, params=params, **more)

    def post(self, path: str, json: Any = None, **more: Any) -> httpx.Response:
        return self.request("POST", path, json=json, **more)

    def request(self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, path, headers=self.headers | (headers or {}), **more)

        return asyncio.run(ask())


class Api:
    """All parts, with a clock that stands still unless it is moved."""

    def __init__(self, store: Store, requests_per_s: float) -> None:
        self.now = NOW
        self.store = store
        self.view = View()
        self.health = Health(connected=True, rebuilt=True, trouble="")
        self.access = Access(store, ADMIN_KEY, self.now_ms)
        self.sealer = Sealer(Fernet.generate_key())
        self.parts = Parts(self.view, self.health, store, self.access, now=lambda: self.now, sealer=self.sealer)
        self.hub = Hub(self.view, store, self.now_ms)
        self.metrics = Metrics()
        self.metrics.watch(self.view, self.health)
        self.app = make_app(self.parts, self.hub, self.metrics, requests_per_s=requests_per_s)

    def now_ms(self) -> int:
        return as_ms(self.now)

    def client(self, role: Role | None = Role.ADMIN) -> Client:
        """None: a stranger."""
        if role in (None, Role.ADMIN):
            return Client(self.app, ADMIN_KEY if role else None)
        wanted = keys.Wanted(f"a {role}", str(role), None)
        return Client(self.app, keys.make(self.store, wanted, who="test", at_ms=self.now_ms())[0])


@contextmanager
def made(folder: Path, requests_per_s: float = 1e6, store_url: str | None = None) -> Iterator[Api]:
    store = Store(store_url or f"sqlite:///{folder / 'store.db'}")
    yield Api(store, requests_per_s)
    store.close()
