"""Who may do what: every route and every role, keys, links, limits."""

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute
from sqlalchemy import event

from dashboard_api.access import COOKIE, Role, needed_role, read_admin_key
from dashboard_api.gate import MAX_BODY_BYTES
from dashboard_api.limits import Limiter
from tests.api import ADMIN_KEY, Api, Client, made

# What each may do at all; every route of the application must be here.
POLICY: dict[str, Role | None] = {
    "GET /": None,
    "GET /healthz": None,
    "GET /readyz": None,
    "GET /login": None,
    "GET /metrics": Role.VIEWER,
    "GET /api/trucks": Role.VIEWER,
    "GET /api/trucks/{truck_id}": Role.VIEWER,
    "GET /api/trucks/{truck_id}/track": Role.VIEWER,
    "GET /api/trucks/{truck_id}/visits": Role.VIEWER,
    "GET /api/visits": Role.VIEWER,
    "GET /api/windows": Role.VIEWER,
    "GET /api/rejects": Role.VIEWER,
    "GET /api/pipeline": Role.VIEWER,
    "GET /api/stats": Role.VIEWER,
    "GET /api/alerts": Role.VIEWER,
    "GET /api/alerts/{alert_id}": Role.VIEWER,
    "POST /api/alerts/acknowledge": Role.DISPATCHER,
    "POST /api/alerts/{alert_id}/acknowledge": Role.DISPATCHER,
    "POST /api/alerts/{alert_id}/unacknowledge": Role.DISPATCHER,
    "GET /api/fences": Role.VIEWER,
    "POST /api/fences": Role.DISPATCHER,
    "POST /api/fences/import": Role.DISPATCHER,
    "GET /api/fences/{fence_id}": Role.VIEWER,
    "PUT /api/fences/{fence_id}": Role.DISPATCHER,
    "DELETE /api/fences/{fence_id}": Role.DISPATCHER,
    "GET /api/fences/{fence_id}/versions": Role.VIEWER,
    "GET /api/silences": Role.VIEWER,
    "POST /api/silences": Role.DISPATCHER,
    "DELETE /api/silences/{silence_id}": Role.DISPATCHER,
    "GET /api/map/roads": Role.VIEWER,
    "GET /api/map/cities": Role.VIEWER,
    "GET /api/me": Role.VIEWER,
    "GET /api/channels": Role.VIEWER,
    "POST /api/channels": Role.ADMIN,
    "GET /api/channels/{channel_id}": Role.VIEWER,
    "PUT /api/channels/{channel_id}": Role.ADMIN,
    "DELETE /api/channels/{channel_id}": Role.ADMIN,
    "POST /api/channels/{channel_id}/test": Role.ADMIN,
    "POST /api/channels/{channel_id}/rotate": Role.ADMIN,
    "GET /api/rules": Role.VIEWER,
    "POST /api/rules": Role.ADMIN,
    "PUT /api/rules/{rule_id}": Role.ADMIN,
    "DELETE /api/rules/{rule_id}": Role.ADMIN,
    "GET /api/deliveries": Role.VIEWER,
    "GET /api/deliveries/{delivery_id}": Role.VIEWER,
    "POST /api/deliveries/resend": Role.DISPATCHER,
    "POST /api/deliveries/{delivery_id}/resend": Role.DISPATCHER,
    "GET /api/keys": Role.ADMIN,
    "POST /api/keys": Role.ADMIN,
    "DELETE /api/keys/{key_id}": Role.ADMIN,
    "POST /api/links": Role.ADMIN,
    "DELETE /api/session": Role.VIEWER,
    "GET /api/audit": Role.ADMIN,
    "GET /api/live": Role.VIEWER,
    "WEBSOCKET /api/live/socket": Role.VIEWER,
}
ROLES = [None, *Role]


def routes(api: Api) -> Iterator[str]:
    def walk(found: Any) -> Iterator[str]:
        for route in found:
            if isinstance(route, APIRoute):
                yield from (f"{method} {route.path}" for method in route.methods or ())
            elif isinstance(route, APIWebSocketRoute):
                yield f"WEBSOCKET {route.path}"
            elif hasattr(route, "original_router"):
                yield from walk(route.original_router.routes)

    yield from walk(api.app.routes)


def test_the_policy_names_every_route_and_no_other(api: Api) -> None:
    assert set(routes(api)) == set(POLICY)


def test_every_route_answers_each_role_as_the_policy_says(api: Api) -> None:
    clients = {role: api.client(role) for role in ROLES}
    wrong = []
    for route, needed in POLICY.items():
        method, path = route.split()
        if method == "WEBSOCKET" or path == "/api/live":
            continue  # A stream does not end: the tests of the live stream ask these.
        for role, client in clients.items():
            status = client.request(method, re.sub(r"{\w+}", "nobody", path)).status_code
            may = needed is None or (role is not None and role.allows(needed))
            expected = status not in (401, 403) if may else status == (401 if role is None else 403)
            # A login without a token is refused, but not by the gate.
            if not expected and path != "/login":
                wrong.append((route, role, status))
            # Logging out ends a key: make another.
            if path == "/api/session" and role is not None:
                clients[role] = api.client(role)
    assert wrong == []


@pytest.mark.parametrize("path", ["/api/live", "/api/live/socket"])
def test_the_live_stream_needs_a_viewer(path: str) -> None:
    assert needed_role("GET", path) is Role.VIEWER


def test_a_route_that_nobody_thought_of_is_for_admins() -> None:
    assert needed_role("POST", "/api/whatever") is Role.ADMIN
    assert needed_role("GET", "/whatever") is Role.ADMIN
    assert needed_role("GET", "/api/whatever") is Role.ADMIN


def test_a_key_is_shown_once_and_revoked_at_once(api: Api) -> None:
    admin = api.client()
    made_key = admin.post("/api/keys", {"name": "reports", "role": "viewer"}).json()
    user = Client(api.app, made_key["key"])
    assert user.get("/api/trucks").status_code == 200
    listed = admin.get("/api/keys").text
    assert made_key["key_id"] in listed
    assert admin.get("/api/keys?limit=1&offset=1").json() == {"items": [], "total": 1}
    assert made_key["key"].rpartition("_")[2] not in listed
    assert admin.request("DELETE", f"/api/keys/{made_key['key_id']}").status_code == 204
    assert user.get("/api/trucks").status_code == 401


@pytest.mark.parametrize("role", list(Role))
def test_everyone_can_ask_who_they_are(api: Api, role: Role) -> None:
    me = api.client(role).get("/api/me").json()
    assert me["role"] == role
    assert me["label"] == f"{me['name']} ({me['key_id']})"
    assert me["name"] == ("admin" if role is Role.ADMIN else f"a {role}")


def test_a_key_that_has_expired_is_refused(api: Api) -> None:
    draft = {"name": "short", "role": "viewer", "expires_time": "2026-03-02T14:07:00Z"}
    user = Client(api.app, api.client().post("/api/keys", draft).json()["key"])
    assert user.get("/api/trucks").status_code == 200
    api.now = api.now.replace(second=59)
    assert user.get("/api/trucks").status_code == 200
    api.now = api.now.replace(minute=7, second=0)
    assert user.get("/api/trucks").status_code == 401


@pytest.mark.parametrize("key", ["", "x", "tg_", "tg_1a2b_x", ADMIN_KEY[:-1], ADMIN_KEY + "a", "é"])
def test_a_wrong_key_is_refused(api: Api, key: str) -> None:
    answer = api.client(None).get("/api/trucks", headers={"Authorization": f"Bearer {key}".encode()})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("key", [r"tg_\000_x", "tg_1a2b3c4d_x", "tg__x"])
def test_a_cookie_that_no_store_can_look_up_is_refused_like_any_other(tmp_path: Path, store_url: str, key: str) -> None:
    with made(tmp_path, store_url=store_url) as api:
        answer = api.client(None).get("/api/trucks", headers={"Cookie": f'{COOKIE}="{key}"'})
    assert answer.status_code == 401


def log_in(api: Api) -> tuple[str, str]:
    """The path of a used link, and the cookie that it gave."""
    path = api.client().post("/api/links", {"role": "dispatcher"}).json()["path"]
    answer = api.client(None).get(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", COOKIE))
    return path, cookie.partition(";")[0]


def test_a_link_logs_a_browser_in_once(api: Api) -> None:
    path, cookie = log_in(api)
    stranger = api.client(None)
    assert stranger.get("/api/trucks", headers={"Cookie": cookie}).status_code == 200
    assert stranger.get("/api/keys", headers={"Cookie": cookie}).status_code == 403
    assert stranger.get(path).status_code == 401
    stranger.request("DELETE", "/api/session", headers={"Cookie": cookie})
    assert stranger.get("/api/trucks", headers={"Cookie": cookie}).status_code == 401


def test_who_guesses_keys_does_not_keep_the_store_busy_and_who_has_one_goes_on(api: Api) -> None:
    user, stranger = api.client(Role.VIEWER), api.client(None)
    assert user.get("/api/trucks").status_code == 200
    guesses = [{"Authorization": f"Bearer tg_1a2b3c4d_{number}"} for number in range(150)]
    reads: list[str] = []
    event.listen(api.store.engine, "begin", lambda _: reads.append("read"))
    answers = [stranger.get("/api/trucks", headers=each).status_code for each in guesses]
    assert (set(answers), len(reads)) == ({401, 429}, answers.count(401))
    # Not trusted any more without a question, but known.
    api.now += timedelta(seconds=10)
    assert user.get("/api/trucks").status_code == 200


def test_where_the_store_is_away_it_says_so_and_the_process_still_says_that_it_lives(tmp_path: Path) -> None:
    with made(tmp_path) as api, ExitStack() as held:
        user = api.client(Role.VIEWER)
        for _ in range(20):
            held.enter_context(api.store.engine.connect())
        api.store.engine.pool._timeout = 3  # type: ignore[attr-defined]
        answers = asyncio.run(ask_all(api, user, ["/api/visits"] * 60 + ["/healthz", "/readyz"]))
    assert [status for status, _ in answers] == [503] * 60 + [200, 200]
    waits_s = [wait_s for _, wait_s in answers]
    assert max(waits_s[60:]) < 2.5 < min(waits_s[:60])


async def ask_all(api: Api, client: Client, paths: list[str]) -> list[tuple[int, float]]:
    """All at once: each one's status, and how long it took."""

    async def ask(path: str) -> tuple[int, float]:
        began = time.monotonic()
        answer = await asking.get(path, headers=client.headers)
        return answer.status_code, time.monotonic() - began

    transport = httpx.ASGITransport(app=api.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as asking:
        return await asyncio.gather(*(ask(path) for path in paths))


def test_a_link_is_good_for_ten_minutes(api: Api) -> None:
    path = api.client().post("/api/links", {}).json()["path"]
    api.now = api.now.replace(minute=16)
    assert api.client(None).get(path).status_code == 401


def test_a_cookie_does_not_speak_for_another_page(api: Api) -> None:
    _, cookie = log_in(api)
    stranger = api.client(None)
    for origin, status in (("http://evil.example", 401), ("http://test", 422), ("null", 401)):
        headers = {"Cookie": cookie, "Origin": origin}
        assert stranger.request("POST", "/api/fences", json={}, headers=headers).status_code == status
    assert "access-control-allow-origin" not in stranger.get("/api/trucks", headers={"Origin": "http://evil"}).headers


def test_the_admin_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "admin.key"
    key = read_admin_key(path)
    assert (read_admin_key(path), path.stat().st_mode & 0o777) == (key, 0o600)
    path.write_text("short")
    with pytest.raises(ValueError, match="fewer than 32"):
        read_admin_key(path)


def test_too_many_requests_are_told_when_to_come_back(tmp_path: Path) -> None:
    with made(tmp_path, requests_per_s=2) as api:
        client = api.client()
        answers = [client.get("/api/rejects") for _ in range(8)]
    refused = [each for each in answers if each.status_code == 429]
    assert 1 <= len(refused) <= 4
    assert all(each.headers["Retry-After"] == "1" for each in refused)


def test_a_bucket_refills_with_time() -> None:
    clock = [0.0]
    limiter = Limiter(per_s=10, burst=2, clock_s=lambda: clock[0])
    assert [limiter.wait_s("a") for _ in range(3)] == [0, 0, pytest.approx(0.1)]
    assert limiter.wait_s("b") == 0
    clock[0] = 0.1
    assert (limiter.wait_s("a"), limiter.wait_s("a") > 0) == (0, True)


def test_a_body_that_is_too_large_is_refused(api: Api) -> None:
    answer = api.client().request("POST", "/api/fences/import", content=b" " * (MAX_BODY_BYTES + 1))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "content_too_large")


def test_who_changed_what_is_kept(api: Api) -> None:
    dispatcher, admin = api.client(Role.DISPATCHER), api.client()
    dispatcher.post("/api/silences", {"until_time": "2027-01-01T00:00:00Z", "why": "holidays"})
    newest = admin.get("/api/audit?limit=1").json()["items"][0]
    assert (newest["action"], newest["who"][:12], newest["detail"]["why"]) == (
        "silence_added",
        "a dispatcher",
        "holidays",
    )


def test_an_answer_carries_its_request_id_and_is_not_cached(api: Api) -> None:
    client = api.client()
    assert client.get("/api/trucks", headers={"X-Request-ID": "abc-1"}).headers["X-Request-ID"] == "abc-1"
    answer = client.get("/api/trucks", headers={"X-Request-ID": "a b"})
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["X-Request-ID"])
    assert answer.headers["Cache-Control"] == "no-store"
