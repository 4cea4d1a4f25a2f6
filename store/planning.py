"""What the planner reads and writes: rules and channels, who was told of what, groups that still wait."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from schemas.models import Fence
from store import rules
from store.engine import upsert
from store.notify_tables import CHANNELS, DELIVERIES, DELIVERY_ALERTS, SEEN_ALERTS, TOLD
from store.tables import ALERTS, FENCES, SILENCES

# How a delivery says that it is held back by an alert about the whole feed.
INHIBITED = "inhibited: the whole feed is silent"
REPEATS_AT_ONCE = 500
Values = dict[str, Any]


@dataclass
class Book:
    """Read once for a batch of alerts, and kept up to date while they are planned."""

    rules: Sequence[rules.Known]
    channels: dict[str, Row[Any]]
    silences: Sequence[Row[Any]]
    fences: dict[str, Fence]
    seen: dict[str, tuple[int, str]]
    told: dict[str, dict[str, Values]]
    states: dict[str, Values]
    silent_feeds: set[str]
    groups: dict[str, Values | None] = field(default_factory=dict)


def read_book(connection: Connection, alert_ids: Collection[str], fence_ids: Collection[str], at_ms: int) -> Book:
    ids = list(alert_ids)
    told: dict[str, dict[str, Values]] = {}
    for row in connection.execute(select(TOLD).where(TOLD.c.alert_id.in_(ids))).mappings():
        told.setdefault(row["alert_id"], {})[row["channel_id"]] = dict(row)
    named = [each["delivery_id"] for rows in told.values() for each in rows.values()]
    # Locked, so that no lane takes a group away while an alert is added to it.
    states = connection.execute(select(DELIVERIES).where(DELIVERIES.c.delivery_id.in_(named)).with_for_update())
    seen = connection.execute(select(SEEN_ALERTS).where(SEEN_ALERTS.c.alert_id.in_(ids)))
    current = select(FENCES.c.fence_id, FENCES.c.value).where(FENCES.c.fence_id.in_(list(fence_ids)))
    fences = connection.execute(current.where(FENCES.c.is_current))
    return Book(
        rules=rules.read(connection),
        channels={row.channel_id: row for row in connection.execute(select(CHANNELS))},
        silences=connection.execute(select(SILENCES).where(SILENCES.c.until_ms > at_ms)).all(),
        fences={row.fence_id: Fence.model_validate_json(row.value) for row in fences},
        seen={row.alert_id: (row.revision, row.status) for row in seen},
        told=told,
        states={row["delivery_id"]: dict(row) for row in states.mappings()},
        silent_feeds=set(
            connection.scalars(
                select(SEEN_ALERTS.c.alert_id).where(
                    SEEN_ALERTS.c.kind == "feed_silent", SEEN_ALERTS.c.status == "raised"
                )
            )
        ),
    )


def newest_of_group(connection: Connection, group_key: str) -> Values | None:
    sent = (DELIVERIES.c.group_key == group_key, DELIVERIES.c.state.not_in(("suppressed", "historical")))
    asked = select(DELIVERIES).where(*sent).order_by(DELIVERIES.c.since_ms.desc()).limit(1).with_for_update()
    row = connection.execute(asked).mappings().one_or_none()
    return None if row is None else dict(row)


def last_told_ms(connection: Connection, channel_id: str, same_key: str) -> int | None:
    """When somebody was last told, or is about to be: what was held back or lost tells nobody."""
    same = (TOLD.c.channel_id == channel_id, TOLD.c.same_key == same_key)
    heard = select(func.max(TOLD.c.planned_ms)).join(DELIVERIES, DELIVERIES.c.delivery_id == TOLD.c.delivery_id)
    last_ms: int | None = connection.scalar(heard.where(*same, DELIVERIES.c.state.not_in(("suppressed", "dead"))))
    return last_ms


def items_of(connection: Connection, delivery_id: str) -> list[Values]:
    rows = connection.execute(select(DELIVERY_ALERTS).where(DELIVERY_ALERTS.c.delivery_id == delivery_id))
    return [dict(row) for row in rows.mappings()]


def drop_item(connection: Connection, delivery_id: str, alert_id: str) -> None:
    named = (DELIVERY_ALERTS.c.delivery_id == delivery_id, DELIVERY_ALERTS.c.alert_id == alert_id)
    connection.execute(delete(DELIVERY_ALERTS).where(*named))


def set_delivery(connection: Connection, delivery_id: str, **values: Any) -> None:
    connection.execute(update(DELIVERIES).where(DELIVERIES.c.delivery_id == delivery_id).values(values))


@dataclass
class Draft:
    """What a batch has made of each table, by key; written together, as single statements take most of the time."""

    seen: dict[str, Values] = field(default_factory=dict)
    told: dict[tuple[str, str], Values] = field(default_factory=dict)
    deliveries: dict[str, Values] = field(default_factory=dict)
    items: dict[tuple[str, str], Values] = field(default_factory=dict)

    def put_told(self, row: Values) -> None:
        self.told[row["alert_id"], row["channel_id"]] = row

    def put_item(self, item: Values) -> None:
        self.items[item["delivery_id"], item["alert_id"]] = item

    def write(self, connection: Connection) -> None:
        """Before anything is read that may have changed, and at the end."""
        upsert(connection, SEEN_ALERTS, [*self.seen.values()], ["alert_id"], newest_by="revision")
        upsert(connection, DELIVERIES, [*self.deliveries.values()], ["delivery_id"])
        upsert(connection, TOLD, [*self.told.values()], ["alert_id", "channel_id"], replace=True)
        upsert(connection, DELIVERY_ALERTS, [*self.items.values()], ["delivery_id", "alert_id"], replace=True)
        for each in (self.seen, self.told, self.deliveries, self.items):
            each.clear()


def wake_inhibited(connection: Connection, due_ms: int) -> None:
    """The feed is back: trucks that are still silent are told of, unless they are heard before `due_ms`."""
    still = (
        select(DELIVERY_ALERTS.c.delivery_id)
        .join(SEEN_ALERTS, SEEN_ALERTS.c.alert_id == DELIVERY_ALERTS.c.alert_id)
        .where(SEEN_ALERTS.c.status == "raised", SEEN_ALERTS.c.kind == "silent")
    )
    held = (DELIVERIES.c.state == "suppressed", DELIVERIES.c.reason == INHIBITED, DELIVERIES.c.delivery_id.in_(still))
    connection.execute(update(DELIVERIES).where(*held).values(state="pending", due_ms=due_ms, since_ms=due_ms))


def due_repeats(connection: Connection, at_ms: int) -> list[Values]:
    """Who is to be told again: the alert is open, nobody has acknowledged it, and the last word was delivered."""
    asked = (
        select(TOLD, DELIVERIES.c.state.label("last_state"), ALERTS.c.acknowledged_ms)
        .join(SEEN_ALERTS, SEEN_ALERTS.c.alert_id == TOLD.c.alert_id)
        .join(DELIVERIES, DELIVERIES.c.delivery_id == TOLD.c.delivery_id)
        .outerjoin(ALERTS, ALERTS.c.alert_id == TOLD.c.alert_id)
        .where(TOLD.c.repeat_ms <= at_ms, SEEN_ALERTS.c.status == "raised")
        .limit(REPEATS_AT_ONCE)
    )
    return [dict(row) for row in connection.execute(asked).mappings()]


def as_item(delivery_id: str, alert_id: str, value: str, about: Values) -> Values:
    return {"delivery_id": delivery_id, "alert_id": alert_id, "value": value, "about": json.dumps(about)}
