"""Who changed what, and when."""

import json
from typing import Any

from sqlalchemy import Connection, func, insert, select

from store.engine import Store
from store.tables import AUDIT


def note(connection: Connection, *, who: str, action: str, subject: str, at_ms: int, **detail: Any) -> None:
    """In the transaction of the change: no change without its entry, and no entry without its change."""
    row = {"at_ms": at_ms, "who": who, "action": action, "subject": subject, "detail": json.dumps(detail)}
    connection.execute(insert(AUDIT).values(row))


def entries(store: Store, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    newest = select(AUDIT).order_by(AUDIT.c.audit_id.desc()).limit(limit).offset(offset)
    with store.read() as connection:
        total = connection.scalar(select(func.count()).select_from(AUDIT)) or 0
        return [
            dict(row) | {"detail": json.loads(row["detail"])} for row in connection.execute(newest).mappings()
        ], total
