"""Every topic of the system: its name, size, lifetime and key."""

from dataclasses import dataclass

HOUR_MS = 60 * 60 * 1000
DAY_MS = 24 * HOUR_MS


@dataclass(frozen=True)
class Topic:
    """How a topic is made. `retention_ms` None: kept for ever; `compacted`: the newest record per key is kept."""

    name: str
    key: str
    partitions: int = 10
    compacted: bool = False
    retention_ms: int | None = None

    @property
    def settings(self) -> dict[str, str]:
        policies = ["compact"] if self.compacted else []
        if self.retention_ms is not None:
            policies.append("delete")
        return {
            "cleanup.policy": ",".join(policies),
            "retention.ms": str(-1 if self.retention_ms is None else self.retention_ms),
        }

    @property
    def tuning(self) -> dict[str, str]:
        """What may change while it is in use.

        Kafka compacts closed segments alone, and by default closes one in a week: until then whoever wants the newest
        record of each key has to read all of them.
        """
        if not self.compacted:
            return {}
        return {"segment.ms": str(HOUR_MS), "segment.bytes": str(16 * 1024**2), "min.cleanable.dirty.ratio": "0.1"}


TRUCKS_GPS = Topic("trucks_gps", key="truck_id", retention_ms=7 * DAY_MS)
TRUCKS = Topic("trucks", key="truck_id", partitions=1, compacted=True)
TRUCKS_STATE = Topic("trucks_state", key="truck_id", compacted=True)
TRUCKS_JUDGED = Topic("trucks_judged", key="shard/<number>", retention_ms=DAY_MS)
TRUCKS_WINDOWS = Topic(
    "trucks_windows", key="scope/truck_id/length_s/window_start", compacted=True, retention_ms=DAY_MS
)
TRUCKS_ALERTS = Topic("trucks_alerts", key="truck_id", retention_ms=30 * DAY_MS)
TRUCKS_VISITS = Topic("trucks_visits", key="truck_id", retention_ms=30 * DAY_MS)
TRUCKS_REJECTS = Topic("trucks_rejects", key="truck_id", partitions=1, retention_ms=7 * DAY_MS)
FENCES = Topic("fences", key="fence_id", partitions=1, compacted=True)
CLOCK = Topic("clock", key="none", partitions=1, retention_ms=HOUR_MS)
PIPELINE = Topic("pipeline", key="counts/<shard> or query/<name>", partitions=1, compacted=True)

TOPICS = (
    TRUCKS_GPS,
    TRUCKS,
    TRUCKS_STATE,
    TRUCKS_JUDGED,
    TRUCKS_WINDOWS,
    TRUCKS_ALERTS,
    TRUCKS_VISITS,
    TRUCKS_REJECTS,
    FENCES,
    CLOCK,
    PIPELINE,
)
