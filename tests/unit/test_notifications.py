"""Planning and targets of notifications."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from cryptography.fernet import Fernet

from notifier.planner import Limits, Planner
from notifier.targets import permitted
from schemas.models import Alert
from store import channels, deliveries, rules, silences
from store.engine import Store
from store.sealing import Sealer
from tests.unit.test_store import AT_MS, an_alert

LIMITS = Limits(max_age_ms=900_000, wake_ms=1000)
SEALER = Sealer(Fernet.generate_key())
# Loopback, private, link-local, carrier-grade, multicast, reserved; then what IPv6 makes of them: mapped, NAT64 (also
# with a prefix of one's own), 6to4, Teredo, compatible.
INNER = """127.0.0.1 127.255.255.254 10.0.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 100.127.255.255
224.0.0.1 239.255.255.255 0.0.0.0 0.1.2.3 255.255.255.255 240.0.0.1 192.0.2.1 198.18.0.1
::1 :: fe80::1 fe80::1%eth0 fc00::1 fd12::1 fec0::1 ff02::1 ff0e::1 2001:db8::1
::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::a00:1 2002:7f00:1::
2002:a00:1:: 2001:0:102:304:0:fbff:f5ff:fffe ::127.0.0.1 ::10.0.0.1"""


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    made = Store(store_url)
    yield made
    made.close()


def add_channel(store: Store, url: str = "https://example.org/a", **rule: Any) -> str:
    wanted = channels.Wanted("hook", "webhook", {"url": url, "secrets": ["whsec_secret"]})
    row = channels.add(store, SEALER, wanted, who="ana", at_ms=AT_MS)
    rules.add(store, rules.Rule(name="r", channel_ids=[row.channel_id], **rule), who="ana", at_ms=AT_MS)
    return str(row.channel_id)


def plan(store: Store, *alerts: Alert, after_s: int = 0) -> None:
    with store.write() as connection:
        Planner(connection, lambda _alert, _fence: {}, LIMITS, AT_MS + after_s * 1000).plan(alerts)


def log(store: Store) -> list[tuple[str, str, int]]:
    found, _ = deliveries.page(store, deliveries.Wanted(), limit=100, offset=0)
    return sorted((each["what"], each["state"], len(each["alerts"])) for each in found)


def test_an_alert_is_planned_once_whatever_revisions_follow_and_its_end_goes_to_who_was_told(store: Store) -> None:
    add_channel(store)
    plan(store, an_alert(), an_alert(revision=1))
    plan(store, an_alert(revision=1), an_alert(revision=0))
    assert log(store) == [("raised", "pending", 1)]
    plan(store, an_alert(revision=2, status="cleared"))
    assert log(store) == [("cleared", "pending", 1), ("raised", "pending", 1)]


def test_the_same_target_by_two_rules_gets_one(store: Store) -> None:
    add_channel(store)
    add_channel(store)
    plan(store, an_alert())
    assert log(store) == [("raised", "pending", 1)]


def test_what_is_silenced_old_cooling_down_or_inhibited_is_recorded_and_not_sent(store: Store) -> None:
    add_channel(store, cooldown_s=600)
    plan(store, an_alert("a"), an_alert("b", minute=1), an_alert("old", minute=-20, truck_id="t2"))
    silence = {"truck_id": "t3", "fence_id": None, "kind": None, "why": "workshop", "until_ms": AT_MS + 1000}
    silences.add(store, silence, who="ana", at_ms=AT_MS)
    feed = an_alert("feed", kind="feed_silent", truck_id=None, fence_id=None)
    plan(store, an_alert("c", truck_id="t3"), an_alert("d", kind="silent", truck_id="t4"), feed)
    states = [state for _, state, _ in log(store)]
    assert (states.count("pending"), states.count("suppressed"), states.count("historical")) == (2, 3, 1)
    plan(store, feed.model_copy(update={"revision": 1, "status": "cleared"}))
    states = [state for _, state, _ in log(store)]
    assert states.count("suppressed") == 2


def test_alerts_of_a_group_are_one_notification_and_a_retracted_one_is_not_told(store: Store) -> None:
    add_channel(store, group_wait_s=30)
    plan(store, an_alert("a"), an_alert("b"))
    plan(store, an_alert("c"), an_alert("b", revision=1, status="retracted"), after_s=5)
    assert log(store) == [("raised", "pending", 2), ("retracted", "suppressed", 1)]


def test_secrets_do_not_stand_in_the_store(store: Store) -> None:
    channel_id = add_channel(store, url="https://example.org/token")
    row = channels.one(store, channel_id)
    assert row is not None
    assert b"token" not in row.sealed
    assert (row.target, SEALER.open(row.sealed)["url"]) == ("https://example.org/…", "https://example.org/token")


@pytest.mark.parametrize("address", INNER.split())
def test_a_channel_reaches_no_inner_address(address: str) -> None:
    assert not permitted(address, [])


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]
)
def test_a_channel_reaches_public_addresses(address: str) -> None:
    assert permitted(address, [])


def test_an_admin_allows_a_range_and_nothing_beside_it() -> None:
    allowed = [ip_network("10.1.0.0/16"), ip_network("fd12::/32")]
    inside = ("10.1.2.3", "::ffff:10.1.2.3", "fd12::7")
    assert [permitted(each, allowed) for each in inside] == [True, True, True]
    assert [permitted(each, allowed) for each in ("10.2.0.1", "127.0.0.1", "fd13::1", "::1")] == [False] * 4
