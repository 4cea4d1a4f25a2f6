"""What must survive a restart, in SQLite or PostgreSQL: shared by the API and the notifier."""
