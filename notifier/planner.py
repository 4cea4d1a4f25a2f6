"""From alerts to deliveries: who is told, now or in a group; who is not, and why. One transaction with the offsets."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from notifier.placing import Placing
from notifier.routing import route
from schemas.models import Alert, Fence
from store import planning
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
        self._placing: Placing
        self._feed_is_back = False
        self._draft = planning.Draft()

    def plan(self, alerts: Sequence[Alert]) -> None:
        fence_ids = {alert.fence_id for alert in alerts if alert.fence_id is not None}
        self._read({each.alert_id for each in alerts}, fence_ids)
        # An outage of the feed is looked at before the trucks that it makes silent.
        for alert in sorted(alerts, key=lambda each: each.kind != "feed_silent"):
            self._plan_one(alert)
        self._draft.write(self._connection)
        if self._feed_is_back and not self._book.silent_feeds:
            planning.wake_inhibited(self._connection, self._at_ms + self._limits.wake_ms)

    def _read(self, alert_ids: Collection[str], fence_ids: Collection[str]) -> None:
        self._book = planning.read_book(self._connection, alert_ids, fence_ids, self._at_ms)
        self._placing = Placing(self._connection, self._book, self._draft, self._at_ms)

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
            self._placing.add(alert, about, told, state=state, reason=reason, known=known)
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
        about = self._about(alert, self._book.fences.get(alert.fence_id or ""))
        if before is not None and self._placing.waits(before):
            self._placing.change_waiting(alert, about, before)
        elif state != "suppressed":
            reason = UNTOLD if state == "dead" else self._held(alert, told["channel_id"])
            told["times"] += 1
            after_id = told["delivery_id"] if state in ("pending", "sending") else None
            verdict = "suppressed" if reason else "pending"
            known = self._rule(told)
            self._placing.add(alert, about, told, state=verdict, reason=reason, known=known, after_id=after_id)
        self._draft.put_told(told)

    def _rule(self, told: Values) -> Known | None:
        return next((each for each in self._book.rules if each.rule_id == told["rule_id"]), None)

    def repeat(self) -> int:
        """Tell again of what is still open."""
        due = planning.due_repeats(self._connection, self._at_ms)
        self._read([each["alert_id"] for each in due], ())
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
                reason = self._held(Alert.model_validate_json(item["value"]), told["channel_id"])
                self._placing.again(told, known, item, reason)
        self._draft.put_told(told)


def same_key(alert: Alert) -> str:
    return "|".join((alert.kind, alert.truck_id or "", alert.fence_id or ""))
