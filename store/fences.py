"""Fences in all their versions, and the outbox from which they reach Kafka."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from schemas.models import Fence
from store import audit
from store.engine import OUTBOX_LOCK, Store, insert_rows, try_lock
from store.tables import FENCE_OUTBOX, FENCES

OUTBOX_BATCH = 500
# Whoever asks for the current version and then puts the next holds this lock; a number like those of `store.engine`.
FENCES_LOCK = 7_233_007


class FenceConflict(Exception):  # noqa: N818 (said of the request, not of the program)
    """The fence is not what the writer thinks it is; `current` is its version now, 0 where there is none."""

    def __init__(self, current: int) -> None:
        super().__init__(f"the current version is {current}")
        self.current = current


def put(connection: Connection, fence: Fence, value: bytes, *, who: str, at_ms: int) -> None:
    """Store a version, its audit entry and its place in the outbox; raises FenceConflict unless it is the next one."""
    named = FENCES.c.fence_id == fence.fence_id
    newest = connection.scalar(select(func.max(FENCES.c.version)).where(named)) or 0
    if fence.version != newest + 1:
        raise FenceConflict(newest)
    connection.execute(update(FENCES).where(named, FENCES.c.is_current).values(is_current=False))
    row = {"fence_id": fence.fence_id, "version": fence.version, "name": fence.name, "deleted": fence.deleted}
    row |= {"is_current": True, "value": value.decode(), "who": who, "at_ms": at_ms}
    connection.execute(insert(FENCES).values(row))
    connection.execute(insert(FENCE_OUTBOX).values(fence_id=fence.fence_id, value=value))
    action = "fence_deleted" if fence.deleted else "fence_written"
    audit.note(connection, who=who, action=action, subject=fence.fence_id, at_ms=at_ms, version=fence.version)


def current(connection: Connection, fence_id: str) -> Row[Any] | None:
    """The newest version, deleted or not."""
    return connection.execute(select(FENCES).where(FENCES.c.fence_id == fence_id, FENCES.c.is_current)).one_or_none()


def version(store: Store, fence_id: str, number: int | None) -> Row[Any] | None:
    """That version, or the current one unless it is deleted."""
    asked = select(FENCES).where(FENCES.c.fence_id == fence_id)
    asked = asked.where(FENCES.c.version == number) if number else asked.where(FENCES.c.is_current, ~FENCES.c.deleted)
    with store.read() as connection:
        return connection.execute(asked).one_or_none()


def versions(store: Store, fence_id: str, *, limit: int, offset: int) -> tuple[Sequence[Row[Any]], int]:
    """Its versions, newest first, and how many there are."""
    named = FENCES.c.fence_id == fence_id
    asked = select(FENCES).where(named).order_by(FENCES.c.version.desc()).limit(limit).offset(offset)
    with store.read() as connection:
        total = connection.scalar(select(func.count()).select_from(FENCES).where(named)) or 0
        return connection.execute(asked).all(), total


def page(store: Store, *, text: str, limit: int | None, offset: int) -> tuple[Sequence[Row[Any]], int]:
    """Current fences by id, and how many match."""
    shown = [FENCES.c.is_current, ~FENCES.c.deleted]
    if text:
        found = FENCES.c.name.icontains(text, autoescape=True) | FENCES.c.fence_id.icontains(text, autoescape=True)
        shown.append(found)
    with store.read() as connection:
        total = connection.scalar(select(func.count()).select_from(FENCES).where(*shown)) or 0
        asked = select(FENCES).where(*shown).order_by(FENCES.c.fence_id).limit(limit).offset(offset)
        return connection.execute(asked).all(), total


def publish(store: Store, send: Callable[[Sequence[tuple[str, bytes]]], int], now_ms: Callable[[], int]) -> int:
    """Hand what waits in the outbox to `send`, oldest first; it says how many of the first ones Kafka has.

    Marked after that: a crash in between sends the same bytes again, in the same order.
    """
    with store.write() if store.is_postgresql else store.read() as connection:
        if not try_lock(connection, OUTBOX_LOCK):
            return 0
        waiting = connection.execute(
            select(FENCE_OUTBOX)
            .where(FENCE_OUTBOX.c.published_ms.is_(None))
            .order_by(FENCE_OUTBOX.c.seq)
            .limit(OUTBOX_BATCH)
        ).all()
        if not waiting:
            return 0
        taken = send([(row.fence_id, bytes(row.value)) for row in waiting])
        if store.is_postgresql:
            _mark(connection, [row.seq for row in waiting[:taken]], now_ms())
    if not store.is_postgresql:
        # Not in the transaction above: it would keep every writer waiting for Kafka.
        with store.write() as connection:
            _mark(connection, [row.seq for row in waiting[:taken]], now_ms())
    return taken


def _mark(connection: Connection, published: Sequence[int], at_ms: int) -> None:
    connection.execute(update(FENCE_OUTBOX).where(FENCE_OUTBOX.c.seq.in_(published)).values(published_ms=at_ms))


def waiting(store: Store) -> int:
    """How many versions Kafka does not have yet."""
    with store.read() as connection:
        unpublished = FENCE_OUTBOX.c.published_ms.is_(None)
        return connection.scalar(select(func.count()).select_from(FENCE_OUTBOX).where(unpublished)) or 0


def adopt(store: Store, published: Iterable[tuple[Fence, bytes]], at_ms: int) -> int:
    """Take in versions that Kafka has and this store does not: the store was lost. Says how many."""
    adopted = 0
    with store.write(FENCES_LOCK) as connection:
        for fence, value in published:
            known = current(connection, fence.fence_id)
            if known is not None and known.version >= fence.version:
                continue
            connection.execute(update(FENCES).where(FENCES.c.fence_id == fence.fence_id).values(is_current=False))
            row = {"fence_id": fence.fence_id, "version": fence.version, "name": fence.name, "deleted": fence.deleted}
            row |= {"is_current": True, "value": value.decode(), "who": "Kafka", "at_ms": at_ms}
            insert_rows(connection, FENCES, [row])
            adopted += 1
    return adopted
