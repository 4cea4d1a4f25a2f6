"""What is old is forgotten, and nothing else; on SQLite and on a real PostgreSQL."""

import asyncio
from collections.abc import Iterator

import pytest
from sqlalchemy import func, select

from dashboard_api import hub
from dashboard_api.forgetting import DAY_MS, Forgetting
from dashboard_api.health import Health
from dashboard_api.hub import Hub
from dashboard_api.view import View
from store import alerts, audit, fences, keys, retention, silences
from store.engine import Store
from store.tables import ALERT_CHANGES, ALERTS, API_KEYS, AUDIT, FENCE_OUTBOX, FENCES, SILENCES, VISITS
from tests.eventually import eventually
from tests.unit.test_store import AT_MS, a_fence, a_visit, an_alert, put, take

LATER_MS = AT_MS + 10 * DAY_MS


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    made = Store(store_url)
    yield made
    made.close()


def ids(store: Store, column: object) -> set[object]:
    with store.read() as connection:
        return set(connection.scalars(select(column)))  # type: ignore[call-overload]


def forget_all(store: Store, before_ms: int) -> None:
    while retention.forget(store, before_ms):
        pass


def test_old_alerts_go_with_their_changes_and_raised_ones_stay(store: Store) -> None:
    take(store, an_alert("open"), an_alert("done"), an_alert("done", revision=1, status="cleared"))
    forget_all(store, LATER_MS)
    assert (ids(store, ALERTS.c.alert_id), ids(store, ALERT_CHANGES.c.alert_id)) == ({"open"}, {"open"})


def test_an_alert_that_somebody_touched_since_stays(store: Store) -> None:
    take(store, an_alert("done", status="cleared"))
    alerts.acknowledge(store, ["done"], alerts.Acknowledgement("seen"), who="ana", at_ms=LATER_MS)
    forget_all(store, LATER_MS)
    assert ids(store, ALERTS.c.alert_id) == {"done"}


def test_what_is_young_stays(store: Store) -> None:
    take(store, an_alert("done", status="cleared"), visits=(a_visit(status="closed"),))
    assert retention.forget(store, AT_MS - DAY_MS) == 0
    assert (ids(store, ALERTS.c.alert_id), ids(store, VISITS.c.visit_id)) == ({"done"}, {"v"})


def test_old_visits_go_and_open_ones_stay(store: Store) -> None:
    take(store, visits=(a_visit("in"), a_visit("was in", status="closed")))
    forget_all(store, LATER_MS)
    assert ids(store, VISITS.c.visit_id) == {"in"}


def test_fences_stay_and_the_outbox_keeps_what_kafka_does_not_have(store: Store) -> None:
    put(store, a_fence())
    fences.publish(store, len, lambda: AT_MS)
    put(store, a_fence(version=2))
    with store.write() as connection:
        audit.note(connection, who="ana", action="late", subject="x", at_ms=LATER_MS)
    forget_all(store, LATER_MS)
    assert ids(store, FENCES.c.version) == {1, 2}
    assert (len(ids(store, FENCE_OUTBOX.c.seq)), fences.waiting(store)) == (1, 1)
    assert ids(store, AUDIT.c.action) == {"late"}


def test_keys_and_silences_that_ended_go_and_those_that_count_stay(store: Store) -> None:
    for name, expires_ms in (("old session", AT_MS), ("session", LATER_MS + 1), ("for ever", None)):
        keys.make(store, keys.Wanted(name, "viewer", expires_ms), who="ana", at_ms=AT_MS)
    _, revoked = keys.make(store, keys.Wanted("revoked", "viewer", None), who="ana", at_ms=AT_MS)
    keys.revoke(store, revoked.key_id, who="ana", at_ms=AT_MS)
    given = dict.fromkeys(("truck_id", "fence_id", "kind"))
    for why, until_ms in (("over", AT_MS), ("lasts", LATER_MS + 1)):
        silences.add(store, given | {"why": why, "until_ms": until_ms}, who="ana", at_ms=AT_MS)
    forget_all(store, LATER_MS)
    assert ids(store, API_KEYS.c.name) == {"session", "for ever"}
    assert ids(store, SILENCES.c.why) == {"lasts"}


def test_many_rows_go_in_small_transactions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "ROWS", 2)
    take(store, *(an_alert(f"a{number}", status="cleared") for number in range(5)))
    assert [retention.forget(store, LATER_MS) for _ in range(4)] == [2, 2, 1, 0]


def test_a_client_whose_place_is_forgotten_is_told_to_start_anew(store: Store) -> None:
    take(store, an_alert("done", status="cleared"), an_alert("open"))
    forget_all(store, LATER_MS)

    async def ask() -> list[object]:
        hub = Hub(View(), store, lambda: LATER_MS)
        hub.head = hub.ring_after = alerts.last_seq(store)
        return [await hub.changes_after(seq) for seq in (0, 1)]

    too_old, told = asyncio.run(ask())
    assert too_old is None
    assert [each.seq for each in told] == [2]  # type: ignore[attr-defined]


def test_a_client_that_was_away_for_too_long_is_told_to_start_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MOST_REPLAYED", 2)
    take(store, *(an_alert(f"a{number}") for number in range(4)))

    async def ask() -> list[int | None]:
        telling = Hub(View(), store, lambda: LATER_MS)
        telling.head = telling.ring_after = alerts.last_seq(store)
        found = [await telling.changes_after(telling.head - missed) for missed in (3, 2, 0)]
        return [None if each is None else len(each) for each in found]

    assert asyncio.run(ask()) == [None, 2, 0]


def test_the_thread_forgets_what_is_older_than_the_days_to_keep(store: Store) -> None:
    take(store, an_alert("done", status="cleared"))
    health = Health()
    thread = Forgetting(store, health, lambda: LATER_MS, keep_days=9)
    thread.start()

    def left() -> int:
        with store.read() as connection:
            return connection.scalar(select(func.count()).select_from(ALERTS)) or 0

    eventually(lambda: left() == 0)
    thread.stop()
    assert health.troubles == {"retention": ""}
