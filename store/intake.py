"""Takes records of `trucks_alerts` and `trucks_visits` in, with their offsets, in one transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table, delete, select

from schemas.models import Alert, Visit
from store.engine import INTAKE_LOCK, Store, insert_rows, upsert
from store.moments import as_ms
from store.tables import ALERT_CHANGES, ALERTS, KAFKA_OFFSETS, VISITS

SEVERITY_RANK = {"info": 0, "warning": 1, "critical": 2}


@dataclass(frozen=True)
class Place:
    """A partition of a topic, named so that a topic that was made again is another one."""

    topic: str
    topic_id: str
    partition: int


class OffsetsMoved(Exception):  # noqa: N818 (not an error: another process was faster)
    """The store is not where this batch begins: somebody else has taken it in."""


@dataclass(frozen=True)
class Batch:
    """What was read: records, and for each partition where reading began and where it goes on."""

    alerts: Sequence[Alert]
    visits: Sequence[Visit]
    began: dict[Place, int]
    ended: dict[Place, int]


def stored_offsets(store: Store, table: Table = KAFKA_OFFSETS) -> dict[Place, int]:
    """Each reader has a table of its own."""
    with store.read() as connection:
        return offsets(connection, table)


def take_in(store: Store, batch: Batch, at_ms: int) -> None:
    """Rows and offsets together, or nothing. Raises OffsetsMoved when the batch does not begin where the store is."""
    with store.write(INTAKE_LOCK) as connection:
        move_offsets(connection, batch.began, batch.ended)
        put_alerts(connection, batch.alerts, at_ms)
        _put_visits(connection, batch.visits)


def move_offsets(
    connection: Connection, began: dict[Place, int], ended: dict[Place, int], table: Table = KAFKA_OFFSETS
) -> None:
    """In the transaction of what was read; raises OffsetsMoved where the store is not at `began`."""
    known = offsets(connection, table)
    if any(known.get(place, offset) != offset for place, offset in began.items()):
        raise OffsetsMoved
    for place in ended:
        connection.execute(delete(table).where(table.c.topic == place.topic, table.c.partition == place.partition))
    insert_rows(connection, table, [{**vars(place), "next_offset": at} for place, at in ended.items()])


def offsets(connection: Connection, table: Table) -> dict[Place, int]:
    rows = connection.execute(select(table))
    return {Place(row.topic, row.topic_id, row.partition): row.next_offset for row in rows}


def put_alerts(connection: Connection, alerts: Iterable[Alert], at_ms: int) -> None:
    rows = [_alert_row(alert) for alert in alerts]
    changes = [
        {"alert_id": row["alert_id"], "change": "revision", "revision": row["revision"], "value": row["value"]}
        | {"who": None, "at_ms": at_ms}
        for row in rows
    ]
    upsert(connection, ALERT_CHANGES, changes, ["alert_id", "revision"])
    upsert(connection, ALERTS, rows, ["alert_id"], newest_by="revision")


def _alert_row(alert: Alert) -> dict[str, object]:
    return {
        **alert.model_dump(mode="json", include={"alert_id", "revision", "status", "kind", "severity"}),
        "severity_rank": SEVERITY_RANK[alert.severity],
        "truck_id": alert.truck_id,
        "fence_id": alert.fence_id,
        "start_ms": as_ms(alert.start_time),
        "value": alert.model_dump_json(),
    }


def _put_visits(connection: Connection, visits: Iterable[Visit]) -> None:
    rows = [
        {
            **visit.model_dump(include={"visit_id", "revision", "status", "truck_id", "fence_id"}),
            "enter_ms": as_ms(visit.enter_time),
            "value": visit.model_dump_json(),
        }
        for visit in visits
    ]
    upsert(connection, VISITS, rows, ["visit_id"], newest_by="revision")
