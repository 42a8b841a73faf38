"""Dumps the hub's tables from PostgreSQL by pg_dump, and loads such a dump in one transaction.

pg_restore writes the dump as SQL, and this module sends it on a connection of its own: so what a restore has
to do beside it is in the same transaction, and a process that is killed leaves the old state.
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError
from django.db import connection, transaction

from ctxhub.management.backups.facts import Facts, gather
from ctxhub.management.backups.other_database import connected_to
from ctxhub.management.backups.postgresql_programs import find_program, login, server_version

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
_CHUNK = 1024 * 1024
_COPY_BEGINS, _COPY_ENDS = (b"COPY ", b" FROM stdin;\n"), b"\\.\n"
# A program of version 17 or newer sets it, and older servers do not know it; it is off anyway.
_UNKNOWN_TO_OLDER = b"SET transaction_timeout"


def dump(target: Path, look: Callable[[], None] | None = None) -> tuple[Facts, str]:
    """Write the tables as they are at one moment; returns what they are, and their schema.

    `look` is called while Django's connection of this thread sees that moment, too. Raises CommandError if
    pg_dump is missing or fails.
    """
    program = find_program("pg_dump", server_version())
    with snapshot() as server:
        [(name, schema)] = server.execute("SELECT pg_export_snapshot(), current_schema()").fetchall()
        where, environment = login(connection.get_connection_params())
        command = [
            program,
            *("--format=custom", "--no-owner", "--no-privileges", "--no-password"),
            *(f"--snapshot={name}", f"--schema={schema}", f"--dbname={where}"),
        ]
        with subprocess.Popen(  # noqa: S603
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            _keep_output(process, target)
        if look:
            with _seeing(name):
                look()
        return gather(lambda statement: server.execute(statement).fetchall(), TABLES), schema


def _keep_output(process: "subprocess.Popen[bytes]", target: Path) -> None:
    """Written here, so that a full disk is told by its name."""
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        with target.open("wb") as file:
            while chunk := process.stdout.read(_CHUNK):
                file.write(chunk)
    except BaseException:
        process.kill()
        raise
    said = process.stderr.read().decode(errors="replace")
    if process.wait():
        raise CommandError(f"pg_dump failed: {_first_line(said)}")


@contextmanager
def snapshot() -> Iterator[Any]:
    """A connection whose transaction sees one moment, however long it takes."""
    import psycopg

    with connection.wrap_database_errors, psycopg.connect(**connection.get_connection_params()) as server:
        server.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        lift_limits(server)
        yield server


@contextmanager
def _seeing(name: str) -> Iterator[None]:
    """Let this thread see an exported snapshot on a connection of its own, and write nothing."""
    with connected_to({}):
        connection.ensure_connection()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute("SET TRANSACTION SNAPSHOT %s", [name])
            lift_limits(cursor)
            yield


def lift_limits(server: Any) -> None:
    """Let statements of the open transaction take as long as they need."""
    for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
        server.execute(f"SET LOCAL {limit} = 0")


# -- Loading ---------------------------------------------------------------------------------------


def load(dumped: Path, schema: str, server: Any) -> None:
    """Make the tables of a dump in the open transaction of a connection.

    Raises psycopg.Error, and CommandError if pg_restore is missing or cannot read the dump.
    """
    program = find_program("pg_restore", server.info.server_version // 10_000)
    command = [program, "--no-owner", "--no-privileges", f"--schema={schema}", "--file=-", str(dumped)]
    [(search_path,)] = server.execute("SELECT current_setting('search_path')").fetchall()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            _send(process.stdout, server)
            said = process.stderr.read().decode(errors="replace")
        except BaseException:
            process.kill()
            raise
        if process.wait():
            raise CommandError(f"pg_restore failed, and nothing was changed: {_first_line(said)}")
    # The script has set its own.
    server.execute("SELECT set_config('search_path', %s, false)", [search_path])
    lift_limits(server)


def _send(script: IO[bytes], server: Any) -> None:
    """Send SQL as pg_restore writes it: statements, and rows between `COPY ... FROM stdin;` and `\\.`.

    Lines for psql alone (`\\restrict`) are left out: nothing here obeys them.
    """
    statements: list[bytes] = []
    for line in script:
        if line.startswith(_COPY_BEGINS[0]) and line.endswith(_COPY_BEGINS[1]):
            _execute(statements, server)
            with server.cursor().copy(line.rstrip().rstrip(b";")) as copy:
                for chunk in _rows(script):
                    copy.write(chunk)
        elif not line.startswith((b"\\", _UNKNOWN_TO_OLDER)):
            statements.append(line)
    _execute(statements, server)


def _rows(script: IO[bytes]) -> Iterator[bytes]:
    lines: list[bytes] = []
    size = 0
    for line in script:
        if line == _COPY_ENDS:
            break
        lines.append(line)
        size += len(line)
        if size > _CHUNK:
            yield b"".join(lines)
            lines, size = [], 0
    yield b"".join(lines)


def _execute(statements: list[bytes], server: Any) -> None:
    if any(line.strip() and not line.startswith(b"--") for line in statements):
        server.execute(b"".join(statements), prepare=False)
    statements.clear()


def _first_line(said: str) -> str:
    return next((line for line in said.splitlines() if line.strip()), "it says nothing").strip()
