"""Middleware around everything: a request id, headers that every answer carries, times for Prometheus, the log."""

import logging
import re
import secrets
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard_api.errors import SECURITY_HEADERS
from dashboard_api.logs import REQUEST_ID
from dashboard_api.metrics import Metrics

log = logging.getLogger(__name__)
SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
NO_STORE = (b"cache-control", b"no-store")


class Observe:
    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        request_id = choose_id(asked.decode("latin-1"))
        token = REQUEST_ID.set(request_id)
        began, status = time.perf_counter(), 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = list(message.get("headers", ()))
                if scope["path"].startswith("/api/") and not any(name == b"cache-control" for name, _ in headers):
                    headers.append(NO_STORE)
                message["headers"] = [*headers, *RAW_HEADERS, (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            self._note(scope, status, time.perf_counter() - began)
            REQUEST_ID.reset(token)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        """The path without its query: a login token must not be in a log."""
        self._metrics.answered(scope["method"], getattr(scope.get("route"), "path", "none"), status, seconds)
        # A flood must not fill the disk as well; the metrics count it.
        is_quiet = status == 429 or (scope["method"] == "GET" and status < 400)
        level = logging.DEBUG if is_quiet else logging.INFO
        if log.isEnabledFor(level):
            who = scope.get("state", {}).get("who")
            told = {"method": scope["method"], "path": scope["path"], "status": status, "ms": round(1000 * seconds, 1)}
            log.log(level, "answered", extra=told | {"who": who.label if who else None})


def choose_id(asked: str) -> str:
    return asked if asked and SANE_ID.fullmatch(asked) else secrets.token_hex(8)
