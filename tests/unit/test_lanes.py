"""Lanes by a clock of the test's own, against real receivers: tries, circuits, pauses, secrets."""

from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from standardwebhooks import Webhook, WebhookVerificationError

from notifier.lanes import MOST_WAIT_MS, Lanes, Tries
from notifier.senders import Around
from notifier.settings import Settings
from notifier.webhook import Limits, wait_of
from store import channels, deliveries
from store.engine import Store
from store.sealing import Sealer
from tests.eventually import eventually
from tests.receivers import Receiver, Refusing, closing
from tests.unit.test_store import AT_MS, an_alert

STANDARD_S = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
DAY_MS = 24 * 60 * 60_000
NOW = datetime(2026, 3, 2, 14, 5, tzinfo=UTC)


class Sending:
    """One channel, one receiver, four threads; `turn` sends what is due and records what became of it."""

    def __init__(self, store: Store, receiver: Receiver, folder: Path) -> None:
        self.store, self.sealer, self.at_ms = store, Sealer(Fernet.generate_key()), AT_MS
        limits = Limits(timeout_s=5, allow_http=True, allowed=[IPv4Network("127.0.0.0/8")])
        tries = Tries([5_000, 300_000], lease_ms=60_000, lane_size=4, circuit_failures=5, circuit_ms=30_000)
        around = Around(limits, folder, "http://map")
        self.lanes = Lanes(store, self.sealer, around, tries, lambda: self.at_ms)
        wanted = channels.Wanted("hook", "webhook", receiver.config)
        self.channel_id = str(channels.add(store, self.sealer, wanted, who="ana", at_ms=AT_MS).channel_id)

    def put(self, *names: str) -> None:
        for name in names:
            deliveries.add_test(self.store, self.channel_id, an_alert(name), who="ana", at_ms=self.at_ms)

    def turn(self, after_s: float = 0) -> int:
        """How many were tried."""
        self.at_ms += round(after_s * 1000)
        self.lanes.look()
        claimed = sum(lane.claimed for lane in self.lanes.lanes.values())
        eventually(lambda: len(self.lanes.ended) == claimed, interval_s=0.005)
        self.lanes.record()
        return claimed

    @property
    def channel(self) -> Any:
        return channels.one(self.store, self.channel_id)

    def circuit(self) -> str:
        return channels.circuit(self.channel, self.at_ms)

    def states(self) -> dict[str, int]:
        return {state: number for (_, state), number in deliveries.counts(self.store).items()}

    def attempts(self) -> set[int]:
        found, _ = deliveries.page(self.store, deliveries.Wanted(), limit=100, offset=0)
        return {each["attempts"] for each in found}


@pytest.fixture
def receiver() -> Iterator[Refusing]:
    made = Refusing(200)
    with closing(made):
        yield made


@pytest.fixture
def sending(store_url: str, receiver: Refusing, tmp_path: Path) -> Iterator[Sending]:
    store = Store(store_url)
    made = Sending(store, receiver, tmp_path)
    yield made
    made.lanes.close()
    store.close()


def test_after_five_failures_a_channel_is_left_alone_then_one_tries_and_a_success_lets_all_through(
    sending: Sending, receiver: Refusing
) -> None:
    receiver.status = 500
    sending.put(*"abcdefgh")
    # All eight were on their way: what fails after the circuit has opened makes nothing longer.
    assert (sending.turn(), sending.circuit(), sending.channel.failures) == (8, "open", 5)
    assert (sending.turn(after_s=29.9), sending.circuit()) == (0, "open")
    assert (sending.turn(after_s=0.2), sending.circuit()) == (1, "open")
    assert sending.turn(after_s=59.9) == 0
    receiver.status = 200
    assert (sending.turn(after_s=0.2), sending.circuit(), sending.channel.failures) == (1, "closed", 0)
    assert sending.turn(after_s=300) == 7
    assert sending.states() == {"delivered": 8}


def test_a_busy_receiver_is_left_alone_as_long_as_it_asks_and_costs_neither_a_try_nor_a_failure(
    sending: Sending, receiver: Refusing
) -> None:
    receiver.status, receiver.headers = 429, {"Retry-After": "60"}
    sending.put(*"abcdefgh")
    for _ in range(4):
        assert sending.turn() in (8, 1)
        assert (sending.circuit(), sending.channel.failures) == ("paused", 0)
        assert sending.turn(after_s=59.9) == 0
        sending.at_ms += 200
    assert (sending.attempts(), sending.states()) == ({0}, {"pending": 8})
    receiver.status = 200
    assert (sending.turn(), sending.turn()) == (1, 7)
    assert sending.states() == {"delivered": 8}


def test_what_a_receiver_is_too_busy_for_all_the_time_ends_dead(sending: Sending, receiver: Refusing) -> None:
    receiver.status = 429
    sending.put("a")
    for _ in range(100):
        sending.turn(after_s=5)
    assert sending.states() == {"dead": 1}


def test_a_delivery_ends_dead_after_its_last_try_and_can_be_sent_again_under_its_id(
    sending: Sending, receiver: Refusing
) -> None:
    receiver.status = 503
    sending.put("a")
    for _ in range(3):
        assert sending.turn() == 1
        sending.at_ms += 400_000
    assert (sending.turn(), sending.states(), sending.attempts()) == (0, {"dead": 1}, {3})
    [dead] = deliveries.dead_ids(sending.store, None, 9)
    receiver.status = 200
    assert deliveries.resend(sending.store, [dead], who="ana", at_ms=sending.at_ms) == []
    assert (sending.turn(), sending.states(), receiver.heard[0][0]) == (1, {"delivered": 1}, dead)


def test_for_a_day_a_rotated_secret_signs_beside_the_one_before(sending: Sending, receiver: Refusing) -> None:
    old = receiver.secret
    new = channels.rotate(sending.store, sending.sealer, sending.channel_id, who="ana", at_ms=AT_MS)
    assert new is not None
    sending.put("a")
    sending.turn(after_s=DAY_MS / 1000 - 1)
    # The receiver has verified it with the old one; the new one must do as well.
    [(webhook_id, _, body)] = receiver.heard
    receiver.secret = new
    sending.put("b")
    sending.turn()
    assert [len(each.split()) for each in receiver.signatures] == [2, 2]
    sending.put("c")
    sending.turn(after_s=2)
    assert len(receiver.heard) == 3
    assert len(receiver.signatures[2].split()) == 1
    assert webhook_id != receiver.heard[1][0]
    assert body["data"]["alerts"][0]["alert_id"] == "a"
    receiver.secret = old
    sending.put("d")
    sending.turn()
    assert len(receiver.heard) == 3


def test_what_was_planned_for_a_channel_that_is_gone_by_now_is_not_sent(sending: Sending, receiver: Refusing) -> None:
    sending.turn()
    sending.put("a")
    with sending.store.write() as connection:
        connection.exec_driver_sql("UPDATE channels SET enabled = false")
    assert sending.turn() == 0
    assert (sending.turn(after_s=5), sending.states(), receiver.tried) == (0, {"dead": 1}, 0)


def test_a_signature_of_another_secret_is_not_taken() -> None:
    mine, other = Webhook(channels.new_secret()), Webhook(channels.new_secret())
    with pytest.raises(WebhookVerificationError):
        other.verify(
            "{}", {"webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": mine.sign("a", NOW, "{}")}
        )


def test_the_tries_follow_the_schedule_of_standard_webhooks_with_jitter() -> None:
    settings = Settings()
    tries = Tries(settings.retry_ms(), 0, 1, 1, 1)
    for tried, wait_s in enumerate(STANDARD_S, start=1):
        waits = {(tries.next_ms(tried, AT_MS, None) or 0) - AT_MS for _ in range(50)}
        assert min(waits) >= wait_s * 1000
        assert max(waits) <= wait_s * 1100
        assert len(waits) > 10
    assert tries.next_ms(len(STANDARD_S) + 1, AT_MS, None) is None


def test_a_receiver_may_ask_for_a_longer_wait_but_for_no_longer_than_a_day() -> None:
    tries = Tries([5_000], 0, 1, 1, 1)
    assert tries.next_ms(1, AT_MS, 60) == AT_MS + 60_000
    assert tries.next_ms(1, AT_MS, 1e9) == AT_MS + MOST_WAIT_MS
    assert tries.next_ms(2, AT_MS, 60) is None


@pytest.mark.parametrize(
    ("told", "wait_s"),
    [
        ("120", 120),
        ("Mon, 02 Mar 2026 14:07:00 GMT", 120),
        ("Mon, 02 Mar 2026 14:07:00 -0000", 120),
        ("Mon, 02 Mar 2026 14:00:00 GMT", 0),
        ("soon", None),
        ("-5", None),
        ("²", None),
        ("", None),
        (None, None),
    ],
)
def test_a_wait_is_told_in_seconds_or_as_a_date(told: str | None, wait_s: float | None) -> None:
    assert wait_of(told, NOW) == wait_s
