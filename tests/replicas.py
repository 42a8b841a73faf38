"""A streaming replica of a temporary PostgreSQL server, made by its own programs in a folder of its own."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.postgres import NO_CHANGES, PORT, TEMPORARY, Server


class Replica(Server):
    """Follows `primary`, and answers what only reads."""

    def __init__(self, primary: Server, home: Path, settings: Mapping[str, str] = NO_CHANGES) -> None:
        super().__init__(primary.programs, home, {**primary.settings, **settings})
        self.programs = primary.programs  # They may have been copied to where its user can read them.
        self._primary = primary

    def start(self) -> None:
        source = ("--host", str(self._primary.home), "--port", str(PORT), "--username", "postgres")
        self._run("pg_basebackup", *source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        self.start_again()

    def stop_following(self) -> None:
        """It goes on answering, ever older."""
        self._follow("")

    def go_on_following(self) -> None:
        self._follow(f"host={self._primary.home} port={PORT} user=postgres")

    def promote(self) -> None:
        """Make it a primary of its own."""
        self._run("pg_ctl", "promote", "--wait")

    def _follow(self, primary: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET primary_conninfo = '{primary}'".encode())
            connection.execute("SELECT pg_reload_conf()")


@contextmanager
def replica_of(primary: Server, settings: Mapping[str, str] = NO_CHANGES) -> Iterator[Replica]:
    home = Path(tempfile.mkdtemp(prefix="ctxhub-replica-", dir=TEMPORARY))
    try:
        replica = Replica(primary, home, settings)
        try:
            replica.start()
            yield replica
        finally:
            replica.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)
