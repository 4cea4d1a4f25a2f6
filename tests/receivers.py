"""Receivers of webhooks on this machine: one that takes them, and every kind that does not."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from standardwebhooks import Webhook

from local_stack.ports import free_ports
from store import channels

DRIP_S = 0.2


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # A thousand may knock at once.
    request_queue_size = 128

    def handle_error(self, *_args: Any) -> None:
        """Nothing: a client that was killed, or that has waited long enough, ends in the middle of its request."""


class Receiver:
    """Keeps every webhook that it took, with its signature verified by the public library; answers 200."""

    scheme = "http"

    def __init__(self) -> None:
        self.secret = channels.new_secret()
        self.tried = 0
        self.heard: list[tuple[str, float, Any]] = []
        self.signatures: list[str] = []
        self.stopped = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.tried += 1
                receiver.answer(self, body)

            def log_message(self, *_args: Any) -> None:
                """Nothing."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"{self.scheme}://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        told = Webhook(self.secret).verify(body, dict(handler.headers))
        self.heard.append((handler.headers["webhook-id"], time.time(), told))
        self.signatures.append(handler.headers["webhook-signature"])
        say(handler, 200)

    @property
    def config(self) -> dict[str, Any]:
        return {"url": self.url, "secrets": [self.secret]}

    def close(self) -> None:
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()


class Refusing(Receiver):
    """Answers with a status, and takes nothing until that is 200."""

    def __init__(self, status: int, **headers: str) -> None:
        self.status = status
        self.headers = headers
        super().__init__()

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if self.status == 200:
            super().answer(handler, body)
        else:
            say(handler, self.status, **self.headers)


class Busy(Receiver):
    """Answers 429 so many times, then takes everything."""

    def __init__(self, times: int, retry_after: Callable[[], str]) -> None:
        self._times, self._retry_after = times, retry_after
        super().__init__()

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if self.tried <= self._times:
            say(handler, 429, **{"Retry-After": self._retry_after()})
        else:
            super().answer(handler, body)


class Mute(Receiver):
    """Hears, and never answers."""

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.stopped.wait(60)
        handler.close_connection = True


class Dripping(Receiver):
    """Answers a byte at a time: each comes in time, the whole never."""

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        handler.close_connection = True
        for each in b"HTTP/1.1 200 OK\r\n" + b"X-Filler: drip\r\n" * 100:
            if self.stopped.wait(DRIP_S):
                return
            handler.wfile.write(bytes([each]))


class Untrusted(Receiver):
    """Speaks TLS with a certificate that nobody has signed."""

    scheme = "https"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate(folder))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)


class Down(Receiver):
    """Nobody listens there."""

    def __init__(self) -> None:
        super().__init__()
        self.close()
        self.url = f"http://127.0.0.1:{free_ports(1)[0]}/hook"

    def close(self) -> None:
        if not self.stopped.is_set():
            super().close()


def say(handler: BaseHTTPRequestHandler, status: int, **headers: str) -> None:
    handler.send_response(status)
    for name, value in (headers | {"Content-Length": "0"}).items():
        handler.send_header(name, value)
    handler.end_headers()


@contextmanager
def closing(*receivers: Receiver) -> Iterator[None]:
    try:
        yield
    finally:
        for each in receivers:
            each.close()


def certificate(folder: Path) -> Path:
    """A key and its certificate in one file, for 127.0.0.1, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    path = folder / "receiver.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return path
