"""What is due is found for each channel apart: a channel with many that wait makes no other slow."""

from alembic import op

revision = "0003"
down_revision = "0002"
BY_CHANNEL = ["channel_id", "state", "due_ms"]
BY_STATE = ["state", "after_id"]


def upgrade() -> None:
    op.create_index(op.f("ix_deliveries_channel_id_state_due_ms"), "deliveries", BY_CHANNEL, unique=False)
    op.create_index(op.f("ix_deliveries_state_after_id"), "deliveries", BY_STATE, unique=False)
    op.drop_index(op.f("ix_deliveries_state_due_ms"), table_name="deliveries")


def downgrade() -> None:
    op.create_index(op.f("ix_deliveries_state_due_ms"), "deliveries", ["state", "due_ms"], unique=False)
    op.drop_index(op.f("ix_deliveries_state_after_id"), table_name="deliveries")
    op.drop_index(op.f("ix_deliveries_channel_id_state_due_ms"), table_name="deliveries")
