"""A real PostgreSQL for tests: the one that POSTGRES_TEST_URL names, else one of our own by the machine's packages."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from tests.eventually import eventually

FOLDERS = ("/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt")


class Postgres:
    """A server; every test gets a database of its own."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url).set(drivername="postgresql+psycopg")

    def new_database(self) -> str:
        name = f"test_{uuid4().hex}"
        engine = create_engine(self._url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self._url.set(database=name).render_as_string(hide_password=False)

    @contextmanager
    def away(self, url: str) -> Iterator[None]:
        """Who is connected to the database is sent away, and nobody can connect."""
        name = make_url(url).database
        engine = create_engine(self._url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
            connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"))
            try:
                yield
            finally:
                connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true"))
        engine.dispose()

    def answers(self) -> bool:
        engine = create_engine(self._url)
        try:
            with engine.connect() as connection:
                return bool(connection.scalar(text("SELECT 1")) == 1)
        finally:
            engine.dispose()


def programs() -> Path | None:
    """The folder with `initdb` and `postgres`, of the newest version there is."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = [path.parent for folder in FOLDERS for path in Path(folder).glob("*/bin/initdb")]
    return max(folders, key=str, default=None)


def user() -> str | None:
    """PostgreSQL refuses to run as root; None: as ourselves."""
    if os.getuid() != 0:
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@contextmanager
def running(folder_of_programs: Path) -> Iterator[Postgres]:
    """Reached by a socket in its folder alone, so that no port is taken and no password needed."""
    folder = Path(tempfile.mkdtemp(prefix="trucks-pg-"))
    if owner := user():
        shutil.chown(folder, owner)
    data = folder / "data"
    initdb: list[str | Path] = [folder_of_programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync"]
    subprocess.run(initdb, check=True, user=user(), stdout=subprocess.DEVNULL, cwd=folder)
    command: list[str | Path] = [folder_of_programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses="]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, user=user(), stdout=log, stderr=log, cwd=folder)
    try:
        server = Postgres(f"postgresql://postgres@/postgres?host={folder}")
        eventually(server.answers, timeout_s=60)
        yield server
    finally:
        # The fast way: clients that are still connected are sent away.
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)
