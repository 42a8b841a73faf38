"""A database for a drill alone, which is removed at its end, or by the next drill after a kill.

On SQLite it is a file in the drill's folder. On PostgreSQL it lies on the hub's server, and its name has the
number of the hub's database there and that of an advisory lock, which the drill holds while it runs.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connection

NAME = "ctxhub_drill_"
_LOCK_CLASS = 0x63_74_7A  # Beside that of setups.
_FORCED_SINCE = 130_000
_PROVIDERS = {"i": "icu", "b": "builtin"}
_OWN_DATABASE = """SELECT (
        to_jsonb(d) - 'datacl' || jsonb_build_object('charset', pg_encoding_to_char(encoding)))::text
    FROM pg_database d WHERE datname = current_database()"""
_LEFT = """SELECT datname FROM pg_database
    WHERE starts_with(datname, %s) AND pg_get_userbyid(datdba) = current_user"""


@contextmanager
def temporary_database(folder: Path) -> Iterator[Mapping[str, Any]]:
    """The settings of a database that differ from the hub's: on SQLite of a file that is not there yet.

    Raises CommandError if PostgreSQL lets this user create none.
    """
    if connection.vendor == "sqlite":
        yield {"NAME": str(folder / "restored.sqlite3")}
        return
    with _server() as server, _on_server(server) as database:
        yield database


def refuse_without_right() -> None:
    """Raise CommandError if the hub's user may not create databases."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname, rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
        name, may_create = cursor.fetchone()
    if not may_create:
        raise _not_allowed(name)


def _not_allowed(user: str) -> CommandError:
    return CommandError(
        f"The drill restores into a database of its own, and the user {user} may create none. Nothing was "
        f'done. Allow it by: ALTER ROLE "{user}" CREATEDB'
    )


@contextmanager
def _server() -> Iterator[Any]:
    """A connection to the hub's database, on which each statement is a transaction of its own."""
    import psycopg

    parameters = {**connection.get_connection_params(), "autocommit": True}
    with connection.wrap_database_errors, psycopg.connect(**parameters) as server:
        server.execute(
            """SELECT set_config(name, '0', false) FROM pg_settings
            WHERE name IN ('statement_timeout', 'idle_session_timeout')"""
        )
        yield server


@contextmanager
def _on_server(server: Any) -> Iterator[Mapping[str, Any]]:
    [(described,)] = server.execute(_OWN_DATABASE).fetchall()
    own = json.loads(described)
    mine = f"{NAME}{own['oid']}_"
    _remove_left(server, mine)
    number = secrets.randbelow(2**31)
    name = f"{mine}{number}"
    server.execute("SELECT pg_advisory_lock(%s, %s)", [_LOCK_CLASS, number])
    try:
        _create(server, name, own)
        yield {"NAME": name, "OPTIONS": _options(server)}
    finally:
        connection.close()
        _drop(server, name)


def _remove_left(server: Any, mine: str) -> None:
    """Remove those of drills that were killed: nobody holds their lock."""
    for (name,) in server.execute(_LEFT, [mine]).fetchall():
        number = name.removeprefix(mine)
        if not number.isdecimal() or int(number) >= 2**31:
            continue
        lock = [_LOCK_CLASS, int(number)]
        [(is_free,)] = server.execute("SELECT pg_try_advisory_lock(%s, %s)", lock).fetchall()
        if is_free:
            _drop(server, name)
            server.execute("SELECT pg_advisory_unlock(%s, %s)", lock)


def _create(server: Any, name: str, own: Mapping[str, Any]) -> None:
    """With the encoding and the locale of the hub's database, on which the order of texts depends."""
    import psycopg

    options = {"ENCODING": own["charset"], "LC_COLLATE": own["datcollate"], "LC_CTYPE": own["datctype"]}
    if provider := _PROVIDERS.get(own.get("datlocprovider", "")):
        locale = own.get("datlocale") or own.get("daticulocale")
        options |= {"LOCALE_PROVIDER": provider, f"{provider.upper()}_LOCALE": locale}
    written = psycopg.sql.SQL(" ").join(
        psycopg.sql.SQL(f"{option} {{}}").format(psycopg.sql.Literal(value))
        for option, value in options.items()
    )
    statement = psycopg.sql.SQL("CREATE DATABASE {} TEMPLATE template0 {}")
    try:
        server.execute(statement.format(psycopg.sql.Identifier(name), written))
    except psycopg.errors.InsufficientPrivilege as error:
        raise _not_allowed(server.info.user) from error
    _create_schema(server, name)


def _create_schema(server: Any, name: str) -> None:
    """The one that the hub's tables are in, if it is another than `public`."""
    import psycopg

    [(schema,)] = server.execute("SELECT current_schema()").fetchall()
    with psycopg.connect(**{**connection.get_connection_params(), "dbname": name}) as made:
        made.execute(psycopg.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(psycopg.sql.Identifier(schema)))


def _options(server: Any) -> dict[str, Any]:
    """The options of connections, with the hub's search_path, which its database alone may have."""
    own = dict(connection.settings_dict["OPTIONS"])
    [(path,)] = server.execute("SELECT current_setting('search_path')").fetchall()
    escaped = path.replace("\\", "\\\\").replace(" ", "\\ ")
    return {**own, "options": f"{own.get('options', '')} -c search_path={escaped}".strip()}


def _drop(server: Any, name: str) -> None:
    import psycopg

    force = " WITH (FORCE)" if server.info.server_version >= _FORCED_SINCE else ""
    statement = psycopg.sql.SQL(f"DROP DATABASE IF EXISTS {{}}{force}")
    server.execute(statement.format(psycopg.sql.Identifier(name)))
