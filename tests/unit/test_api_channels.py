"""Channels and rules over HTTP: what is shown, what is refused."""

from typing import Any

import pytest
from cryptography.fernet import Fernet

from store import channels
from store.sealing import Sealer
from tests.api import Api

HOOK = {"name": "Night shift", "kind": "webhook", "url": "https://example.org/hooks/token"}
SECRET = channels.new_secret()
VARIABLE = "env:NOTIFIER_SECRET_HOOK"


@pytest.mark.parametrize(
    ("draft", "target"),
    [
        (HOOK, "https://example.org/…"),
        (HOOK | {"url": "https://example.org:8443/token"}, "https://example.org:8443/…"),
        (HOOK | {"url": VARIABLE}, VARIABLE),
        (HOOK | {"kind": "apprise", "url": VARIABLE}, VARIABLE),
        (HOOK | {"kind": "apprise", "url": "slack://token/a/b"}, "slack://…"),
    ],
)
def test_a_target_is_shown_without_what_is_secret(api: Api, draft: dict[str, Any], target: str) -> None:
    admin = api.client()
    assert admin.post("/api/channels", draft).json()["target"] == target
    assert "token" not in admin.get("/api/channels").text + admin.get("/api/audit").text


@pytest.mark.parametrize("url", ["env:", "env:token", "env:HOME", "ftp://a/b", "https://", "https://me:token@a/b"])
def test_a_webhook_that_could_not_be_sent_is_refused(api: Api, url: str) -> None:
    assert api.client().post("/api/channels", HOOK | {"url": url}).status_code == 422


def test_a_channel_that_was_sealed_with_another_key_can_be_set_anew_with_a_secret(api: Api) -> None:
    admin, other = api.client(), Sealer(Fernet.generate_key())
    wanted = channels.Wanted("hook", "webhook", {"url": HOOK["url"], "secrets": [SECRET]})
    path = f"/api/channels/{channels.add(api.store, other, wanted, who='ana', at_ms=0).channel_id}"
    for answer in (admin.request("PUT", path, json=HOOK), admin.post(f"{path}/rotate")):
        assert (answer.status_code, "another key" in answer.text) == (409, True)
    assert admin.request("PUT", path, json=HOOK | {"secret": SECRET}).status_code == 200
    assert admin.request("PUT", path, json=HOOK).status_code == 200
    assert admin.post(f"{path}/rotate").status_code == 200


def test_a_channel_keeps_its_address_and_secret_unless_others_are_given(api: Api) -> None:
    admin = api.client()
    made = admin.post("/api/channels", HOOK | {"secret": SECRET}).json()
    path = f"/api/channels/{made['channel_id']}"

    def config() -> dict[str, Any]:
        return api.sealer.open(channels.one(api.store, made["channel_id"]).sealed)  # type: ignore[union-attr]

    before = config()
    changed = admin.request("PUT", path, json={"name": "Day shift", "kind": "webhook", "enabled": False})
    assert (changed.status_code, changed.json()["name"], changed.json()["enabled"]) == (200, "Day shift", False)
    assert (changed.json()["target"], config()) == ("https://example.org/…", before)
    other = HOOK | {"url": "https://example.com/a"}
    assert admin.request("PUT", path, json=other).status_code == 200
    assert config() == before | {"url": "https://example.com/a"}
    assert admin.request("PUT", path, json={"name": "mail", "kind": "apprise"}).status_code == 422
    assert admin.post("/api/channels", {"name": "a", "kind": "webhook"}).status_code == 422
    assert admin.request("PUT", path, json={"name": "mail", "kind": "apprise", "url": "mailto://a"}).status_code == 200
    assert config() == {"url": "mailto://a"}


@pytest.mark.parametrize("wrong", [{"cooldown_s": False}, {"position": "1"}, {"enabled": 0}, {"last": "yes"}])
def test_a_rule_takes_no_value_of_another_type(api: Api, wrong: dict[str, Any]) -> None:
    rule = {"name": "all", "channel_ids": []}
    assert api.client().post("/api/rules", rule).status_code == 201
    assert api.client().post("/api/rules", rule | wrong).status_code == 422
