"""One process of a run migrates its test database; the others copy it.

Migrating takes half a second of a processor, a copy a tenth of that.
"""

import fcntl
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from ctxhub.core.kit.sqlite_file import make_file
from ctxhub.management.commands.migrate import Command

# The template of this run, if its processes share one.
shared: "Template | None" = None


@dataclass
class Template:
    """A migrated database without rows: on SQLite the file, on PostgreSQL a database of its name."""

    file: Path
    is_mine: bool = False

    @property
    def name(self) -> str:
        return self.file.stem

    def exists(self) -> bool:
        return self.file.exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        with self.file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def migrating(self) -> Iterator[None]:
        """Inside, the first `migrate` of all processes makes the template; later ones copy it."""
        migrate = Command.execute

        def execute(command: Command, *args: Any, **options: Any) -> None:
            with self.locked():
                if self.exists():
                    self._restore()
                else:
                    migrate(command, *args, **options)
                    self._save()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Command, "execute", execute)
            yield

    def _save(self) -> None:
        self.is_mine = True
        if connection.vendor == "postgresql":
            connection.close()
            copy_on_server(str(connection.settings_dict["NAME"]), self.name)
            self.file.touch()
        else:
            with closing(sqlite3.connect(self.file)) as file:
                connection.connection.backup(file)

    def _restore(self) -> None:
        connection.close()
        if connection.vendor == "postgresql":
            copy_on_server(self.name, str(connection.settings_dict["NAME"]))
        else:
            self.copy_file(Path(connection.settings_dict["NAME"]))

    def copy_file(self, path: Path) -> None:
        make_file(path)
        shutil.copyfile(self.file, path)

    def remove(self) -> None:
        with self.locked():
            self.file.unlink()
            if connection.vendor == "postgresql":
                drop_on_server(self.name)


def copy_on_server(source: str, target: str) -> None:
    """Replace a database of PostgreSQL by a copy of another; nothing may be connected to either."""
    drop_on_server(target)
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')


def drop_on_server(name: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
