"""What must survive a restart: alerts, visits, fences, keys, silences, in SQLite or PostgreSQL."""
