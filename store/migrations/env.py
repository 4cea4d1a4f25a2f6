"""Alembic's entry: runs the migrations on the connection that the store hands over."""

from alembic import context

from store import notify_tables  # noqa: F401 (its tables are part of METADATA)
from store.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
