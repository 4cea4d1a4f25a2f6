"""What the notifier's lanes need: claim what is due under a lease, and record what became of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, select, update

from store.channels import OPEN_STATES, end_open
from store.deliveries import ENDED, with_alerts
from store.engine import Store
from store.notify_tables import CHANNELS, DELIVERIES, DELIVERY_ALERTS, SEEN_ALERTS, TOLD

PRUNE_AT_ONCE = 1000
UNTOLD = "what it follows was not delivered"


@dataclass(frozen=True)
class Claimed:
    """A delivery that only this process may send until its lease ends."""

    delivery_id: str
    channel_id: str
    what: str
    attempts: int
    since_ms: int
    alerts: Sequence[tuple[Any, dict[str, Any]]]


@dataclass(frozen=True)
class Ended:
    """What became of a try; `retry_ms` None: no other is made. A receiver that was busy has not cost one."""

    claimed: Claimed
    at_ms: int
    error: str | None = None
    retry_ms: int | None = None
    gone: bool = False
    busy: bool = False

    @property
    def state(self) -> str:
        if self.error is None:
            return "delivered"
        return "dead" if self.retry_ms is None else "pending"


def due_channels(store: Store, at_ms: int) -> Sequence[Row[Any]]:
    """The channels for which something is due. Asked of each apart: one with many that wait makes no other slow."""
    due = (DELIVERIES.c.state.in_(OPEN_STATES), DELIVERIES.c.due_ms <= at_ms)
    first = select(DELIVERIES.c.delivery_id).where(DELIVERIES.c.channel_id == CHANNELS.c.channel_id, *due).limit(1)
    # Not `exists`: PostgreSQL would make a join of it, and read all that waits.
    asked = select(CHANNELS).where(CHANNELS.c.enabled, first.scalar_subquery().is_not(None))
    with store.read() as connection:
        return connection.execute(asked).all()


def claim(store: Store, rooms: Mapping[str, int], *, at_ms: int, lease_ms: int) -> list[Claimed]:
    """For each channel at most as many as there is room for, the longest due first."""
    claimed: list[Claimed] = []
    with store.write() as connection:
        for channel_id, room in rooms.items():
            claimed += _claim(connection, channel_id, room, at_ms=at_ms, lease_ms=lease_ms)
    return claimed


def _claim(connection: Connection, channel_id: str, room: int, *, at_ms: int, lease_ms: int) -> list[Claimed]:
    before = DELIVERIES.alias()
    untold = (before.c.delivery_id == DELIVERIES.c.after_id, before.c.state != "delivered")
    told = ~select(before.c.delivery_id).where(*untold).exists()
    due = (DELIVERIES.c.channel_id == channel_id, DELIVERIES.c.due_ms <= at_ms, told)
    rows: list[Row[Any]] = []
    # One state at a time, so that the index has them in order already, however many wait.
    for state in OPEN_STATES:
        asked = select(DELIVERIES).where(*due, DELIVERIES.c.state == state).order_by(DELIVERIES.c.due_ms)
        rows += connection.execute(asked.limit(room - len(rows)).with_for_update(skip_locked=True)).all()
    if not rows:
        return []
    named = DELIVERIES.c.delivery_id.in_([row.delivery_id for row in rows])
    connection.execute(update(DELIVERIES).where(named).values(state="sending", due_ms=at_ms + lease_ms))
    names = ("delivery_id", "channel_id", "what", "attempts", "since_ms", "alerts")
    return [Claimed(**{name: each[name] for name in names}) for each in with_alerts(connection, rows)]


def tidy(store: Store) -> None:
    """Who was never told of an alert is not told of its end; what was planned for a channel as it went away ends."""
    before, usable = DELIVERIES.alias(), select(CHANNELS.c.channel_id).where(CHANNELS.c.enabled)
    lost = (before.c.delivery_id == DELIVERIES.c.after_id, before.c.state.in_(("dead", "suppressed")))
    untold = select(before.c.delivery_id).where(*lost).exists()
    follows = (DELIVERIES.c.state == "pending", DELIVERIES.c.after_id.is_not(None), untold)
    nowhere = (DELIVERIES.c.state.in_(OPEN_STATES), DELIVERIES.c.channel_id.not_in(usable))
    with store.write() as connection:
        connection.execute(update(DELIVERIES).where(*follows).values(state="suppressed", reason=UNTOLD))
        gone = "the channel was removed or disabled"
        connection.execute(update(DELIVERIES).where(*nowhere).values(state="dead", reason=gone))


def release(store: Store, at_ms: int) -> int:
    """Give back what a process that no longer lives had claimed."""
    with store.write() as connection:
        held = update(DELIVERIES).where(DELIVERIES.c.state == "sending")
        return connection.execute(held.values(state="pending", due_ms=at_ms)).rowcount


def record(store: Store, ended: Iterable[Ended], circuits: Mapping[str, Mapping[str, Any]]) -> None:
    """All outcomes in one transaction; `circuits`: what the channels are to be after them."""
    with store.write() as connection:
        for each in ended:
            _record_one(connection, each)
        for channel_id, state in circuits.items():
            connection.execute(update(CHANNELS).where(CHANNELS.c.channel_id == channel_id).values(**state))


def _record_one(connection: Connection, ended: Ended) -> None:
    attempts = ended.claimed.attempts + (not ended.busy)
    values: dict[str, Any] = {"state": ended.state, "attempts": attempts, "last_error": ended.error}
    if ended.error is None:
        values |= {"delivered_ms": ended.at_ms, "reason": None}
    elif ended.retry_ms is None:
        values["reason"] = ended.error
    else:
        values["due_ms"] = ended.retry_ms
    # Not where somebody ended it meanwhile: a channel that was removed or disabled.
    named = (DELIVERIES.c.delivery_id == ended.claimed.delivery_id, DELIVERIES.c.state.in_(OPEN_STATES))
    connection.execute(update(DELIVERIES).where(*named).values(values))
    if ended.gone:
        channel_id, reason = ended.claimed.channel_id, "the receiver answered 410 Gone: it wants nothing any more"
        off = update(CHANNELS).where(CHANNELS.c.channel_id == channel_id)
        connection.execute(off.values(enabled=False, disabled_reason=reason))
        end_open(connection, channel_id, reason)


def expire(store: Store, channel_id: str, *, before_ms: int, reason: str) -> int:
    """While a circuit is open nothing is tried: what has waited longer than all its tries would take is dead."""
    old = (
        DELIVERIES.c.channel_id == channel_id,
        DELIVERIES.c.state == "pending",
        DELIVERIES.c.since_ms < before_ms,
    )
    with store.write() as connection:
        return connection.execute(update(DELIVERIES).where(*old).values(state="dead", reason=reason)).rowcount


def prune(store: Store, before_ms: int) -> int:
    """Forget what ended long ago, some at a time."""
    old = select(DELIVERIES.c.delivery_id).where(DELIVERIES.c.state.in_(ENDED), DELIVERIES.c.created_ms < before_ms)
    with store.write() as connection:
        ids = list(connection.scalars(old.limit(PRUNE_AT_ONCE)))
        for table in (DELIVERY_ALERTS, DELIVERIES):
            connection.execute(delete(table).where(table.c.delivery_id.in_(ids)))
        seen_before = select(SEEN_ALERTS.c.alert_id).where(SEEN_ALERTS.c.seen_ms < before_ms)
        seen = list(connection.scalars(seen_before.limit(PRUNE_AT_ONCE)))
        for table in (TOLD, SEEN_ALERTS):
            connection.execute(delete(table).where(table.c.alert_id.in_(seen)))
    return len(ids) + len(seen)
