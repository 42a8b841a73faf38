"""Turns what stops a command into a CommandError for a person."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.failures import UNWRITABLE, is_unwritable
from ctxhub.core.kit.hub_files import Missing, NotAHub
from ctxhub.core.kit.newer_schema import (
    find_lacking_migrations,
    find_too_old,
    find_unknown_migrations,
)
from ctxhub.core.kit.write_queue import UNWRITABLE_FILES

SECONDS_TO_CONNECT = 5
# The commit that removed the file of a retired migration is the last one that touched it.
TWO_STEPS = (
    "Upgrade in two steps: check out the last version that could "
    "(git checkout $(git rev-list -1 HEAD -- ctxhub/core/migrations/0001_initial.py)^) and run its "
    "`manage.py setup`; then check out this version again (git checkout -), and run setup."
)
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Turn the hub's errors and the database's into a CommandError."""
    try:
        yield
    except CtxhubError as error:
        raise CommandError(f"{error.message} {error.hint}".strip()) from error
    except (DatabaseError, NotAHub) as error:
        raise CommandError(unusable_database(error)) from error
    except OSError as error:
        if error.errno in DISK_FULL:  # A write of a part names no file.
            raise CommandError("The disk is full. Free space, then run the command again.") from error
        if error.filename is None or not str(error.filename).startswith(str(settings.VAR_DIR)):
            raise
        raise CommandError(
            f"{error.filename} cannot be written or read: {error.strerror}. Is CTXHUB_VAR_DIR right?"
        ) from error


def is_about_writing(error: CommandError) -> bool:
    """Whether the command was stopped by a full or read-only disk or database."""
    cause = error.__cause__
    if isinstance(cause, OSError):
        return cause.errno in UNWRITABLE_FILES
    return cause is not None and is_unwritable(cause)


def unusable_database(error: DatabaseError | sqlite3.Error) -> str:
    if is_unwritable(error):
        return f"{UNWRITABLE} Free space, or make the database and its folder writable."
    message = str(error).strip().partition("\n")[0]
    if _is_about_tables(error):
        return (
            f"The database cannot be used: {message.rstrip('.')}. Its tables are not those that this version "
            "of ctxhub makes: run `manage.py setup`, which adds what is missing."
        )
    found = error if isinstance(error, NotAHub) else error.__cause__
    is_foreign = isinstance(found, NotAHub) and not isinstance(found, Missing)
    return (
        f"The database cannot be used: {message.rstrip('.')}. "
        f"Is DATABASE_URL right{'' if is_foreign else ', and has `manage.py setup` been run'}?"
    )


def _is_about_tables(error: DatabaseError | sqlite3.Error) -> bool:
    """Whether the database was reached, and refused a statement."""
    found = error if isinstance(error, sqlite3.Error) else error.__cause__
    is_sql = getattr(found, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
    return is_sql or str(getattr(found, "sqlstate", None) or "").startswith("42")  # The class of such errors.


def refuse_unreachable() -> None:
    """Raise within seconds if PostgreSQL does not answer."""
    if connection.vendor == "postgresql":
        import psycopg

        with connection.wrap_database_errors:
            parameters = {"connect_timeout": SECONDS_TO_CONNECT, **connection.get_connection_params()}
            psycopg.connect(**parameters).close()


def refuse_other_version() -> None:
    """Raise CommandError if a newer version migrated the database, or a very old one. Changes nothing."""
    try:
        unknown = find_unknown_migrations()
    except DatabaseError:
        if not MigrationRecorder(connection).has_table():
            return
        unknown = find_unknown_migrations()  # Another setup may just have made the table.
    if unknown:
        raise CommandError(
            "A newer version of ctxhub has migrated the database: this one does not know "
            f"{', '.join(unknown)}. Update the code (git pull), or restore the backup that was made before."
        )
    if find_too_old():
        raise CommandError(
            f"The database is of a version of ctxhub that this one cannot upgrade. {TWO_STEPS}"
        )


def refuse_other_schema() -> None:
    """As `refuse_unmigrated`, without loading the migrations while their names tell that all are applied."""
    try:
        is_complete = not find_lacking_migrations()
    except DatabaseError:
        is_complete = False
    if is_complete:
        refuse_other_version()
    else:
        refuse_unmigrated()


def refuse_unmigrated() -> None:
    refuse_unreachable()
    refuse_other_version()
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        raise CommandError(
            f"The database lacks {len(plan)} migration(s), the first is {plan[0][0]}. "
            "Run `manage.py setup`, or `manage.py migrate` alone."
        )
