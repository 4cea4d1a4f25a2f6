"""Apprise really sends, to servers of our own, and only to addresses that are allowed; so do webhooks."""

import json
import multiprocessing
import socket
import time
from collections.abc import Iterator
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import httpcore
import pytest
from aiosmtpd.controller import Controller

from local_stack.ports import free_ports
from notifier.senders import Around, make_sender, payload
from notifier.targets import Forbidden
from notifier.webhook import Limits, Refused, WebhookSender
from notifier.wording import about, notice
from schemas.models import Alert
from store.channels import new_secret
from store.sending import Claimed
from tests.receivers import Receiver, closing, say
from tests.unit.test_store import AT_MS, an_alert
from tests.unit.test_wording import LINK, TRUCK

LOOPBACK = IPv4Network("127.0.0.0/8")


class Ntfy(Receiver):
    """Keeps what is posted to it."""

    def __init__(self) -> None:
        self.status, self.posts = 200, list[dict[str, Any]]()
        super().__init__()
        self.host = f"127.0.0.1:{self.server.server_port}"

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.posts.append(json.loads(body))
        say(handler, self.status)


@pytest.fixture
def ntfy() -> Iterator[Ntfy]:
    made = Ntfy()
    with closing(made):
        yield made


class Mailbox:
    """Keeps the mails that it is given."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, list[str], str, str]] = []
        self.host = f"127.0.0.1:{free_ports(1)[0]}"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 (aiosmtpd's name)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        # As a reader of mail chooses: HTML where there is some.
        body = mail.get_body(("html", "plain"))
        assert body is not None
        self.mails.append((str(mail["Subject"]), envelope.rcpt_tos, body.get_content_type(), body.get_content()))
        return "250 taken"


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    made = Mailbox()
    host, _, port = made.host.partition(":")
    controller = Controller(made, hostname=host, port=int(port))
    controller.start()
    yield made
    controller.stop()


def send(url: str, tmp_path: Path, *allowed: IPv4Network, timeout_s: float = 30) -> None:
    around = Around(Limits(timeout_s=timeout_s, allow_http=False, allowed=allowed), tmp_path, "http://map")
    alert = an_alert()
    claimed = Claimed("msg_1", "channel", "raised", 0, AT_MS, [(alert, about(alert, None, TRUCK))])
    make_sender("apprise", {"url": url}, around, lambda: AT_MS).send(claimed)


def mail_url(mailbox: Mailbox) -> str:
    return f"mailto://{mailbox.host}?smtp=127.0.0.1&mode=insecure&from=fleet@example.org&to=ana@example.org"


def test_a_mail_is_sent(mailbox: Mailbox, tmp_path: Path) -> None:
    send(mail_url(mailbox), tmp_path, LOOPBACK)
    [(subject, receivers, kind, text)] = mailbox.mails
    assert "Prairie Wind" in subject
    assert receivers == ["ana@example.org"]
    # As plain text, in which an end of line is one; in HTML it would be a space.
    assert kind == "text/plain"
    assert text.splitlines() == [
        "Truck: Prairie Wind · t1 · IL 482, driven by Ana Flores",
        "Where: depot, 4 km S of Hobart, 41.50000, -87.25000",
        "When: Mon 02 Mar 2026 08:05 CST",
        LINK,
    ]


def test_a_post_is_sent_as_ntfy_takes_it(ntfy: Ntfy, tmp_path: Path) -> None:
    send(f"ntfy://{ntfy.host}/alerts", tmp_path, LOOPBACK)
    [told] = ntfy.posts
    assert (told["topic"], "Prairie Wind" in told["title"]) == ("alerts", True)
    assert LINK in told["message"]


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
    assert (ntfy.posts, mailbox.mails) == ([], [])


def test_a_webhook_says_what_kind_of_news_it_brings_and_is_the_same_at_every_try() -> None:
    raised, cleared = an_alert("a"), an_alert("b", status="cleared")

    def body(what: str, *alerts: Alert) -> Any:
        claimed = Claimed("msg_1", "channel", what, 0, AT_MS, [(each, {"truck": "T1"}) for each in alerts])
        told = notice(what, claimed.alerts, "http://map")
        assert payload(claimed, told) == payload(claimed, told)
        return json.loads(payload(claimed, told))

    assert [body(what, raised)["type"] for what in ("raised", "repeat")] == ["alert.raised", "alert.repeat"]
    assert body("raised", cleared)["type"] == "alert.cleared"
    mixed = body("raised", raised, cleared)
    assert (mixed["type"], mixed["timestamp"]) == ("alert.mixed", "2026-03-02T14:05:00Z")
    found = [(each["alert_id"], each["status"], each["about"]) for each in mixed["data"]["alerts"]]
    assert found == [("a", "raised", {"truck": "T1"}), ("b", "cleared", {"truck": "T1"})]


@pytest.mark.parametrize("url", ["syslog://", "dbus://", "nothing://a", "ntfy://"])
def test_what_is_no_receiver_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        send(url, tmp_path, LOOPBACK)


def test_a_plugin_that_looks_its_host_up_by_itself_reaches_nothing(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        port = heard.getsockname()[1]
        for url in (f"rsyslog://localhost:{port}", f"rsyslog://127.0.0.1:{port}"):
            with pytest.raises(Forbidden):
                send(url, tmp_path)
        send(f"rsyslog://127.0.0.1:{port}", tmp_path, LOOPBACK)
        heard.settimeout(5)
        assert b"Prairie Wind" in heard.recv(4096)
        heard.setblocking(False)
        with pytest.raises(BlockingIOError):
            heard.recv(1)


def test_apprise_asks_no_proxy_of_the_environment(ntfy: Ntfy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://{ntfy.host}")
    with pytest.raises(Refused):
        send("ntfy://127.0.0.2:9/alerts", tmp_path, LOOPBACK)
    assert ntfy.posts == []


def test_a_server_that_never_answers_is_given_up_in_time(tmp_path: Path) -> None:
    """Apprise itself would wait as long as the mail server drips."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            send(
                f"mailto://127.0.0.1:{port}?smtp=127.0.0.1&mode=insecure&from=a@example.org&to=b@example.org",
                tmp_path,
                LOOPBACK,
                timeout_s=2,
            )
        assert time.monotonic() - began < 10
    assert multiprocessing.active_children() == []


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """The name `inner.example` leads to the first answer, the next time to the second …; returns what was asked."""
    asked: list[str] = []
    real, left = socket.getaddrinfo, list(answers)

    def getaddrinfo(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        if host != "inner.example":
            return real(host, port, *more, **named)
        asked.append(host)
        found = left.pop(0) if len(left) > 1 else left[0]
        return [answer for each in found for answer in real(each, port, *more, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def post(url: str, *allowed: IPv4Network) -> None:
    sender = WebhookSender(Limits(timeout_s=5, allow_http=True, allowed=allowed))
    try:
        sender.send(url, [new_secret()], "msg_1", "{}")
    finally:
        sender.close()


def test_a_webhook_reaches_no_inner_address_by_number_or_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    receiver = Receiver()
    port = receiver.server.server_port
    resolving(monkeypatch, ["93.184.216.34", "127.0.0.1"])
    with closing(receiver):
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0", "inner.example"):
            with pytest.raises((Forbidden, httpcore.ConnectError), match="not a public address"):
                post(f"http://{host}:{port}/")
    assert receiver.tried == 0


def test_a_name_is_looked_up_once_and_what_was_looked_at_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that answers something harmless first, and something else when it is asked again."""
    receiver = Receiver()
    asked = resolving(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
    with closing(receiver):
        sender = WebhookSender(Limits(timeout_s=5, allow_http=True, allowed=[LOOPBACK]))
        sender.send(f"http://inner.example:{receiver.server.server_port}/", [receiver.secret], "msg_1", "{}")
        sender.close()
    assert (len(asked), [webhook_id for webhook_id, _, _ in receiver.heard]) == (1, ["msg_1"])


def test_a_webhook_is_not_sent_without_tls_unless_that_is_allowed() -> None:
    sender = WebhookSender(Limits(timeout_s=5, allow_http=False, allowed=[LOOPBACK]))
    with pytest.raises(Refused, match="https://"):
        sender.send("http://127.0.0.1:9/", [new_secret()], "msg_1", "{}")
    sender.close()
