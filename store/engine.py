"""Opens the store: SQLite in WAL mode or PostgreSQL, brought to the newest version of its tables."""

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, Table, create_engine, event, insert, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from store.tables import META

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_MS = 30_000
CONNECT_S = "5"
WHICH_URLS = "The store's URL begins with sqlite:/// (a file) or postgresql://."
# Any fixed numbers; PostgreSQL's advisory locks are named by them.
MIGRATION_LOCK, INTAKE_LOCK, OUTBOX_LOCK, RETENTION_LOCK, PLANNING_LOCK = range(7_233_001, 7_233_006)
Row = Mapping[str, Any]


class StoreError(Exception):
    """Why the store cannot be used, as a sentence for the operator."""


class Store:
    """Hands out connections: `read()` and `write()` are one transaction each. Safe to use from several threads."""

    def __init__(
        self,
        url: str,
        observe: Callable[[str, float], None] = lambda _what, _seconds: None,
        *,
        process: str = "dashboard_api",
    ) -> None:
        self._observe = observe
        self._lock_file: TextIO | None = None
        self.engine = make_engine(url)
        try:
            self._lock_file = lock_file(self.engine, process)
            migrate(self.engine)
            self.store_id = self._identity()
        except SQLAlchemyError as error:
            self.close()
            shown = self.engine.url.render_as_string(hide_password=True)
            raise StoreError(f"The store at {shown} cannot be opened: {str(error).splitlines()[0]}") from error

    @property
    def is_postgresql(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        began = time.perf_counter()
        with self.engine.connect() as connection, connection.begin():
            yield connection
        self._observe("read", time.perf_counter() - began)

    @contextmanager
    def write(self, alone: int | None = None) -> Iterator[Connection]:
        """Committed at the end of the block; on an exception nothing stays. `alone`: a lock that nobody else holds."""
        began = time.perf_counter()
        with self.engine.connect().execution_options(write=True) as connection, connection.begin():
            if alone is not None:
                lock(connection, alone)
            yield connection
        self._observe("write", time.perf_counter() - began)

    def close(self) -> None:
        self.engine.dispose()
        if self._lock_file is not None:
            self._lock_file.close()

    def _identity(self) -> str:
        """A random name, given once: what was counted in another store means nothing here."""
        with self.write() as connection:
            upsert(connection, META, [{"name": "store_id", "value": secrets.token_hex(4)}], ["name"])
            return str(connection.scalar(select(META.c.value).where(META.c.name == "store_id")))


def make_engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreError(WHICH_URLS) from error
    if parsed.get_backend_name() == "postgresql":
        # Without a limit, a host that swallows packets holds every thread that asks for a connection.
        if "connect_timeout" not in parsed.query:
            parsed = parsed.update_query_dict({"connect_timeout": CONNECT_S})
        return create_engine(parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=10)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        raise StoreError(WHICH_URLS)
    make_private(Path(parsed.database))
    engine = create_engine(parsed, pool_size=10)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def make_private(file: Path) -> None:
    """Where everybody has been is nobody else's business. SQLite's other files follow this one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(file, os.O_CREAT | os.O_RDONLY, 0o600))


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # We begin transactions ourselves: the driver would do so late, and a reader could not become a writer.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={BUSY_MS}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def lock_file(engine: Engine, process: str) -> TextIO | None:
    """SQLite is for one process of a kind: two APIs would mix up the outbox. PostgreSQL has locks for that."""
    if engine.dialect.name != "sqlite":
        return None
    opened = Path(f"{engine.url.database}.{process}.lock").open("w")  # noqa: SIM115 (held as long as the store)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        opened.close()
        what = f"Another {process} uses the store {engine.url.database}; stop it, or name another store."
        raise StoreError(what) from error
    return opened


def migrate(engine: Engine) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        lock(connection, MIGRATION_LOCK)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def lock(connection: Connection, number: int) -> None:
    """Until the end of the transaction nobody else holds this lock; SQLite's writers are one at a time anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})


def try_lock(connection: Connection, number: int) -> bool:
    if connection.dialect.name != "postgresql":
        return True
    return bool(connection.scalar(text("SELECT pg_try_advisory_xact_lock(:number)"), {"number": number}))


def upsert(  # noqa: PLR0913 (the last two are given by name)
    connection: Connection,
    table: Table,
    rows: Sequence[Row],
    keys: Sequence[str],
    newest_by: str | None = None,
    *,
    replace: bool = False,
) -> None:
    """Insert; where the keys exist already, keep what is there, or replace it: always, or if `newest_by` is higher."""
    if not rows:
        return
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table)
    if newest_by is None and not replace:
        connection.execute(statement.on_conflict_do_nothing(index_elements=keys), list(rows))
        return
    changed = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    newer = statement.excluded[newest_by] > table.c[newest_by] if newest_by is not None else None
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed, where=newer), list(rows))


def insert_rows(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    if rows:
        connection.execute(insert(table), list(rows))
