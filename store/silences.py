"""Silences: who wants no notice of what, until when, and why."""

import secrets
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from store import audit
from store.engine import Store
from store.tables import SILENCES


def add(store: Store, given: dict[str, Any], *, who: str, at_ms: int) -> Row[Any]:
    """`given`: truck_id, fence_id, kind (None: any), why, until_ms."""
    silence_id = secrets.token_hex(8)
    row = {**given, "silence_id": silence_id, "who": who, "created_ms": at_ms}
    with store.write() as connection:
        connection.execute(insert(SILENCES).values(row))
        audit.note(connection, who=who, action="silence_added", subject=silence_id, at_ms=at_ms, **given)
        return connection.execute(select(SILENCES).where(SILENCES.c.silence_id == silence_id)).one()


def page(store: Store, *, active_only: bool, limit: int, offset: int, at_ms: int) -> tuple[Sequence[Row[Any]], int]:
    wanted = [SILENCES.c.until_ms > at_ms] if active_only else []
    asked = select(SILENCES).where(*wanted).order_by(SILENCES.c.created_ms.desc(), SILENCES.c.silence_id)
    with store.read() as connection:
        total = connection.scalar(select(func.count()).select_from(SILENCES).where(*wanted)) or 0
        return connection.execute(asked.limit(limit).offset(offset)).all(), total


def end(store: Store, silence_id: str, *, who: str, at_ms: int) -> bool:
    """End it now; False where there is none that lasts."""
    lasting = (SILENCES.c.silence_id == silence_id, SILENCES.c.until_ms > at_ms)
    with store.write() as connection:
        if connection.execute(update(SILENCES).where(*lasting).values(until_ms=at_ms)).rowcount == 0:
            return False
        audit.note(connection, who=who, action="silence_ended", subject=silence_id, at_ms=at_ms)
        return True
