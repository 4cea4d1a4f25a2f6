"""The tables of notifications: channels, rules, deliveries, and what the planner remembers."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, String, Table, Text

from store.tables import METADATA

CHANNELS = Table(
    "channels",
    METADATA,
    Column("channel_id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    # Where it goes, without anything that is secret; the whole of it is sealed.
    Column("target", Text, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    # Equal for two channels that reach the same place.
    Column("target_hash", String(64), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("disabled_reason", Text),
    Column("failures", Integer, nullable=False),
    Column("open_until_ms", BigInteger),
    Column("last_error", Text),
    Column("changed_ms", BigInteger, nullable=False),
)

RULES = Table(
    "notify_rules",
    METADATA,
    Column("rule_id", String(32), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("value", Text, nullable=False),
    Column("changed_ms", BigInteger, nullable=False),
)

# One row is one notification to one channel; `due_ms` is its next try or, while it is being sent, the end of its lease.
DELIVERIES = Table(
    "deliveries",
    METADATA,
    Column("delivery_id", String(64), primary_key=True),
    Column("channel_id", String(32), nullable=False),
    Column("rule_id", String(32)),
    Column("what", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", Text),
    Column("attempts", Integer, nullable=False),
    Column("due_ms", BigInteger, nullable=False),
    # Its first try must have been answered before this one is sent.
    Column("after_id", String(64)),
    Column("group_key", String(64)),
    Column("created_ms", BigInteger, nullable=False),
    # When it was planned, or last sent again by a person: its tries are counted from here.
    Column("since_ms", BigInteger, nullable=False),
    Column("delivered_ms", BigInteger),
    Column("last_error", Text),
    Index(None, "channel_id", "state", "due_ms"),
    Index(None, "state", "after_id"),
    Index(None, "channel_id", "created_ms"),
    Index(None, "created_ms"),
    Index(None, "group_key", "due_ms"),
)

DELIVERY_ALERTS = Table(
    "delivery_alerts",
    METADATA,
    Column("delivery_id", String(64), primary_key=True),
    Column("alert_id", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("about", Text, nullable=False),
    Index(None, "alert_id"),
)

# Who was told of an alert, or would have been had it not been held back: they hear how it ends.
TOLD = Table(
    "told",
    METADATA,
    Column("alert_id", Text, primary_key=True),
    Column("channel_id", String(32), primary_key=True),
    Column("rule_id", String(32), nullable=False),
    Column("delivery_id", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("times", Integer, nullable=False),
    Column("same_key", Text, nullable=False),
    Column("planned_ms", BigInteger, nullable=False),
    Column("repeat_ms", BigInteger),
    Index(None, "channel_id", "same_key", "planned_ms"),
    Index(None, "repeat_ms"),
)

SEEN_ALERTS = Table(
    "seen_alerts",
    METADATA,
    Column("alert_id", Text, primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("status", String(16), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("seen_ms", BigInteger, nullable=False),
    Index(None, "kind", "status"),
    Index(None, "seen_ms"),
)

NOTIFIER_OFFSETS = Table(
    "notifier_offsets",
    METADATA,
    Column("topic", String(249), primary_key=True),
    Column("topic_id", String(64), primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("next_offset", BigInteger, nullable=False),
)
