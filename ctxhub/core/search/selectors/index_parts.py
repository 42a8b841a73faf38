"""Checks the index's tables, triggers and functions: present, as defined, and consistent with the rows."""

import re
from collections.abc import Mapping

from django.db import DatabaseError, connection, transaction

from ctxhub.core.kit import sql
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.search import schema

_NAMED = re.compile(r"CREATE (?P<kind>.+?) IF NOT EXISTS (?P<rest>(?P<name>\w+).*)", re.DOTALL)


def wrong_parts() -> list[str]:
    """Return what is missing or altered, as sentences. Reads the database catalogue only."""
    expected, found = _sqlite() if connection.vendor == "sqlite" else _postgresql()
    missing = [f"{name} is missing" for name in expected if name not in found]
    return missing + [f"{name} is not as it was made" for name in found if found[name] != expected[name]]


def out_of_step() -> list[str]:
    """Return how the index differs from the passages, as sentences. All its parts must exist."""
    return _differences_in_sqlite() if connection.vendor == "sqlite" else _differences_in_postgresql()


def _sqlite() -> tuple[Mapping[str, str], Mapping[str, str]]:
    statements = [found for statement in schema.SQLITE if (found := _NAMED.fullmatch(statement))]
    expected = {found["name"]: _normalised(f"CREATE {found['kind']} {found['rest']}") for found in statements}
    names = [*expected]
    rows = sql.rows(f"SELECT name, sql FROM sqlite_master WHERE name IN ({sql.marks(names)})", names)
    return expected, {name: _normalised(definition) for name, definition in rows}


def _postgresql() -> tuple[Mapping[str, str], Mapping[str, str]]:
    function, index = schema.POSTGRESQL
    expected = {
        "core_search_vector": _normalised(function.split("SAFE ")[1].replace("$$", "")),
        "core_searchtext_vector": _normalised(index.split("USING ")[1]),
    }
    rows = sql.rows(
        """
        SELECT 'core_search_vector', 'COST ' || procost || ' AS ' || prosrc FROM pg_proc
        WHERE oid = to_regprocedure('core_search_vector(text, text)')
        UNION ALL
        SELECT 'core_searchtext_vector', split_part(pg_get_indexdef(indexrelid), ' USING ', 2) FROM pg_index
        WHERE indexrelid = to_regclass('core_searchtext_vector') AND indisvalid"""
    )
    return expected, {name: _normalised(definition) for name, definition in rows}


def _normalised(definition: str) -> str:
    """Normalise white space: PostgreSQL returns a definition in its own spacing."""
    return re.sub(r"\s*([(),=])\s*", r"\1", " ".join(definition.split()))


def _differences_in_sqlite() -> list[str]:
    """Run FTS5's integrity check against the table. It is an INSERT, so it takes the write lock."""
    table = schema.FTS_TABLE
    try:
        with touch_transaction():
            sql.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")
    except DatabaseError as error:
        return [f"{table} holds other words than the passages: {error}"]
    return []


def _differences_in_postgresql() -> list[str]:
    """Count the passages by their project's scope word in the index, and in the table."""
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
