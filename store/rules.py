"""Rules: which alerts go to which channels, how calmly."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt
from sqlalchemy import Connection, delete, insert, select, update

from schemas.models import AlertKind, Schedule, Severity
from store import audit
from store.engine import Store
from store.notify_tables import RULES

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1F]*$")]
Names = Annotated[list[Name], Field(max_length=200)]
DAY_S = 24 * 60 * 60


def _with_zone(schedule: Schedule) -> Schedule:
    if schedule.zone not in available_timezones():
        raise ValueError(f"{schedule.zone} is no IANA time zone")
    return schedule


class Rule(BaseModel):
    """An empty list asks for nothing in particular. Rules are looked at in the order of `position`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    position: Annotated[StrictInt, Field(ge=0, le=10_000)] = 100
    enabled: StrictBool = True
    kinds: Annotated[list[AlertKind], Field(max_length=20)] = []
    severities: Annotated[list[Severity], Field(max_length=3)] = []
    fence_ids: Names = []
    truck_ids: Names = []
    tags: Annotated[Names, Field(description="One of the fence's tags.")] = []
    hours: Annotated[Schedule, AfterValidator(_with_zone)] | None = Field(
        default=None, description="Only at these hours, by the clock of a zone; null: always."
    )
    catch_all: StrictBool = Field(default=False, description="Counts only where no other rule does.")
    last: StrictBool = Field(default=False, description="No rule after it is looked at.")
    channel_ids: Names
    group_by: Annotated[list[Literal["kind", "severity", "fence", "truck"]], Field(max_length=4)] = []
    group_wait_s: Annotated[StrictInt, Field(ge=0, le=3600)] = Field(
        default=0, description="Collect so long before the first notification of a group; 0: each alert by itself."
    )
    group_interval_s: Annotated[StrictInt, Field(ge=0, le=DAY_S)] = Field(
        default=0, description="Between two notifications of a group."
    )
    repeat_s: Annotated[StrictInt, Field(ge=60, le=30 * DAY_S)] | None = Field(
        default=None, description="Tell again while it is open and nobody has acknowledged it."
    )
    cooldown_s: Annotated[StrictInt, Field(ge=0, le=30 * DAY_S)] = Field(
        default=0, description="After one of the same kind, truck and fence, others are recorded and not sent."
    )

    @property
    def groups(self) -> bool:
        return bool(self.group_wait_s or self.group_interval_s)


@dataclass(frozen=True)
class Known:
    rule_id: str
    rule: Rule


def add(store: Store, rule: Rule, *, who: str, at_ms: int) -> Known:
    rule_id = secrets.token_hex(6)
    row = {"rule_id": rule_id, "position": rule.position, "value": rule.model_dump_json(), "changed_ms": at_ms}
    with store.write() as connection:
        connection.execute(insert(RULES).values(row))
        audit.note(connection, who=who, action="rule_added", subject=rule_id, at_ms=at_ms, name=rule.name)
    return Known(rule_id, rule)


def change(store: Store, rule_id: str, rule: Rule, *, who: str, at_ms: int) -> Known | None:
    row = {"position": rule.position, "value": rule.model_dump_json(), "changed_ms": at_ms}
    with store.write() as connection:
        if connection.execute(update(RULES).where(RULES.c.rule_id == rule_id).values(row)).rowcount == 0:
            return None
        audit.note(connection, who=who, action="rule_changed", subject=rule_id, at_ms=at_ms, name=rule.name)
    return Known(rule_id, rule)


def remove(store: Store, rule_id: str, *, who: str, at_ms: int) -> bool:
    with store.write() as connection:
        if connection.execute(delete(RULES).where(RULES.c.rule_id == rule_id)).rowcount == 0:
            return False
        audit.note(connection, who=who, action="rule_removed", subject=rule_id, at_ms=at_ms)
        return True


def known(store: Store) -> Sequence[Known]:
    with store.read() as connection:
        return read(connection)


def read(connection: Connection) -> Sequence[Known]:
    """In the order in which they are looked at."""
    rows = connection.execute(select(RULES).order_by(RULES.c.position, RULES.c.rule_id))
    return [Known(row.rule_id, Rule.model_validate_json(row.value)) for row in rows]
