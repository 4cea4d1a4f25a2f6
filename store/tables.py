"""The tables. Moments are epoch milliseconds; `value` is a record's JSON as its topic carries it."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData(
    naming_convention={"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_%(column_0_N_name)s"}
)
# SQLite counts up only a primary key of its own integer type.
Counted = BigInteger().with_variant(Integer(), "sqlite")

META = Table("meta", METADATA, Column("name", String(64), primary_key=True), Column("value", Text, nullable=False))

KAFKA_OFFSETS = Table(
    "kafka_offsets",
    METADATA,
    Column("topic", String(249), primary_key=True),
    # A topic that was deleted and made again, or one of another cluster, has another id.
    Column("topic_id", String(64), primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("next_offset", BigInteger, nullable=False),
)

ALERTS = Table(
    "alerts",
    METADATA,
    Column("alert_id", Text, primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("status", String(16), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("severity", String(16), nullable=False),
    Column("severity_rank", SmallInteger, nullable=False),
    Column("truck_id", Text),
    Column("fence_id", Text),
    Column("start_ms", BigInteger, nullable=False),
    Column("value", Text, nullable=False),
    Column("acknowledged_by", Text),
    Column("acknowledged_ms", BigInteger),
    Column("note", Text),
    Column("assignee", Text),
    Index(None, "start_ms", "alert_id"),
    Index(None, "truck_id", "start_ms"),
    Index(None, "fence_id", "start_ms"),
    Index(None, "status", "start_ms"),
)

# Every revision of every alert and every acknowledgement, in the order in which they were stored.
ALERT_CHANGES = Table(
    "alert_changes",
    METADATA,
    Column("seq", Counted, primary_key=True, autoincrement=True),
    Column("alert_id", Text, nullable=False),
    Column("change", String(16), nullable=False),
    Column("revision", BigInteger),
    Column("value", Text, nullable=False),
    Column("who", Text),
    Column("at_ms", BigInteger, nullable=False),
    UniqueConstraint("alert_id", "revision"),
    sqlite_autoincrement=True,
)

VISITS = Table(
    "visits",
    METADATA,
    Column("visit_id", Text, primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("status", String(16), nullable=False),
    Column("truck_id", Text, nullable=False),
    Column("fence_id", Text, nullable=False),
    Column("enter_ms", BigInteger, nullable=False),
    Column("value", Text, nullable=False),
    Index(None, "enter_ms", "visit_id"),
    Index(None, "truck_id", "enter_ms"),
    Index(None, "fence_id", "enter_ms"),
)

FENCES = Table(
    "fences",
    METADATA,
    Column("fence_id", String(64), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("is_current", Boolean, nullable=False),
    Column("deleted", Boolean, nullable=False),
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Index(None, "is_current", "fence_id"),
)

FENCE_OUTBOX = Table(
    "fence_outbox",
    METADATA,
    Column("seq", Counted, primary_key=True, autoincrement=True),
    Column("fence_id", String(64), nullable=False),
    Column("value", LargeBinary, nullable=False),
    Column("published_ms", BigInteger),
    Index(None, "published_ms", "seq"),
    sqlite_autoincrement=True,
)

AUDIT = Table(
    "audit",
    METADATA,
    Column("audit_id", Counted, primary_key=True, autoincrement=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", Text, nullable=False),
    Column("action", String(64), nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    sqlite_autoincrement=True,
)

API_KEYS = Table(
    "api_keys",
    METADATA,
    Column("key_id", String(32), primary_key=True),
    Column("secret_sha256", String(64), nullable=False),
    Column("name", Text, nullable=False),
    Column("role", String(16), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires_ms", BigInteger),
    Column("revoked_ms", BigInteger),
)

SILENCES = Table(
    "silences",
    METADATA,
    Column("silence_id", String(32), primary_key=True),
    Column("truck_id", Text),
    Column("fence_id", Text),
    Column("kind", String(32)),
    Column("why", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("until_ms", BigInteger, nullable=False),
    Index(None, "until_ms"),
)
