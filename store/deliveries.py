"""The log of deliveries, for people: what was told to whom, what was not and why; sending again."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select, update

from schemas.models import Alert
from store import audit
from store.engine import Store
from store.notify_tables import CHANNELS, DELIVERIES, DELIVERY_ALERTS

STATES = ("pending", "sending", "delivered", "dead", "suppressed", "historical")
ENDED = ("delivered", "dead", "suppressed", "historical")


@dataclass(frozen=True)
class Wanted:
    alert_id: str | None = None
    channel_id: str | None = None
    state: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        found = [
            DELIVERIES.c[each] == value
            for each in ("channel_id", "state")
            if (value := getattr(self, each)) is not None
        ]
        if self.alert_id is not None:
            of_alert = select(DELIVERY_ALERTS.c.delivery_id).where(DELIVERY_ALERTS.c.alert_id == self.alert_id)
            found.append(DELIVERIES.c.delivery_id.in_(of_alert))
        return found


def delivery_id(*names: object) -> str:
    """Stable: the same alert, news and channel give the same id, in whatever process and however often."""
    return "msg_" + hashlib.sha256("\n".join(map(str, names)).encode()).hexdigest()[:32]


def page(store: Store, wanted: Wanted, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """Newest first, each with its alerts."""
    newest = select(DELIVERIES).where(*wanted.conditions())
    newest = newest.order_by(DELIVERIES.c.created_ms.desc(), DELIVERIES.c.delivery_id).limit(limit).offset(offset)
    with store.read() as connection:
        total = connection.scalar(select(func.count()).select_from(DELIVERIES).where(*wanted.conditions())) or 0
        return with_alerts(connection, connection.execute(newest).all()), total


def one(store: Store, wanted_id: str) -> dict[str, Any] | None:
    with store.read() as connection:
        rows = connection.execute(select(DELIVERIES).where(DELIVERIES.c.delivery_id == wanted_id)).all()
        return next(iter(with_alerts(connection, rows)), None)


def with_alerts(connection: Connection, rows: Sequence[Row[Any]]) -> list[dict[str, Any]]:
    """Rows as dictionaries; `alerts` is a list of (alert, what is known about it), oldest first."""
    ids = [row.delivery_id for row in rows]
    found: dict[str, list[tuple[Alert, dict[str, Any]]]] = {each: [] for each in ids}
    for item in connection.execute(select(DELIVERY_ALERTS).where(DELIVERY_ALERTS.c.delivery_id.in_(ids))):
        found[item.delivery_id].append((Alert.model_validate_json(item.value), json.loads(item.about)))
    for alerts in found.values():
        alerts.sort(key=lambda each: (each[0].start_time, each[0].alert_id))
    return [{**row._mapping, "alerts": found[row.delivery_id]} for row in rows]


def resend(store: Store, ids: Iterable[str], *, who: str, at_ms: int) -> list[str]:
    """Deliveries that have ended start anew, under the same id. Returns the ids for which that was not possible."""
    refused = []
    with store.write() as connection:
        for each in dict.fromkeys(ids):
            if not _resend_one(connection, each, at_ms):
                refused.append(each)
                continue
            audit.note(connection, who=who, action="delivery_resent", subject=each, at_ms=at_ms)
    return refused


def _resend_one(connection: Connection, wanted_id: str, at_ms: int) -> bool:
    usable = select(CHANNELS.c.channel_id).where(CHANNELS.c.enabled)
    ended = (
        DELIVERIES.c.delivery_id == wanted_id,
        DELIVERIES.c.state.in_(ENDED),
        DELIVERIES.c.channel_id.in_(usable),
    )
    anew = {"state": "pending", "reason": None, "attempts": 0, "due_ms": at_ms, "since_ms": at_ms, "after_id": None}
    anew |= {"group_key": None, "delivered_ms": None}
    return connection.execute(update(DELIVERIES).where(*ended).values(anew)).rowcount == 1


def dead_ids(store: Store, channel_id: str | None, limit: int) -> list[str]:
    """The oldest dead letters, of one channel or of all that are enabled."""
    usable = select(CHANNELS.c.channel_id).where(CHANNELS.c.enabled)
    asked = select(DELIVERIES.c.delivery_id).where(DELIVERIES.c.state == "dead", DELIVERIES.c.channel_id.in_(usable))
    if channel_id is not None:
        asked = asked.where(DELIVERIES.c.channel_id == channel_id)
    with store.read() as connection:
        return list(connection.scalars(asked.order_by(DELIVERIES.c.created_ms).limit(limit)))


def add_test(store: Store, channel_id: str, alert: Alert, *, who: str, at_ms: int) -> str:
    """A delivery like any other, of an alert that is none; the notifier sends it."""
    made = delivery_id("test", channel_id, alert.alert_id)
    row = new_row(made, channel_id, "test", at_ms)
    item = {"delivery_id": made, "alert_id": alert.alert_id, "value": alert.model_dump_json(), "about": "{}"}
    with store.write() as connection:
        connection.execute(insert(DELIVERIES).values(row))
        connection.execute(insert(DELIVERY_ALERTS).values(item))
        audit.note(connection, who=who, action="channel_tested", subject=channel_id, at_ms=at_ms)
    return made


def new_row(made: str, channel_id: str, what: str, at_ms: int, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "delivery_id": made,
        "channel_id": channel_id,
        "rule_id": None,
        "what": what,
        "state": "pending",
    }
    row |= {"rule_id": None, "reason": None, "attempts": 0, "due_ms": at_ms, "after_id": None, "group_key": None}
    return row | {"created_ms": at_ms, "since_ms": at_ms} | more


def counts(store: Store) -> dict[tuple[str, str], int]:
    """(channel, state) → how many."""
    asked = select(DELIVERIES.c.channel_id, DELIVERIES.c.state, func.count())
    with store.read() as connection:
        rows = connection.execute(asked.group_by(DELIVERIES.c.channel_id, DELIVERIES.c.state)).all()
        return {(row[0], row[1]): row[2] for row in rows}
