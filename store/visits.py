"""Questions about visits."""

from dataclasses import dataclass

from sqlalchemy import func, select

from store.engine import Store
from store.tables import VISITS


@dataclass(frozen=True)
class Wanted:
    """Which visits; times are a half-open range of the entry."""

    truck_id: str | None = None
    fence_id: str | None = None
    status: str | None = None
    from_ms: int | None = None
    to_ms: int | None = None


def page(store: Store, wanted: Wanted, *, limit: int, offset: int) -> tuple[list[str], int]:
    """Visits as JSON, newest first, and how many there are. Retracted ones are shown only where asked for."""
    conditions = [
        VISITS.c[name] == value for name in ("truck_id", "fence_id", "status") if (value := getattr(wanted, name))
    ]
    if wanted.status is None:
        conditions.append(VISITS.c.status != "retracted")
    if wanted.from_ms is not None:
        conditions.append(VISITS.c.enter_ms >= wanted.from_ms)
    if wanted.to_ms is not None:
        conditions.append(VISITS.c.enter_ms < wanted.to_ms)
    newest = select(VISITS.c.value).where(*conditions).order_by(VISITS.c.enter_ms.desc(), VISITS.c.visit_id)
    with store.read() as connection:
        total = connection.scalar(select(func.count()).select_from(VISITS).where(*conditions)) or 0
        return list(connection.scalars(newest.limit(limit).offset(offset))), total
