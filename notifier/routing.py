"""Which channels an alert goes to, by the rules: pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from schemas.models import Alert, Schedule
from store.rules import Known, Rule

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def route(
    rules: Sequence[Known], channels: Mapping[str, Any], alert: Alert, tags: Collection[str], now: datetime
) -> Iterator[tuple[Known, str]]:
    """(rule, channel), each place once: where two rules or two channels reach the same one, the first counts."""
    reached: set[str] = set()
    for known in counting(rules, alert, tags, now):
        for channel_id in known.rule.channel_ids:
            channel = channels.get(channel_id)
            if channel is not None and channel.target_hash not in reached:
                reached.add(channel.target_hash)
                yield known, channel_id


def counting(rules: Sequence[Known], alert: Alert, tags: Collection[str], now: datetime) -> list[Known]:
    """The rules that match, in order; those that catch all only where no other does."""
    found = []
    for known in rules:
        if not known.rule.catch_all and matches(known.rule, alert, tags, now):
            found.append(known)
            if known.rule.last:
                break
    return found or [each for each in rules if each.rule.catch_all and matches(each.rule, alert, tags, now)]


def matches(rule: Rule, alert: Alert, tags: Collection[str], now: datetime) -> bool:
    asked = (
        (rule.kinds, alert.kind),
        (rule.severities, alert.severity),
        (rule.fence_ids, alert.fence_id),
        (rule.truck_ids, alert.truck_id),
    )
    fits = all(not wanted or value in wanted for wanted, value in asked)
    tagged = not rule.tags or not set(rule.tags).isdisjoint(tags)
    return rule.enabled and fits and tagged and (rule.hours is None or covers(rule.hours, now))


def covers(hours: Schedule, moment: datetime) -> bool:
    """By the wall clock of the zone; over midnight where `start` is not before `end`, then the day is the evening's."""
    local = moment.astimezone(ZoneInfo(hours.zone))
    clock = f"{local.hour:02d}:{local.minute:02d}"
    today, yesterday = DAYS[local.weekday()], DAYS[local.weekday() - 1]
    if hours.start < hours.end:
        return today in hours.days and hours.start <= clock < hours.end
    return (today in hours.days and clock >= hours.start) or (yesterday in hours.days and clock < hours.end)
