"""When a fence raises alerts: by the wall clock of its time zone, whatever that clock does in spring and autumn."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from schemas.models import Schedule
from streaming.places import Version

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MINUTE = timedelta(minutes=1)


def is_open(version: Version | None, t: int) -> bool:
    """Whether this version of a fence raises alerts at `t`; one without a schedule always does."""
    if version is None or version.fence.schedule is None:
        return version is not None
    return _covers(version.fence.schedule, datetime.fromtimestamp(t / 1000, UTC))


def openings(version: Version, after: int, until: int) -> Iterator[int]:
    """The moments in (after, until] at which the schedule opens."""
    schedule = version.fence.schedule
    if schedule is None:
        return
    day = datetime.fromtimestamp(after / 1000, UTC).date() - timedelta(days=1)
    while _epoch_ms(datetime(day.year, day.month, day.day, tzinfo=UTC)) <= until + 86_400_000:
        yield from (t for t in _openings_on(schedule, day.isoformat()) if after < t <= until)
        day += timedelta(days=1)


@lru_cache(maxsize=4096)
def _openings_on(schedule: Schedule, utc_day: str) -> tuple[int, ...]:
    """The minutes of one UTC day at which the schedule turns from closed to open."""
    start = datetime.fromisoformat(utc_day).replace(tzinfo=UTC)
    found, before = [], _covers(schedule, start - MINUTE)
    for minute in range(24 * 60):
        moment = start + minute * MINUTE
        now = _covers(schedule, moment)
        if now and not before:
            found.append(_epoch_ms(moment))
        before = now
    return tuple(found)


def _covers(schedule: Schedule, moment: datetime) -> bool:
    local = moment.astimezone(ZoneInfo(schedule.zone))
    clock = f"{local.hour:02d}:{local.minute:02d}"
    today, yesterday = DAYS[local.weekday()], DAYS[local.weekday() - 1]
    if schedule.start < schedule.end:
        return today in schedule.days and schedule.start <= clock < schedule.end
    evening = today in schedule.days and clock >= schedule.start
    return evening or (yesterday in schedule.days and clock < schedule.end)


def _epoch_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
