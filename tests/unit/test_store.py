"""The store, on SQLite and on a real PostgreSQL."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, select

from dashboard_api import intake
from schemas.models import Alert, AlertKind, Fence, Visit
from store import alerts, audit, fences, keys, silences, visits
from store.engine import INTAKE_LOCK, Store, StoreError
from store.intake import Batch, OffsetsMoved, Place, put_alerts, stored_offsets, take_in
from store.tables import ALERT_CHANGES, ALERTS, METADATA

NOW = datetime(2026, 3, 2, 14, 5, tzinfo=UTC)
AT_MS = 1_772_460_300_000
PLACE = Place("trucks_alerts", "id-1", 0)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    made = Store(store_url)
    yield made
    made.close()


def an_alert(alert_id: str = "a", revision: int = 0, minute: int = 0, **changes: object) -> Alert:
    usual: dict[str, object] = {
        "status": "raised",
        "kind": AlertKind.GEOFENCE_ENTER,
        "severity": "warning",
        "truck_id": "t1",
        "fence_id": "depot",
        "end_time": None,
        "lat": 41.5,
        "lon": -87.25,
        "explanation": {"distance_m": 12.5},
    }
    moment = {"alert_id": alert_id, "revision": revision, "start_time": NOW + timedelta(minutes=minute)}
    return Alert.model_validate(usual | moment | changes)


def a_visit(visit_id: str = "v", revision: int = 0, status: str = "open") -> Visit:
    times = {"enter_time": NOW, "exit_time": None, "last_inside_time": None, "enter_cause": None, "exit_cause": None}
    return Visit.model_validate(
        {"visit_id": visit_id, "revision": revision, "status": status, "truck_id": "t1", "fence_id": "depot"} | times
    )


def a_fence(version: int = 1, **changes: object) -> Fence:
    usual: dict[str, object] = {"fence_id": "depot", "version": version, "effective_from": NOW, "name": "Depot"}
    shape = {"kind": "circle", "geometry": {"type": "Point", "coordinates": [4.3, 52.1]}, "radius_m": 200}
    return Fence.model_validate(usual | shape | changes)


def take(store: Store, *taken: Alert, began: int = 0, visits: tuple[Visit, ...] = ()) -> None:
    batch = Batch(taken, visits, began={PLACE: began}, ended={PLACE: began + len(taken) + len(visits)})
    take_in(store, batch, AT_MS)


def put(store: Store, fence: Fence) -> None:
    with store.write() as connection:
        fences.put(connection, fence, fence.model_dump_json().encode(), who="ana", at_ms=AT_MS)


def test_the_migrations_make_the_tables_that_the_code_names(store: Store) -> None:
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []


def test_the_highest_revision_of_an_alert_counts_in_whatever_order_it_comes(store: Store) -> None:
    take(store, an_alert(revision=1, status="cleared"), an_alert(revision=0))
    take(store, an_alert(revision=0), an_alert("b"), began=2)
    found, total = alerts.page(store, alerts.Wanted(), order="newest", limit=10, offset=0, at_ms=AT_MS)
    assert (total, {row.alert_id: (row.revision, row.status) for row in found}) == (
        2,
        {"a": (1, "cleared"), "b": (0, "raised")},
    )
    one = alerts.one(store, "a", AT_MS)
    assert one is not None
    assert sorted(change.revision for change in one[1]) == [0, 1]


@dataclass
class Record:
    value: bytes | None
    topic: str = "trucks_alerts"
    partition: int = 0
    offset: int = 0
    key: bytes | None = b""


def test_what_no_database_could_hold_is_passed_over_and_does_not_stop_what_comes_after(store: Store) -> None:
    usual = an_alert("good", 2**31 - 1).model_dump(mode="json")
    bad: list[dict[str, object]] = [{"revision": 2**31}, {"revision": 10**30}, {"alert_id": "a" * 5000}]
    bad += [
        {"alert_id": "nul\x00"},
        {"fence_id": "f" * 5000},
        {"truck_id": "\ud800"},
        {"start_time": "0000-01-01T00:00:00Z"},
    ]
    records = [Record(json.dumps(usual | each).encode()) for each in (*bad, {})]
    read = list(intake.read(records, "trucks_alerts", Alert))
    take(store, *read)
    assert [each.alert_id for each in read] == ["good"]
    assert alerts.changes_after(store, 0, 10)[0].revision == 2**31 - 1


def test_rows_and_offsets_are_stored_together_or_not_at_all(store: Store) -> None:
    take(store, an_alert())
    with pytest.raises(OffsetsMoved):
        take(store, an_alert("b"), began=0)
    assert stored_offsets(store) == {PLACE: 1}
    with store.read() as connection:
        assert connection.scalar(select(func.count()).select_from(ALERTS)) == 1
    # The rows can be written, the offsets cannot: nothing stays.
    with pytest.raises(AttributeError):
        take_in(store, Batch([an_alert("c")], [], began={}, ended={None: 1}), AT_MS)  # type: ignore[dict-item]
    with store.read() as connection:
        assert connection.scalar(select(func.count()).select_from(ALERTS)) == 1


def test_a_topic_that_was_made_again_is_read_from_its_beginning(store: Store) -> None:
    take(store, an_alert())
    again = Place("trucks_alerts", "id-2", 0)
    take_in(store, Batch([an_alert("b")], [], began={again: 0}, ended={again: 1}), AT_MS)
    assert stored_offsets(store) == {again: 1}


def test_alerts_are_filtered_sorted_and_paged(store: Store) -> None:
    take(
        store,
        an_alert("a", severity="info"),
        an_alert("b", minute=1, severity="critical", truck_id="t2"),
        an_alert("c", minute=2, kind=AlertKind.OVERSPEED, fence_id=None),
        an_alert("d", minute=3, status="retracted", truck_id=None),
    )

    def ids(wanted: alerts.Wanted, order: alerts.Order = "newest", limit: int = 9, offset: int = 0) -> str:
        rows, _ = alerts.page(store, wanted, order=order, limit=limit, offset=offset, at_ms=AT_MS)
        return "".join(row.alert_id for row in rows)

    assert ids(alerts.Wanted()) == "dcba"
    assert ids(alerts.Wanted(), "severity") == "bdca"
    assert ids(alerts.Wanted(), "oldest", limit=2, offset=1) == "bc"
    assert ids(alerts.Wanted(truck_id="t2")) == "b"
    assert ids(alerts.Wanted(kinds=("overspeed",))) == "c"
    assert ids(alerts.Wanted(severities=("info", "critical"), statuses=("raised",))) == "ba"
    assert ids(alerts.Wanted(from_ms=AT_MS + 60_000, to_ms=AT_MS + 120_000)) == "b"


def test_an_acknowledgement_outlives_a_new_revision_and_can_be_taken_back(store: Store) -> None:
    take(store, an_alert())
    given = alerts.Acknowledgement(note="driver called", assignee="bob")
    assert alerts.acknowledge(store, ["a", "nobody", "a"], given, who="ana", at_ms=AT_MS) == ["nobody"]
    take(store, an_alert(revision=1, status="cleared"), began=1)
    found = alerts.one(store, "a", AT_MS)
    assert found is not None
    row, changes = found
    assert (row.status, row.acknowledged_by, row.assignee, row.note) == ("cleared", "ana", "bob", "driver called")
    assert [change.change for change in changes] == ["revision", "acknowledged", "revision"]
    alerts.acknowledge(store, ["a"], None, who="bob", at_ms=AT_MS)
    assert alerts.page(store, alerts.Wanted(acknowledged=True), order="newest", limit=1, offset=0, at_ms=0)[1] == 0
    assert [entry["action"] for entry in audit.entries(store, limit=5, offset=0)[0]] == [
        "alert_unacknowledged",
        "alert_acknowledged",
    ]


def test_the_changes_of_alerts_are_numbered_in_the_order_they_were_stored(store: Store) -> None:
    take(store, an_alert("a"), an_alert("b"))
    first = alerts.changes_after(store, 0, 10)
    take(store, an_alert("b"), an_alert("c"), began=2)
    later = alerts.changes_after(store, first[-1].seq, 10)
    assert ([row.alert_id for row in first], [row.alert_id for row in later]) == (["a", "b"], ["c"])
    assert alerts.last_seq(store) == later[-1].seq


def test_an_acknowledgement_while_alerts_are_stored_hides_none_of_them(store: Store) -> None:
    take(store, an_alert("a"))
    told: list[int] = []

    def acknowledge() -> None:
        alerts.acknowledge(store, ["a"], alerts.Acknowledgement(), who="ana", at_ms=AT_MS)
        told.extend(row.seq for row in alerts.changes_after(store, 0, 10))

    with store.write(INTAKE_LOCK) as connection:
        put_alerts(connection, [an_alert("b")], AT_MS)
        clicked = threading.Thread(target=acknowledge)
        clicked.start()
        clicked.join(timeout=0.5)
    clicked.join()
    # Whoever heard the acknowledgement and asks for what came after it misses no number below it.
    assert told == [row.seq for row in alerts.changes_after(store, 0, 10)]
    assert len(told) == 3


def test_a_silence_marks_what_it_covers_until_it_ends(store: Store) -> None:
    take(store, an_alert("a"), an_alert("b", truck_id="t2"))
    given = {"truck_id": "t1", "fence_id": None, "kind": None, "why": "in the workshop", "until_ms": AT_MS + 1000}
    silence = silences.add(store, given, who="ana", at_ms=AT_MS)

    def silenced(at_ms: int) -> set[str]:
        rows, _ = alerts.page(store, alerts.Wanted(), order="newest", limit=9, offset=0, at_ms=at_ms)
        return {row.alert_id for row in rows if row.silenced}

    assert (silenced(AT_MS), silenced(AT_MS + 1000)) == ({"a"}, set())
    assert silences.end(store, silence.silence_id, who="bob", at_ms=AT_MS + 1)
    assert not silences.end(store, silence.silence_id, who="bob", at_ms=AT_MS + 2)
    assert silenced(AT_MS + 1) == set()


def test_the_newest_revision_of_a_visit_counts_and_a_retracted_one_is_not_shown(store: Store) -> None:
    take(store, visits=(a_visit("v", 1, "closed"), a_visit("v", 0), a_visit("w", 0), a_visit("w", 1, "retracted")))
    found, total = visits.page(store, visits.Wanted(truck_id="t1"), limit=9, offset=0)
    assert (total, [Visit.model_validate_json(each).status for each in found]) == (1, ["closed"])
    assert visits.page(store, visits.Wanted(status="retracted"), limit=9, offset=0)[1] == 1


def test_of_two_who_edit_the_same_version_one_is_refused(store: Store) -> None:
    put(store, a_fence())
    refused: list[int] = []

    def edit(name: str) -> None:
        try:
            put(store, a_fence(2, name=name))
        except Exception as error:  # noqa: BLE001 (PostgreSQL may see it first, by the key)
            refused.append(getattr(error, "current", 2))

    writers = [threading.Thread(target=edit, args=(name,)) for name in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert refused == [2]
    rows, total = fences.versions(store, "depot", limit=9, offset=0)
    assert ([row.version for row in rows], total) == ([2, 1], 2)
    assert fences.waiting(store) == 2


def test_the_outbox_is_published_in_order_and_only_what_kafka_took_is_marked(store: Store) -> None:
    for version in (1, 2, 3):
        put(store, a_fence(version))
    sent: list[int] = []

    def take_two(waiting: object) -> int:
        sent.extend(Fence.model_validate_json(value).version for _, value in waiting)  # type: ignore[attr-defined]
        return 2

    fences.publish(store, take_two, lambda: AT_MS)
    assert fences.waiting(store) == 1
    fences.publish(store, take_two, lambda: AT_MS)
    assert (sent, fences.waiting(store)) == ([1, 2, 3, 3], 0)


def test_a_store_that_was_lost_learns_its_fences_from_kafka(store: Store) -> None:
    newest = a_fence(7, deleted=True)
    value = newest.model_dump_json().encode()
    assert fences.adopt(store, [(a_fence(6), b"{}"), (newest, value), (a_fence(5), b"{}")], AT_MS) == 2
    with pytest.raises(fences.FenceConflict, match="7"):
        put(store, a_fence(1))
    put(store, a_fence(8))
    assert fences.waiting(store) == 1


def test_a_key_is_known_until_it_expires_or_is_revoked_and_its_secret_is_not_stored(store: Store) -> None:
    key, row = keys.make(store, keys.Wanted("phone", "viewer", AT_MS + 10), who="ana", at_ms=AT_MS)
    assert key.rpartition("_")[2] not in str(row)
    found = keys.find(store, key, AT_MS)
    assert found is not None
    assert found.role == "viewer"
    assert keys.find(store, key, AT_MS + 10) is None
    assert keys.find(store, key[:-1] + ("A" if key[-1] != "A" else "B"), AT_MS) is None
    assert keys.revoke(store, row.key_id, who="ana", at_ms=AT_MS)
    assert keys.find(store, key, AT_MS) is None


def test_it_keeps_what_it_has_when_it_is_opened_again(store_url: str) -> None:
    first = Store(store_url)
    take(first, an_alert())
    name = first.store_id
    first.close()
    again = Store(store_url)
    assert (again.store_id, stored_offsets(again)) == (name, {PLACE: 1})
    again.close()


@pytest.mark.parametrize("url", ["nonsense", "mysql://localhost/x", "sqlite://", ""])
def test_an_address_that_is_no_store_is_refused_with_one_sentence(url: str) -> None:
    with pytest.raises(StoreError, match="begins with sqlite:/// "):
        Store(url)


def test_a_server_that_does_not_answer_is_given_up_in_seconds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        with pytest.raises(StoreError, match=r"postgresql.*\*\*\*.*cannot be opened"):
            Store(f"postgresql://ana:secret@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=2")
        assert time.monotonic() - began < 10


def test_nobody_else_on_the_machine_can_read_the_file(tmp_path: Path) -> None:
    made = Store(f"sqlite:///{tmp_path}/store.db")
    take(made, an_alert())
    modes = {each.name: each.stat().st_mode & 0o077 for each in tmp_path.glob("store.db*") if "lock" not in each.name}
    assert (len(modes), set(modes.values())) == (3, {0})
    made.close()


def test_a_second_process_on_one_sqlite_file_is_refused(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    first = Store(url)
    with pytest.raises(StoreError, match="Another dashboard_api uses the store"):
        Store(url)
    first.close()


def test_a_store_that_cannot_be_reached_is_named_without_its_password() -> None:
    with pytest.raises(StoreError, match=r"cannot be opened") as refused:
        Store("postgresql://ana:secret@127.0.0.1:1/trucks")
    assert "secret" not in str(refused.value)
    with pytest.raises(StoreError, match="sqlite:///"):
        Store("mysql://somewhere/trucks")


def test_every_change_is_counted(store: Store) -> None:
    take(store, *(an_alert(f"a{n}", minute=n, severity="critical" if n % 2 else "info") for n in range(120)))
    counted = {(kind, severity): (total, unseen) for kind, severity, total, unseen in alerts.open_by_kind(store)}
    assert counted == {("geofence_enter", "info"): (60, 60), ("geofence_enter", "critical"): (60, 60)}
    assert [count for _, count in alerts.per_hour(store, 0)] == [55, 60, 5]
    with store.read() as connection:
        assert connection.scalar(select(func.count()).select_from(ALERT_CHANGES)) == 120
