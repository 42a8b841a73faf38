"""A streaming replica of a temporary PostgreSQL server, made by its own programs in a folder of its own."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

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
