"""Webhooks by the Standard Webhooks convention: signed, to a pinned address, without redirects, within a time."""

import re
import ssl
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore
from standardwebhooks import Webhook

from notifier.targets import Network, resolve

CONNECT_S = 5.0
# How long a receiver that is asked too often, and does not say for how long, is left alone.
BUSY_S = 5.0
SMALL_ANSWER = 4096
_deadline = threading.local()


class Refused(Exception):  # noqa: N818 (said of the receiver)
    """The receiver did not take it; `busy`: it is well, and only asked too often."""

    def __init__(self, why: str, *, retry_after_s: float | None = None, busy: bool = False, gone: bool = False) -> None:
        super().__init__(why)
        self.retry_after_s = retry_after_s
        self.busy = busy
        self.gone = gone


def left_s(asked_s: float | None) -> float:
    """Whatever httpcore allows a single read or write: all together end at the deadline."""
    left = float(_deadline.at_s - time.monotonic())
    if left <= 0:
        raise httpcore.ReadTimeout("it took too long")
    return left if asked_s is None else min(asked_s, left)


class Timed(httpcore.NetworkStream):
    """A stream that a slow drip cannot keep open."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, left_s(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, left_s(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return Timed(self._stream.start_tls(ssl_context, server_hostname, left_s(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class Pinned(httpcore.NetworkBackend):
    """Resolves once, checks, and connects to what was checked; TLS still asks for the name."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = allowed
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        trouble: Exception = OSError(f"{host} has no address")
        for address in resolve(host, port, self._allowed):
            try:
                return Timed(self._plain.connect_tcp(address, port, left_s(timeout), local_address, socket_options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                trouble = error
        raise trouble


@dataclass(frozen=True)
class Limits:
    timeout_s: float
    allow_http: bool
    allowed: Sequence[Network]


class WebhookSender:
    def __init__(self, limits: Limits, context: ssl.SSLContext | None = None) -> None:
        self._limits = limits
        context = context or ssl.create_default_context()
        self._pool = httpcore.ConnectionPool(
            ssl_context=context, network_backend=Pinned(limits.allowed), max_keepalive_connections=4, keepalive_expiry=5
        )

    def send(self, url: str, secrets: Sequence[str], webhook_id: str, body: str) -> None:
        """Return when it was taken; raise Refused, or what the connection raised."""
        if not url.startswith("https://") and not (self._limits.allow_http and url.startswith("http://")):
            raise Refused("the address does not begin with https://")
        _deadline.at_s = time.monotonic() + self._limits.timeout_s
        timeouts = {"connect": CONNECT_S, "read": self._limits.timeout_s, "write": self._limits.timeout_s}
        headers = signed(secrets, webhook_id, body, datetime.now(UTC))
        with self._pool.stream(
            "POST", url, headers=headers, content=body.encode(), extensions={"timeout": timeouts}
        ) as answer:
            told = {name.lower(): value.decode(errors="replace") for name, value in answer.headers}
            judge(answer.status, told.get(b"retry-after"))
            # Read to its end, a connection can be used again; a long answer is not worth that.
            if (length := whole(told.get(b"content-length"))) is not None and length <= SMALL_ANSWER:
                try:
                    answer.read()
                except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
                    return

    def close(self) -> None:
        self._pool.close()


def signed(secrets: Sequence[str], webhook_id: str, body: str, now: datetime) -> dict[bytes | str, bytes | str]:
    """One signature per secret: while one takes over from the other, the receiver may know either."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "trucks-gps-notifier",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(each).sign(webhook_id, now, body) for each in secrets),
    }


def judge(status: int, retry_after: str | None) -> None:
    if 200 <= status < 300:
        return
    wait_s = wait_of(retry_after, datetime.now(UTC))
    busy = status == 429
    if busy:
        wait_s = BUSY_S if wait_s is None else max(1.0, wait_s)
    raise Refused(f"the receiver answered {status}", retry_after_s=wait_s, busy=busy, gone=status == 410)


def whole(text: str | None) -> int | None:
    """Nothing else that Python takes for a number, such as digits of other scripts."""
    return int(text) if text is not None and re.fullmatch("[0-9]{1,9}", text) else None


def wait_of(retry_after: str | None, now: datetime) -> float | None:
    """Seconds, or a date as HTTP writes it; None where it is neither."""
    if retry_after is None:
        return None
    if (wait_s := whole(retry_after)) is not None:
        return wait_s
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
