"""Questions about alerts, and their acknowledgement."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, func, insert, select, update

from store import audit
from store.engine import INTAKE_LOCK, Store
from store.tables import ALERT_CHANGES, ALERTS, FENCES, SILENCES

Order = Literal["newest", "oldest", "severity"]
ORDERS: dict[str, tuple[ColumnElement[Any], ...]] = {
    "newest": (ALERTS.c.start_ms.desc(), ALERTS.c.alert_id),
    "oldest": (ALERTS.c.start_ms, ALERTS.c.alert_id),
    "severity": (ALERTS.c.severity_rank.desc(), ALERTS.c.start_ms.desc(), ALERTS.c.alert_id),
}


@dataclass(frozen=True)
class Wanted:
    """Which alerts: a None or an empty tuple asks for nothing in particular; times are a half-open range."""

    kinds: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    truck_id: str | None = None
    fence_id: str | None = None
    acknowledged: bool | None = None
    from_ms: int | None = None
    to_ms: int | None = None

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        for column, wanted in (("kind", self.kinds), ("severity", self.severities), ("status", self.statuses)):
            if wanted:
                yield ALERTS.c[column].in_(wanted)
        for column, value in (("truck_id", self.truck_id), ("fence_id", self.fence_id)):
            if value is not None:
                yield ALERTS.c[column] == value
        if self.acknowledged is not None:
            yield ALERTS.c.acknowledged_ms.is_not(None) if self.acknowledged else ALERTS.c.acknowledged_ms.is_(None)
        if self.from_ms is not None:
            yield ALERTS.c.start_ms >= self.from_ms
        if self.to_ms is not None:
            yield ALERTS.c.start_ms < self.to_ms


def _shown(at_ms: int) -> Select[Any]:
    """Alerts with the name of their fence, and whether somebody has silenced them."""
    silenced = (
        select(SILENCES.c.silence_id)
        .where(SILENCES.c.until_ms > at_ms)
        .where(*(SILENCES.c[each].is_(None) | (SILENCES.c[each] == ALERTS.c[each]) for each in SILENCED_BY))
        .exists()
    )
    fence = (FENCES.c.fence_id == ALERTS.c.fence_id) & FENCES.c.is_current
    return select(ALERTS, FENCES.c.name.label("fence_name"), silenced.label("silenced")).select_from(
        ALERTS.outerjoin(FENCES, fence)
    )


SILENCED_BY = ("truck_id", "fence_id", "kind")


def page(  # noqa: PLR0913 (each is given by name)
    store: Store, wanted: Wanted, *, order: Order, limit: int, offset: int, at_ms: int
) -> tuple[Sequence[Row[Any]], int]:
    asked = _shown(at_ms).where(*wanted.conditions()).order_by(*ORDERS[order]).limit(limit).offset(offset)
    counted = select(func.count()).select_from(ALERTS).where(*wanted.conditions())
    with store.read() as connection:
        return connection.execute(asked).all(), connection.scalar(counted) or 0


def ids(store: Store, wanted: Wanted, *, order: Order, limit: int) -> list[str]:
    asked = select(ALERTS.c.alert_id).where(*wanted.conditions()).order_by(*ORDERS[order]).limit(limit)
    with store.read() as connection:
        return list(connection.scalars(asked))


def several(store: Store, alert_ids: Sequence[str], at_ms: int) -> list[Row[Any]]:
    """Those alerts, in that order; one that was forgotten meanwhile is left out."""
    with store.read() as connection:
        rows = connection.execute(_shown(at_ms).where(ALERTS.c.alert_id.in_(alert_ids)))
        found = {row.alert_id: row for row in rows}
    return [found[each] for each in alert_ids if each in found]


def one(store: Store, alert_id: str, at_ms: int) -> tuple[Row[Any], Sequence[Row[Any]]] | None:
    """The alert and all its changes, oldest first."""
    with store.read() as connection:
        found = connection.execute(_shown(at_ms).where(ALERTS.c.alert_id == alert_id)).one_or_none()
        if found is None:
            return None
        asked = select(ALERT_CHANGES).where(ALERT_CHANGES.c.alert_id == alert_id)
        return found, connection.execute(asked.order_by(ALERT_CHANGES.c.seq)).all()


@dataclass(frozen=True)
class Acknowledgement:
    note: str | None = None
    assignee: str | None = None


def acknowledge(
    store: Store, alert_ids: Iterable[str], given: Acknowledgement | None, *, who: str, at_ms: int
) -> list[str]:
    """Acknowledge, or with None take an acknowledgement back. Returns the ids that no alert has."""
    missing = []
    # With the lock of those who store revisions: changes are numbered when they are written, and told in that order. A
    # number that came to be seen after a higher one would never be told.
    with store.write(INTAKE_LOCK) as connection:
        for alert_id in dict.fromkeys(alert_ids):
            if not _change(connection, alert_id, given, who=who, at_ms=at_ms):
                missing.append(alert_id)
    return missing


def _change(connection: Connection, alert_id: str, given: Acknowledgement | None, *, who: str, at_ms: int) -> bool:
    state = {
        "acknowledged_by": who if given else None,
        "acknowledged_ms": at_ms if given else None,
        "note": given.note if given else None,
        "assignee": given.assignee if given else None,
    }
    changed = connection.execute(update(ALERTS).where(ALERTS.c.alert_id == alert_id).values(state))
    if changed.rowcount == 0:
        return False
    change = "acknowledged" if given else "unacknowledged"
    row = {"alert_id": alert_id, "change": change, "value": json.dumps(state), "who": who, "at_ms": at_ms}
    connection.execute(insert(ALERT_CHANGES).values(row))
    audit.note(connection, who=who, action=f"alert_{change}", subject=alert_id, at_ms=at_ms, note=state["note"])
    return True


def changes_after(store: Store, seq: int, limit: int) -> Sequence[Row[Any]]:
    """With the alert's kind, severity, truck and fence, oldest first."""
    about = (ALERTS.c.kind, ALERTS.c.severity, ALERTS.c.truck_id, ALERTS.c.fence_id)
    both = ALERT_CHANGES.join(ALERTS, ALERT_CHANGES.c.alert_id == ALERTS.c.alert_id)
    newer = select(ALERT_CHANGES, *about).select_from(both).where(ALERT_CHANGES.c.seq > seq)
    asked = newer.order_by(ALERT_CHANGES.c.seq).limit(limit)
    with store.read() as connection:
        return connection.execute(asked).all()


def last_seq(store: Store) -> int:
    with store.read() as connection:
        return connection.scalar(select(func.max(ALERT_CHANGES.c.seq))) or 0


def open_by_kind(store: Store) -> Sequence[Any]:
    """(kind, severity, how many, of them not acknowledged) of the alerts that are raised."""
    unseen = func.count().filter(ALERTS.c.acknowledged_ms.is_(None))
    asked = select(ALERTS.c.kind, ALERTS.c.severity, func.count(), unseen).where(ALERTS.c.status == "raised")
    with store.read() as connection:
        return connection.execute(asked.group_by(ALERTS.c.kind, ALERTS.c.severity)).all()


def per_hour(store: Store, since_ms: int) -> Sequence[Any]:
    """(start of the hour in ms, how many alerts began in it), oldest first."""
    hour = (ALERTS.c.start_ms - ALERTS.c.start_ms % 3_600_000).label("hour_ms")
    counted = select(hour, func.count()).where(ALERTS.c.start_ms >= since_ms, ALERTS.c.status != "retracted")
    with store.read() as connection:
        return connection.execute(counted.group_by(hour).order_by(hour)).all()
