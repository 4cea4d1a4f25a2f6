"""The demo's own receiver of webhooks: takes them, verifies their signatures, and shows them on a page.

`python -m local_stack.receiver PORT SECRET_FILE` stands for a customer's server, and knows of the notifier only what
such a server would: the Standard Webhooks convention and a secret.
"""

import json
import sys
from collections import deque
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

from standardwebhooks import Webhook, WebhookVerificationError

from local_stack.ports import HOST

PAGE = Path(__file__).with_name("receiver.html")
MOST_SHOWN = 200
MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Heard:
    """`wrong`: why the signature does not hold; None where it does. `again`: the id was here before."""

    received_time: str
    webhook_id: str
    wrong: str | None
    again: bool
    type: str
    title: str
    text: str


class Receiver:
    def __init__(self, secret: str) -> None:
        self._webhook = Webhook(secret)
        self._heard: deque[Heard] = deque(maxlen=MOST_SHOWN)
        self._lock = Lock()
        self._total = 0

    def take(self, body: bytes, headers: dict[str, str]) -> bool:
        """Whether the signature holds; kept either way."""
        wrong, told = None, {}
        try:
            told = self._webhook.verify(body, headers)
        except (WebhookVerificationError, ValueError) as error:
            wrong = str(error) or type(error).__name__
        data = told.get("data", {}) if isinstance(told, dict) else {}
        webhook_id = headers.get("webhook-id", "")[:200]
        with self._lock:
            again = any(each.webhook_id == webhook_id and each.wrong is None for each in self._heard)
            kind = str(told.get("type", "")) if wrong is None else ""
            received_time = datetime.now(UTC).isoformat(timespec="milliseconds")
            title, text = str(data.get("title", "")), str(data.get("text", ""))
            self._heard.appendleft(Heard(received_time, webhook_id, wrong, again, kind, title, text))
            self._total += 1
        return wrong is None

    def shown(self) -> bytes:
        with self._lock:
            return json.dumps({"total": self._total, "items": [asdict(each) for each in self._heard]}).encode()


def make_server(port: int, receiver: Receiver) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > MOST_BYTES:
                self.close_connection = True
                return self._answer(413)
            headers = {name.lower(): value for name, value in self.headers.items()}
            return self._answer(204 if receiver.take(self.rfile.read(int(length)), headers) else 401)

        def do_GET(self) -> None:
            if self.path == "/":
                return self._answer(200, PAGE.read_bytes(), "text/html; charset=utf-8")
            if self.path == "/webhooks":
                return self._answer(200, receiver.shown(), "application/json")
            return self._answer(404)

        def _answer(self, status: int, body: bytes = b"", media_type: str = "text/plain") -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Cache-Control", "no-cache")
            if status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Nothing: the page shows it."""

    server = ThreadingHTTPServer((HOST, port), Handler)
    server.daemon_threads = True
    return server


def main() -> None:
    port, secret_file = int(sys.argv[1]), Path(sys.argv[2])
    make_server(port, Receiver(secret_file.read_text().strip())).serve_forever()


if __name__ == "__main__":
    main()
