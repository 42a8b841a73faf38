"""The engine's own parts of the index: whether they are all there, as they were made, and in step."""

import re
from collections.abc import Mapping

from django.db import DatabaseError, connection, transaction

from ctxhub.core.kit import sql
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.search import schema

_NAMED = re.compile(r"CREATE (?P<kind>.+?) IF NOT EXISTS (?P<rest>(?P<name>\w+).*)", re.DOTALL)


def wrong_parts() -> list[str]:
    """What a migration or a hand has taken away or changed, as sentences; from the catalogue alone."""
    made, found = _sqlite() if connection.vendor == "sqlite" else _postgresql()
    missing = [f"{name} is missing" for name in made if name not in found]
    return missing + [f"{name} is not as it was made" for name in found if found[name] != made[name]]


def out_of_step() -> list[str]:
    """Where all parts are there: whether the engine looks up what the passages say."""
    return _other_words_in_sqlite() if connection.vendor == "sqlite" else _fewer_rows_in_postgresql()


def _sqlite() -> tuple[Mapping[str, str], Mapping[str, str]]:
    statements = [found for statement in schema.SQLITE if (found := _NAMED.fullmatch(statement))]
    made = {found["name"]: _plain(f"CREATE {found['kind']} {found['rest']}") for found in statements}
    rows = sql.rows(f"SELECT name, sql FROM sqlite_master WHERE name IN ({sql.marks([*made])})", [*made])  # noqa: S608
    return made, {name: _plain(said) for name, said in rows}


def _postgresql() -> tuple[Mapping[str, str], Mapping[str, str]]:
    function, index = schema.POSTGRESQL
    made = {
        "core_search_vector": _plain(function.split("SAFE ")[1].replace("$$", "")),
        "core_searchtext_vector": _plain(index.split("USING ")[1]),
    }
    rows = sql.rows(
        """
        SELECT 'core_search_vector', 'COST ' || procost || ' AS ' || prosrc FROM pg_proc
        WHERE oid = to_regprocedure('core_search_vector(text, text)')
        UNION ALL
        SELECT 'core_searchtext_vector', split_part(pg_get_indexdef(indexrelid), ' USING ', 2) FROM pg_index
        WHERE indexrelid = to_regclass('core_searchtext_vector') AND indisvalid"""
    )
    return made, {name: _plain(said) for name, said in rows}


def _plain(said: str) -> str:
    """PostgreSQL repeats a definition in its own spacing."""
    return re.sub(r"\s*([(),=])\s*", r"\1", " ".join(said.split()))


def _other_words_in_sqlite() -> list[str]:
    """FTS5 compares itself with the table. It says so by an INSERT, for which writers wait."""
    table = schema.FTS_TABLE
    try:
        with touch_transaction():
            sql.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
    except DatabaseError as error:
        return [f"{table} holds other words than the passages: {error}"]
    return []


def _fewer_rows_in_postgresql() -> list[str]:
    """Every passage has its project's word in the index, and no other does."""
    with transaction.atomic():
        sql.execute("SET LOCAL enable_seqscan = off")
        rows = sql.rows(
            """
            SELECT count, (
                SELECT count(*) FROM core_searchtext t
                WHERE core_search_vector(t.words, t.scope) @@ ('P' || p.project_id)::tsquery)
            FROM (SELECT project_id, count(*) FROM core_searchtext GROUP BY project_id) p"""
        )
    passages, found = sum(row[0] for row in rows), sum(row[1] for row in rows)
    if passages == found:
        return []
    return [f"core_searchtext_vector finds {found:,} of {passages:,} passages"]
