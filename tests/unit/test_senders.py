"""Apprise really sends: a mail over SMTP and a POST as ntfy takes it, both to servers of our own."""

import json
import threading
from collections.abc import Iterator
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from local_stack.ports import free_ports
from notifier.senders import Around, make_sender
from notifier.targets import Forbidden
from notifier.webhook import Limits, Refused
from notifier.wording import about
from store.sending import Claimed
from tests.unit.test_notifications import TRUCK
from tests.unit.test_store import AT_MS, an_alert

# Apprise asks for a module of Python that goes away with 3.13.
pytestmark = pytest.mark.filterwarnings("ignore:.*imghdr.*:DeprecationWarning")
LOOPBACK = IPv4Network("127.0.0.0/8")


class Ntfy:
    """Keeps what is posted to it."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.status = 200
        taken = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                taken.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(taken.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_args: Any) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"


@pytest.fixture
def ntfy() -> Iterator[Ntfy]:
    made = Ntfy()
    threading.Thread(target=made.server.serve_forever, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


class Mailbox:
    """Keeps the mails that it is given."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, list[str], str]] = []
        self.host = f"127.0.0.1:{free_ports(1)[0]}"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 (aiosmtpd's name)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        body = mail.get_body(("html", "plain"))
        assert body is not None
        self.mails.append((str(mail["Subject"]), envelope.rcpt_tos, body.get_content()))
        return "250 taken"


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    made = Mailbox()
    host, _, port = made.host.partition(":")
    controller = Controller(made, hostname=host, port=int(port))
    controller.start()
    yield made
    controller.stop()


def send(url: str, tmp_path: Path, *allowed: IPv4Network) -> None:
    around = Around(Limits(timeout_s=5, allow_http=False, allowed=allowed), tmp_path, "http://map")
    alert = an_alert()
    claimed = Claimed("msg_1", "channel", "raised", 0, AT_MS, [(alert, about(alert, None, TRUCK))])
    make_sender("apprise", {"url": url}, around, lambda: AT_MS).send(claimed)


def mail_url(mailbox: Mailbox) -> str:
    return f"mailto://{mailbox.host}?smtp=127.0.0.1&mode=insecure&from=fleet@example.org&to=ana@example.org"


def test_a_mail_is_sent(mailbox: Mailbox, tmp_path: Path) -> None:
    send(mail_url(mailbox), tmp_path, LOOPBACK)
    [(subject, receivers, text)] = mailbox.mails
    assert "Prairie Wind" in subject
    assert receivers == ["ana@example.org"]
    assert "http://map/?alert=a" in text
    assert len(text.replace("<br", "\n<br").splitlines()) > 2


def test_a_post_is_sent_as_ntfy_takes_it(ntfy: Ntfy, tmp_path: Path) -> None:
    send(f"ntfy://{ntfy.host}/alerts", tmp_path, LOOPBACK)
    [told] = ntfy.heard
    assert (told["topic"], "Prairie Wind" in told["title"]) == ("alerts", True)
    assert "http://map/?alert=a" in told["message"]


def test_what_the_receiver_refuses_is_not_delivered(ntfy: Ntfy, tmp_path: Path) -> None:
    ntfy.status = 500
    with pytest.raises(Refused, match="could not deliver"):
        send(f"ntfy://{ntfy.host}/alerts", tmp_path, LOOPBACK)


def test_apprise_reaches_no_inner_address_unless_it_is_allowed(ntfy: Ntfy, mailbox: Mailbox, tmp_path: Path) -> None:
    ntfy_url = f"ntfy://{ntfy.host}/alerts"
    for url in (ntfy_url, mail_url(mailbox), f"{ntfy_url},{ntfy_url}"):
        with pytest.raises(Forbidden, match=r"127\.0\.0\.1 is not a public address"):
            send(url, tmp_path)
        with pytest.raises(Forbidden):
            send(url, tmp_path, IPv4Network("10.0.0.0/8"))
    assert (ntfy.heard, mailbox.mails) == ([], [])


@pytest.mark.parametrize("url", ["syslog://", "dbus://", "nothing://a", "ntfy://"])
def test_what_is_no_receiver_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        send(url, tmp_path, LOOPBACK)
