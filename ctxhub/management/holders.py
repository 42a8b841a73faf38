"""Names the processes that have the database open, as far as they can be seen from here."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from django.db import connection

PROCESSES = Path("/proc")
LONGEST_COMMAND = 80
_CONNECTIONS = """SELECT DISTINCT application_name, host(client_addr), min(pid) OVER (
        PARTITION BY application_name, client_addr)
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend'
      AND pid NOT IN (pg_backend_pid(), %s)
      AND (application_name IN ('', current_setting('application_name')) OR application_name LIKE 'ctxhub%%')
    ORDER BY 1, 2"""


def find_holders(*, own_backend: int = 0) -> list[str]:
    """Processes other than this one, as `process 42 (manage.py serve)`; on SQLite they are seen on Linux.

    On PostgreSQL what names itself otherwise (psql, a monitor) is no hub; older versions had no name.
    `own_backend`: the server's process of a further connection of this process.
    """
    if connection.vendor == "postgresql":
        return list(_connected(own_backend))
    return list(_with_open_file(Path(connection.settings_dict["NAME"])))


def _connected(own_backend: int) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(_CONNECTIONS, [own_backend])
        for name, address, server_process in cursor.fetchall():
            program = name or "a program without a name"
            yield f"{program}, at {address or 'the machine of PostgreSQL'} (its process {server_process})"


def _with_open_file(path: Path) -> Iterator[str]:
    file = path.stat()
    holders = {_leader(process) for process in _processes() if _has_open(process, file)}
    for process in sorted(holders - {os.getpid()}):
        yield f"process {process} ({_command(process)[-LONGEST_COMMAND:] or 'its command is hidden'})"


def _processes() -> Iterator[int]:
    """None where there is no /proc."""
    with suppress(OSError):
        yield from (int(folder.name) for folder in PROCESSES.iterdir() if folder.name.isdecimal())


def _has_open(process: int, file: os.stat_result) -> bool:
    with suppress(OSError):  # It has ended, or is another user's.
        for descriptor in (PROCESSES / str(process) / "fd").iterdir():
            with suppress(OSError):
                if os.path.samestat(descriptor.stat(), file):
                    return True
    return False


def _leader(process: int) -> int:
    """The `serve` that started a worker, which tells nothing by its own command."""
    if "multiprocessing" in _command(process):
        with suppress(OSError, ValueError, IndexError):
            return int((PROCESSES / str(process) / "stat").read_text().rpartition(")")[2].split()[1])
    return process


def _command(process: int) -> str:
    """From `manage.py` on, if there is one."""
    with suppress(OSError):
        words = (PROCESSES / str(process) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        command = " ".join(words).strip()
        return command[command.rfind("manage.py") :] if "manage.py" in command else command
    return ""
