"""Between moments and the epoch milliseconds of the store."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def as_ms(moment: datetime) -> int:
    return (moment - EPOCH) // MILLISECOND


def from_ms(ms: int) -> datetime:
    return EPOCH + ms * MILLISECOND


def maybe_from_ms(ms: int | None) -> datetime | None:
    return None if ms is None else from_ms(ms)
