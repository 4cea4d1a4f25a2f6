"""Notifications: channels, rules, deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "channels",
        sa.Column("channel_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("target_hash", sa.String(length=64), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("open_until_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("changed_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("channel_id"),
    )
    op.create_table(
        "notify_rules",
        sa.Column("rule_id", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("changed_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("rule_id"),
    )
    op.create_table(
        "deliveries",
        sa.Column("delivery_id", sa.String(length=64), nullable=False),
        sa.Column("channel_id", sa.String(length=32), nullable=False),
        sa.Column("rule_id", sa.String(length=32), nullable=True),
        sa.Column("what", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_ms", sa.BigInteger(), nullable=False),
        sa.Column("after_id", sa.String(length=64), nullable=True),
        sa.Column("group_key", sa.String(length=64), nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.Column("delivered_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("delivery_id"),
    )
    op.create_index(
        op.f("ix_deliveries_channel_id_created_ms"), "deliveries", ["channel_id", "created_ms"], unique=False
    )
    op.create_index(op.f("ix_deliveries_created_ms"), "deliveries", ["created_ms"], unique=False)
    op.create_index(op.f("ix_deliveries_group_key_due_ms"), "deliveries", ["group_key", "due_ms"], unique=False)
    op.create_index(op.f("ix_deliveries_state_due_ms"), "deliveries", ["state", "due_ms"], unique=False)
    op.create_table(
        "delivery_alerts",
        sa.Column("delivery_id", sa.String(length=64), nullable=False),
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("delivery_id", "alert_id"),
    )
    op.create_index(op.f("ix_delivery_alerts_alert_id"), "delivery_alerts", ["alert_id"], unique=False)
    op.create_table(
        "told",
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.String(length=32), nullable=False),
        sa.Column("rule_id", sa.String(length=32), nullable=False),
        sa.Column("delivery_id", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("same_key", sa.Text(), nullable=False),
        sa.Column("planned_ms", sa.BigInteger(), nullable=False),
        sa.Column("repeat_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("alert_id", "channel_id"),
    )
    op.create_index(
        op.f("ix_told_channel_id_same_key_planned_ms"), "told", ["channel_id", "same_key", "planned_ms"], unique=False
    )
    op.create_index(op.f("ix_told_repeat_ms"), "told", ["repeat_ms"], unique=False)
    op.create_table(
        "seen_alerts",
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("seen_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("alert_id"),
    )
    op.create_index(op.f("ix_seen_alerts_kind_status"), "seen_alerts", ["kind", "status"], unique=False)
    op.create_index(op.f("ix_seen_alerts_seen_ms"), "seen_alerts", ["seen_ms"], unique=False)
    op.create_table(
        "notifier_offsets",
        sa.Column("topic", sa.String(length=249), nullable=False),
        sa.Column("topic_id", sa.String(length=64), nullable=False),
        sa.Column("partition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("next_offset", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("topic", "topic_id", "partition"),
    )


def downgrade() -> None:
    op.drop_table("notifier_offsets")
    op.drop_table("seen_alerts")
    op.drop_table("told")
    op.drop_table("delivery_alerts")
    op.drop_table("deliveries")
    op.drop_table("notify_rules")
    op.drop_table("channels")
