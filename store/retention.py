"""Forgets what is old, a few rows at a time: nobody waits long for a transaction of this."""

from sqlalchemy import Column, ColumnElement, Connection, Select, Table, delete, func, insert, select, update

from store.engine import RETENTION_LOCK, Store, try_lock
from store.tables import ALERT_CHANGES, ALERTS, API_KEYS, AUDIT, FENCE_OUTBOX, META, SILENCES, VISITS

ROWS = 500
FORGOTTEN = "forgotten_seq"


def forget(store: Store, before_ms: int) -> int:
    """Delete some rows older than that, and say how many; 0: nothing is left to do.

    Raised alerts and open visits stay, and so do alerts that changed since, fences in all versions, and the outbox's
    rows that Kafka does not have.
    """
    with store.write() as connection:
        if not try_lock(connection, RETENTION_LOCK):
            return 0
        keys_ended = func.coalesce(API_KEYS.c.revoked_ms, API_KEYS.c.expires_ms)
        visits = (VISITS.c.status != "open", VISITS.c.enter_ms < before_ms)
        return (
            _alerts(connection, before_ms)
            + _delete(connection, VISITS, VISITS.c.visit_id, *visits)
            + _delete(connection, AUDIT, AUDIT.c.audit_id, AUDIT.c.at_ms < before_ms)
            + _delete(connection, FENCE_OUTBOX, FENCE_OUTBOX.c.seq, FENCE_OUTBOX.c.published_ms < before_ms)
            + _delete(connection, SILENCES, SILENCES.c.silence_id, SILENCES.c.until_ms < before_ms)
            # Every browser that logs in makes one.
            + _delete(connection, API_KEYS, API_KEYS.c.key_id, keys_ended < before_ms)
        )


def forgotten_seq(store: Store) -> int:
    """Of the changes up to this one, some are gone: nobody can be told all that came since."""
    with store.read() as connection:
        return int(connection.scalar(_forgotten()) or 0)


def _alerts(connection: Connection, before_ms: int) -> int:
    same = ALERT_CHANGES.c.alert_id == ALERTS.c.alert_id
    changed_since = select(ALERT_CHANGES.c.seq).where(same, ALERT_CHANGES.c.at_ms >= before_ms).exists()
    old = select(ALERTS.c.alert_id).where(ALERTS.c.status != "raised", ALERTS.c.start_ms < before_ms, ~changed_since)
    ids = list(connection.scalars(old.order_by(ALERTS.c.start_ms).limit(ROWS)))
    if not ids:
        return 0
    theirs = ALERT_CHANGES.c.alert_id.in_(ids)
    last = connection.scalar(select(func.max(ALERT_CHANGES.c.seq)).where(theirs)) or 0
    _note(connection, max(last, int(connection.scalar(_forgotten()) or 0)))
    connection.execute(delete(ALERT_CHANGES).where(theirs))
    return connection.execute(delete(ALERTS).where(ALERTS.c.alert_id.in_(ids))).rowcount


def _forgotten() -> Select[tuple[str]]:
    return select(META.c.value).where(META.c.name == FORGOTTEN)


def _note(connection: Connection, seq: int) -> None:
    if connection.execute(update(META).where(META.c.name == FORGOTTEN).values(value=str(seq))).rowcount == 0:
        connection.execute(insert(META).values(name=FORGOTTEN, value=str(seq)))


def _delete(connection: Connection, table: Table, key: Column[int] | Column[str], *old: ColumnElement[bool]) -> int:
    some = select(key).where(*old).order_by(key).limit(ROWS)
    return connection.execute(delete(table).where(key.in_(some))).rowcount
