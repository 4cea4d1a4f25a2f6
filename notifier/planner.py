"""From alerts to deliveries: who is told, now or in a group; who is not, and why. One transaction with the offsets."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from notifier.routing import route
from schemas.models import Alert, Fence
from store import planning
from store.deliveries import delivery_id, new_row
from store.moments import as_ms, from_ms
from store.planning import INHIBITED, Book, Values
from store.rules import Known
from store.sending import UNTOLD

About = Callable[[Alert, Fence | None], Values]


@dataclass(frozen=True)
class Limits:
    """`max_age_ms`: what happened longer ago is history; `wake_ms`: how long a truck has after the feed is back."""

    max_age_ms: int
    wake_ms: int


class Planner:
    """Plans one batch inside the caller's transaction."""

    def __init__(self, connection: Connection, about: About, limits: Limits, at_ms: int) -> None:
        self._connection = connection
        self._about = about
        self._limits = limits
        self._at_ms = at_ms
        self._book: Book
        self._feed_is_back = False
        self._draft = planning.Draft()

    def plan(self, alerts: Sequence[Alert]) -> None:
        fence_ids = {alert.fence_id for alert in alerts if alert.fence_id is not None}
        self._book = planning.read_book(self._connection, {each.alert_id for each in alerts}, fence_ids, self._at_ms)
        # An outage of the feed is looked at before the trucks that it makes silent.
        for alert in sorted(alerts, key=lambda each: each.kind != "feed_silent"):
            self._plan_one(alert)
        self._draft.write(self._connection)
        if self._feed_is_back and not self._book.silent_feeds:
            planning.wake_inhibited(self._connection, self._at_ms + self._limits.wake_ms)

    def _plan_one(self, alert: Alert) -> None:
        seen = self._book.seen.get(alert.alert_id)
        if seen is not None and alert.revision <= seen[0]:
            return
        self._book.seen[alert.alert_id] = (alert.revision, alert.status)
        row = {"alert_id": alert.alert_id, "revision": alert.revision, "status": alert.status, "kind": alert.kind}
        self._draft.seen[alert.alert_id] = row | {"seen_ms": self._at_ms}
        if alert.kind == "feed_silent":
            self._feed(alert)
        if alert.alert_id in self._book.told:
            for told in self._book.told[alert.alert_id].values():
                if told["status"] != alert.status:
                    self._follow_up(alert, told)
        elif seen is None and alert.status != "retracted":
            self._first(alert)

    def _feed(self, alert: Alert) -> None:
        if alert.status == "raised":
            self._book.silent_feeds.add(alert.alert_id)
        else:
            self._book.silent_feeds.discard(alert.alert_id)
            self._feed_is_back = True

    def _first(self, alert: Alert) -> None:
        fence = self._book.fences.get(alert.fence_id or "")
        about, now = self._about(alert, fence), from_ms(self._at_ms)
        for known, channel_id in route(self._book.rules, self._book.channels, alert, fence.tags if fence else (), now):
            state, reason = self._verdict(alert, known, channel_id)
            told = self._told(alert, known, channel_id)
            self._add(alert, about, told, state=state, reason=reason, known=known)
            if state == "pending" or reason == INHIBITED:
                self._book.told.setdefault(alert.alert_id, {})[channel_id] = told
                self._draft.put_told(told)

    def _told(self, alert: Alert, known: Known, channel_id: str) -> Values:
        repeats = known.rule.repeat_s is not None and alert.status == "raised"
        return {
            "alert_id": alert.alert_id,
            "channel_id": channel_id,
            "rule_id": known.rule_id,
            "delivery_id": "",
            "status": alert.status,
            "times": 0,
            "same_key": same_key(alert),
            "planned_ms": self._at_ms,
            "repeat_ms": self._at_ms + (known.rule.repeat_s or 0) * 1000 if repeats else None,
        }

    def _verdict(self, alert: Alert, known: Known, channel_id: str) -> tuple[str, str | None]:
        if self._at_ms - as_ms(alert.end_time or alert.start_time) > self._limits.max_age_ms:
            return "historical", "it happened too long ago"
        if held := self._held(alert, channel_id):
            return "suppressed", held
        if alert.kind == "silent" and self._book.silent_feeds:
            return "suppressed", INHIBITED
        last_ms = self._last_told_ms(alert, channel_id) if known.rule.cooldown_s else None
        if last_ms is not None and self._at_ms - last_ms < known.rule.cooldown_s * 1000:
            return "suppressed", f"cooldown: told of the same {(self._at_ms - last_ms) // 1000} s before"
        return "pending", None

    def _last_told_ms(self, alert: Alert, channel_id: str) -> int | None:
        self._draft.write(self._connection)
        return planning.last_told_ms(self._connection, channel_id, same_key(alert))

    def _held(self, alert: Alert, channel_id: str) -> str | None:
        """Why this channel gets nothing now."""
        channel = self._book.channels.get(channel_id)
        if channel is None or not channel.enabled:
            return "the channel is disabled" if channel is not None else "the channel was removed"
        for each in self._book.silences:
            asked = ((each.truck_id, alert.truck_id), (each.fence_id, alert.fence_id), (each.kind, alert.kind))
            if all(wanted is None or wanted == value for wanted, value in asked):
                return f"silenced by {each.who}: {each.why}"
        return None

    def _follow_up(self, alert: Alert, told: Values) -> None:
        """To those who got the news before, and to nobody else."""
        before = self._book.states.get(told["delivery_id"])
        state = before["state"] if before else "delivered"
        told["status"] = alert.status
        if alert.status != "raised":
            told["repeat_ms"] = None
        if before is not None and self._waits(before):
            self._change_waiting(alert, before)
        elif state != "suppressed":
            reason = UNTOLD if state == "dead" else self._held(alert, told["channel_id"])
            told["times"] += 1
            about = self._about(alert, self._book.fences.get(alert.fence_id or ""))
            after_id = told["delivery_id"] if state in ("pending", "sending") else None
            verdict = "suppressed" if reason else "pending"
            self._add(alert, about, told, state=verdict, reason=reason, known=self._rule(told), after_id=after_id)
        self._draft.put_told(told)

    def _rule(self, told: Values) -> Known | None:
        return next((each for each in self._book.rules if each.rule_id == told["rule_id"]), None)

    def _waits(self, row: Values) -> bool:
        return bool(row["state"] == "pending" and row["attempts"] == 0 and row["due_ms"] > self._at_ms)

    def _change_waiting(self, alert: Alert, row: Values) -> None:
        """It was not told yet: what is over is told as such, what was wrong is not told at all."""
        self._draft.write(self._connection)
        name, about = row["delivery_id"], self._about(alert, self._book.fences.get(alert.fence_id or ""))
        if alert.status != "retracted" and row["reason"] != INHIBITED:
            self._draft.put_item(planning.as_item(name, alert.alert_id, alert.model_dump_json(), about))
            return
        reason = f"{alert.status} before it was told"
        if len(planning.items_of(self._connection, name)) == 1:
            row["state"] = "suppressed"
            planning.set_delivery(self._connection, name, state="suppressed", reason=reason)
            return
        planning.drop_item(self._connection, name, alert.alert_id)
        made = delivery_id(alert.alert_id, alert.status, name)
        self._put(
            new_row(made, row["channel_id"], alert.status, self._at_ms, state="suppressed", reason=reason), alert, about
        )

    def _add(  # noqa: PLR0913 (each is given by name)
        self,
        alert: Alert,
        about: Values,
        told: Values,
        *,
        state: str,
        reason: str | None,
        known: Known | None,
        after_id: str | None = None,
    ) -> None:
        """A delivery of its own, or a place in a group; `told` then knows which."""
        channel_id = told["channel_id"]
        grouped = state == "pending" and after_id is None and known is not None and known.rule.groups
        group_key = group_of(known, channel_id, alert) if grouped and known is not None else None
        if group_key is not None and self._join(group_key, alert, about, told):
            return
        made = delivery_id(alert.alert_id, alert.status, told["times"], channel_id)
        due_ms = self._due_ms(known, group_key)
        row = new_row(made, channel_id, alert.status, self._at_ms, state=state, reason=reason, after_id=after_id)
        row |= {"rule_id": told["rule_id"], "group_key": group_key, "due_ms": due_ms, "since_ms": due_ms}
        if group_key is not None:
            self._book.groups[group_key] = row
        told["delivery_id"] = made
        self._put(row, alert, about)

    def _put(self, row: Values, alert: Alert, about: Values) -> None:
        self._book.states[row["delivery_id"]] = row
        item = planning.as_item(row["delivery_id"], alert.alert_id, alert.model_dump_json(), about)
        self._draft.deliveries[row["delivery_id"]] = row
        self._draft.put_item(item)

    def _join(self, group_key: str, alert: Alert, about: Values, told: Values) -> bool:
        if group_key not in self._book.groups:
            self._book.groups[group_key] = planning.newest_of_group(self._connection, group_key)
        newest = self._book.groups[group_key]
        if newest is None or not self._waits(newest):
            return False
        told["delivery_id"] = newest["delivery_id"]
        self._book.states[newest["delivery_id"]] = newest
        item = planning.as_item(newest["delivery_id"], alert.alert_id, alert.model_dump_json(), about)
        self._draft.put_item(item)
        return True

    def _due_ms(self, known: Known | None, group_key: str | None) -> int:
        if known is None or group_key is None:
            return self._at_ms
        due_ms = self._at_ms + known.rule.group_wait_s * 1000
        last = self._book.groups.get(group_key)
        return due_ms if last is None else max(due_ms, last["since_ms"] + known.rule.group_interval_s * 1000)

    def repeat(self) -> int:
        """Tell again of what is still open."""
        due = planning.due_repeats(self._connection, self._at_ms)
        self._book = planning.read_book(self._connection, [each["alert_id"] for each in due], (), self._at_ms)
        for each in due:
            self._repeat_one(each)
        self._draft.write(self._connection)
        return len(due)

    def _repeat_one(self, due: Values) -> None:
        told = self._book.told[due["alert_id"]][due["channel_id"]]
        known = self._rule(told)
        told["repeat_ms"] = None
        if known is not None and known.rule.repeat_s is not None and due["acknowledged_ms"] is None:
            told["repeat_ms"] = self._at_ms + known.rule.repeat_s * 1000
            items = planning.items_of(self._connection, told["delivery_id"])
            item = next((each for each in items if each["alert_id"] == told["alert_id"]), None)
            if item is not None and due["last_state"] == "delivered":
                self._tell_again(told, known, item)
        self._draft.put_told(told)

    def _tell_again(self, told: Values, known: Known, item: Values) -> None:
        """Alerts of a group that are told again in the same moment are one notification too."""
        alert, channel_id = Alert.model_validate_json(item["value"]), told["channel_id"]
        reason = self._held(alert, channel_id)
        told["times"] += 1
        group_key = group_of(known, channel_id, alert) if known.rule.groups and reason is None else None
        row = self._book.groups.get(group_key or "")
        if row is None:
            made = delivery_id(alert.alert_id, "repeat", told["times"], channel_id)
            row = new_row(made, channel_id, "repeat", self._at_ms, rule_id=told["rule_id"], reason=reason)
            row["state"] = "suppressed" if reason else "pending"
            if group_key is not None:
                self._book.groups[group_key] = row
        self._draft.deliveries[row["delivery_id"]] = row
        self._draft.put_item(item | {"delivery_id": row["delivery_id"]})
        if reason is None:
            told["delivery_id"] = row["delivery_id"]


def same_key(alert: Alert) -> str:
    return "|".join((alert.kind, alert.truck_id or "", alert.fence_id or ""))


def group_of(known: Known, channel_id: str, alert: Alert) -> str:
    values: dict[str, Any] = {
        "kind": alert.kind,
        "severity": alert.severity,
        "fence": alert.fence_id,
        "truck": alert.truck_id,
    }
    parts = [known.rule_id, channel_id, *(f"{each}={values[each]}" for each in sorted(set(known.rule.group_by)))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
