"""Where news goes: a delivery of its own, or a place in a group that still waits; what waits may change."""

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from schemas.models import Alert
from store import planning
from store.deliveries import delivery_id, new_row
from store.planning import INHIBITED, Book, Draft, Values
from store.rules import Known


@dataclass(frozen=True)
class Placing:
    """For one batch: what it reads is in `book`, what it makes is in `draft`, which is written at the end."""

    connection: Connection
    book: Book
    draft: Draft
    at_ms: int

    def waits(self, row: Values) -> bool:
        return bool(row["state"] == "pending" and row["attempts"] == 0 and row["due_ms"] > self.at_ms)

    def change_waiting(self, alert: Alert, about: Values, row: Values) -> None:
        """It was not told yet: what is over is told as such, what was wrong is not told at all."""
        self.draft.write(self.connection)
        name = row["delivery_id"]
        if alert.status != "retracted" and row["reason"] != INHIBITED:
            self.draft.put_item(planning.as_item(name, alert.alert_id, alert.model_dump_json(), about))
            return
        reason = f"{alert.status} before it was told"
        if len(planning.items_of(self.connection, name)) == 1:
            row["state"] = "suppressed"
            planning.set_delivery(self.connection, name, state="suppressed", reason=reason)
            return
        planning.drop_item(self.connection, name, alert.alert_id)
        made = delivery_id(alert.alert_id, alert.status, name)
        self._put(
            new_row(made, row["channel_id"], alert.status, self.at_ms, state="suppressed", reason=reason), alert, about
        )

    def add(  # noqa: PLR0913 (each is given by name)
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
        row = new_row(made, channel_id, alert.status, self.at_ms, state=state, reason=reason, after_id=after_id)
        row |= {"rule_id": told["rule_id"], "group_key": group_key, "due_ms": due_ms, "since_ms": due_ms}
        if group_key is not None:
            self.book.groups[group_key] = row
        told["delivery_id"] = made
        self._put(row, alert, about)

    def _put(self, row: Values, alert: Alert, about: Values) -> None:
        self.book.states[row["delivery_id"]] = row
        item = planning.as_item(row["delivery_id"], alert.alert_id, alert.model_dump_json(), about)
        self.draft.deliveries[row["delivery_id"]] = row
        self.draft.put_item(item)

    def _join(self, group_key: str, alert: Alert, about: Values, told: Values) -> bool:
        if group_key not in self.book.groups:
            self.book.groups[group_key] = planning.newest_of_group(self.connection, group_key)
        newest = self.book.groups[group_key]
        if newest is None or not self.waits(newest):
            return False
        told["delivery_id"] = newest["delivery_id"]
        self.book.states[newest["delivery_id"]] = newest
        item = planning.as_item(newest["delivery_id"], alert.alert_id, alert.model_dump_json(), about)
        self.draft.put_item(item)
        return True

    def _due_ms(self, known: Known | None, group_key: str | None) -> int:
        if known is None or group_key is None:
            return self.at_ms
        due_ms = self.at_ms + known.rule.group_wait_s * 1000
        last = self.book.groups.get(group_key)
        return due_ms if last is None else max(due_ms, last["since_ms"] + known.rule.group_interval_s * 1000)

    def again(self, told: Values, known: Known, item: Values, reason: str | None) -> None:
        """Alerts of a group that are told again in the same moment are one notification too."""
        alert, channel_id = Alert.model_validate_json(item["value"]), told["channel_id"]
        told["times"] += 1
        group_key = group_of(known, channel_id, alert) if known.rule.groups and reason is None else None
        row = self.book.groups.get(group_key or "")
        if row is None:
            made = delivery_id(alert.alert_id, "repeat", told["times"], channel_id)
            row = new_row(made, channel_id, "repeat", self.at_ms, rule_id=told["rule_id"], reason=reason)
            row["state"] = "suppressed" if reason else "pending"
            if group_key is not None:
                self.book.groups[group_key] = row
        self.draft.deliveries[row["delivery_id"]] = row
        self.draft.put_item(item | {"delivery_id": row["delivery_id"]})
        if reason is None:
            told["delivery_id"] = row["delivery_id"]


def group_of(known: Known, channel_id: str, alert: Alert) -> str:
    values: dict[str, Any] = {
        "kind": alert.kind,
        "severity": alert.severity,
        "fence": alert.fence_id,
        "truck": alert.truck_id,
    }
    parts = [known.rule_id, channel_id, *(f"{each}={values[each]}" for each in sorted(set(known.rule.group_by)))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
