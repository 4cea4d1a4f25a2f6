"""The receiver that comes with the demo verifies what it shows; the demo's channels are set once."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from local_stack import notifications
from local_stack.receiver import Receiver, make_server
from notifier.webhook import signed
from tests.api import ADMIN_KEY, Api

BODY = json.dumps({"type": "alert.raised", "data": {"title": "T1 entered <b>Yard</b>", "text": "Where: Yard"}})


@pytest.fixture
def secret(tmp_path: Path) -> str:
    notifications.new_secret(tmp_path / "secret")
    return (tmp_path / "secret").read_text().strip()


@pytest.fixture
def url(secret: str) -> Iterator[str]:
    server = make_server(0, Receiver(secret))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def post(url: str, secret: str, webhook_id: str = "msg_1", body: str = BODY, minutes_ago: int = 0) -> int:
    headers: Any = signed([secret], webhook_id, BODY, datetime.now(UTC) - timedelta(minutes=minutes_ago))
    return httpx.post(url, content=body, headers=headers).status_code


def test_a_signed_webhook_is_shown_as_verified_and_one_that_comes_again_as_such(url: str, secret: str) -> None:
    assert [post(url, secret), post(url, secret), post(url, secret, "msg_2")] == [204] * 3
    shown = httpx.get(f"{url}/webhooks").json()
    found = [(each["webhook_id"], each["wrong"], each["again"]) for each in shown["items"]]
    assert found == [("msg_2", None, False), ("msg_1", None, True), ("msg_1", None, False)]
    assert (shown["total"], shown["items"][0]["title"]) == (3, "T1 entered <b>Yard</b>")


def test_what_was_signed_by_another_changed_or_is_old_is_refused_and_shown_as_wrong(url: str, secret: str) -> None:
    other = "whsec_" + secret[6:][::-1].replace("=", "A")
    refused = [post(url, other), post(url, secret, body=BODY + " "), post(url, secret, minutes_ago=10)]
    refused.append(httpx.post(url, content=BODY).status_code)
    assert refused == [401] * 4
    shown = httpx.get(f"{url}/webhooks").json()["items"]
    assert all(each["wrong"] and not each["title"] for each in shown)


def test_the_secret_is_one_that_the_public_library_takes_and_only_its_owner_reads(secret: str, tmp_path: Path) -> None:
    assert Webhook(secret).sign("a", datetime.now(UTC), "{}")
    assert (tmp_path / "secret").stat().st_mode & 0o077 == 0


def test_the_demo_sets_its_channels_once_and_afterwards_only_the_port(
    api: Api, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = api.client()

    def ask(method: str, _port: int, path: str, _key: str, body: Any = None) -> Any:
        answer = admin.request(method, path, json=body)
        return answer.json() if answer.is_success else None

    monkeypatch.setattr(notifications, "ask", ask)
    monkeypatch.setattr(notifications, "get", lambda port, path, key: ask("GET", port, path, key))
    notifications.set_up(1, ADMIN_KEY, 8001, secret, first=True)
    notifications.set_up(1, ADMIN_KEY, 8001, secret, first=False)
    channels = {each["name"]: each for each in admin.get("/api/channels").json()["items"]}
    assert {name: each["target"] for name, each in channels.items()} == {
        "Console": "standard output",
        "File": "alerts.txt",
        "Test receiver": "http://127.0.0.1:8001/…",
    }
    rules = [each["rule"] for each in admin.get("/api/rules").json()["items"]]
    assert [(each["name"], each["group_interval_s"], len(each["channel_ids"])) for each in rules] == [
        ("Critical at once", 0, 3),
        ("Everything else", 60, 3),
    ]
    admin.request("DELETE", f"/api/channels/{channels['File']['channel_id']}")
    notifications.set_up(1, ADMIN_KEY, 8002, secret, first=False)
    targets = {each["name"]: each["target"] for each in admin.get("/api/channels").json()["items"]}
    assert targets == {"Console": "standard output", "Test receiver": "http://127.0.0.1:8002/…"}
