"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "alert_changes",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("change", sa.String(length=16), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=True),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("alert_id", "revision", name=op.f("uq_alert_changes_alert_id_revision")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "alerts",
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("severity", sa.String(length=16), nullable=False),
        sa.Column("severity_rank", sa.SmallInteger(), nullable=False),
        sa.Column("truck_id", sa.Text(), nullable=True),
        sa.Column("fence_id", sa.Text(), nullable=True),
        sa.Column("start_ms", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("acknowledged_by", sa.Text(), nullable=True),
        sa.Column("acknowledged_ms", sa.BigInteger(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("assignee", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("alert_id"),
    )
    op.create_index(op.f("ix_alerts_fence_id_start_ms"), "alerts", ["fence_id", "start_ms"], unique=False)
    op.create_index(op.f("ix_alerts_start_ms_alert_id"), "alerts", ["start_ms", "alert_id"], unique=False)
    op.create_index(op.f("ix_alerts_status_start_ms"), "alerts", ["status", "start_ms"], unique=False)
    op.create_index(op.f("ix_alerts_truck_id_start_ms"), "alerts", ["truck_id", "start_ms"], unique=False)
    op.create_table(
        "api_keys",
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("secret_sha256", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=True),
        sa.Column("revoked_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key_id"),
    )
    op.create_table(
        "audit",
        sa.Column("audit_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("audit_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "fence_outbox",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("fence_id", sa.String(length=64), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.Column("published_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_fence_outbox_published_ms_seq"), "fence_outbox", ["published_ms", "seq"], unique=False)
    op.create_table(
        "fences",
        sa.Column("fence_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("fence_id", "version"),
    )
    op.create_index(op.f("ix_fences_is_current_fence_id"), "fences", ["is_current", "fence_id"], unique=False)
    op.create_table(
        "kafka_offsets",
        sa.Column("topic", sa.String(length=249), nullable=False),
        sa.Column("topic_id", sa.String(length=64), nullable=False),
        sa.Column("partition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("next_offset", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("topic", "topic_id", "partition"),
    )
    op.create_table(
        "meta",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "silences",
        sa.Column("silence_id", sa.String(length=32), nullable=False),
        sa.Column("truck_id", sa.Text(), nullable=True),
        sa.Column("fence_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.String(length=32), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("until_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("silence_id"),
    )
    op.create_index(op.f("ix_silences_until_ms"), "silences", ["until_ms"], unique=False)
    op.create_table(
        "visits",
        sa.Column("visit_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("truck_id", sa.Text(), nullable=False),
        sa.Column("fence_id", sa.Text(), nullable=False),
        sa.Column("enter_ms", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("visit_id"),
    )
    op.create_index(op.f("ix_visits_enter_ms_visit_id"), "visits", ["enter_ms", "visit_id"], unique=False)
    op.create_index(op.f("ix_visits_fence_id_enter_ms"), "visits", ["fence_id", "enter_ms"], unique=False)
    op.create_index(op.f("ix_visits_truck_id_enter_ms"), "visits", ["truck_id", "enter_ms"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_visits_truck_id_enter_ms"), table_name="visits")
    op.drop_index(op.f("ix_visits_fence_id_enter_ms"), table_name="visits")
    op.drop_index(op.f("ix_visits_enter_ms_visit_id"), table_name="visits")
    op.drop_table("visits")
    op.drop_index(op.f("ix_silences_until_ms"), table_name="silences")
    op.drop_table("silences")
    op.drop_table("meta")
    op.drop_table("kafka_offsets")
    op.drop_index(op.f("ix_fences_is_current_fence_id"), table_name="fences")
    op.drop_table("fences")
    op.drop_index(op.f("ix_fence_outbox_published_ms_seq"), table_name="fence_outbox")
    op.drop_table("fence_outbox")
    op.drop_table("audit")
    op.drop_table("api_keys")
    op.drop_index(op.f("ix_alerts_truck_id_start_ms"), table_name="alerts")
    op.drop_index(op.f("ix_alerts_status_start_ms"), table_name="alerts")
    op.drop_index(op.f("ix_alerts_start_ms_alert_id"), table_name="alerts")
    op.drop_index(op.f("ix_alerts_fence_id_start_ms"), table_name="alerts")
    op.drop_table("alerts")
    op.drop_table("alert_changes")
