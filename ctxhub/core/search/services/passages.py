"""Writes the passages of entries: with the entries, or on PostgreSQL, if they are long, before the lock."""

from collections.abc import Hashable, Sequence
from functools import partial

from ctxhub.core.kit import sql
from ctxhub.core.kit.batches import write_early, written_early
from ctxhub.core.search.documents import (
    PARTS,
    Analysis,
    Document,
    Passage,
    date_words,
    passages,
    scope_words,
    text_id,
)

StoredPassage = tuple[int, int, int, int, str, str]
KindDocument = tuple[str, Document]


def stored(project_id: int, entry: int, passage: Passage, scope: str) -> StoredPassage:
    return (text_id(entry, passage.part), project_id, passage.start, passage.size, passage.words, scope)


def store_passages(rows: Sequence[StoredPassage]) -> None:
    columns = ("id", "project_id", "start", "size", "words", "scope")
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns[2:])
    for batch in sql.chunks(rows, 1_000):
        sql.insert("core_searchtext", columns, batch, f"ON CONFLICT (id) DO UPDATE SET {changes}")


def delete_passages(where: str, values: Sequence[object], *, first: int) -> None:
    """Delete the passages of some entries from number `first` on."""
    found = f"""
        SELECT t.id FROM (SELECT id FROM core_searchentry WHERE {where}) e CROSS JOIN core_searchtext t
        WHERE t.id >= e.id * {PARTS} + %s AND t.id < (e.id + 1) * {PARTS}"""
    sql.execute(f"DELETE FROM core_searchtext WHERE {sql.among_found('id', found)}", [*values, first])


# -- Before the lock -------------------------------------------------------------------------------


def write_passages_early(
    project_id: int, by_kind: Sequence[KindDocument], analyses: Sequence[Analysis]
) -> None:
    """Let the next run of the transaction write the passages before it takes the lock.

    PostgreSQL indexes a MiB in half a second. The passages get entries of their own, which do not exist yet,
    so no other transaction has to do with them. On SQLite each transaction has the lock from its start.
    """
    if sql.is_sqlite():
        return
    found = [
        (scope_words(project_id, kind, document), passages(document, analysis))
        for (kind, document), analysis in zip(by_kind, analyses, strict=True)
    ]
    write_early(_content(project_id, by_kind), partial(_write_all, project_id, found), _delete_all)


def passages_written_early(project_id: int, by_kind: Sequence[KindDocument]) -> list[int] | None:
    """The ids of the entries of which the open transaction has written just these passages, if it has."""
    found: list[int] | None = written_early(_content(project_id, by_kind))
    return found


def renumber_entries(entries: Sequence[int], ids: Sequence[int]) -> None:
    """Give entries other ids, also where their words name them. Only on PostgreSQL."""
    for table, column in (("core_searchword", "entry_id"), ("core_searchentry", "id")):
        sql.execute(
            f"""
            UPDATE {table} t SET {column} = renumbered.new
            FROM unnest(%s::bigint[], %s::bigint[]) renumbered(old, new) WHERE t.{column} = renumbered.old""",
            [list(entries), list(ids)],
        )


def _content(project_id: int, by_kind: Sequence[KindDocument]) -> Hashable:
    """What the passages of documents are made of."""
    return tuple(
        (document.title, *document.tags, *date_words(document.at), scope, document.text)
        for document, scope in ((d, scope_words(project_id, kind, d)) for kind, d in by_kind)
    )


def _write_all(project_id: int, found: Sequence[tuple[str, Sequence[Passage]]]) -> list[int]:
    """Write the passages of entries (scope words, passages), and return the ids reserved for these."""
    ids = [
        entry
        for (entry,) in sql.rows(
            "SELECT nextval(pg_get_serial_sequence('core_searchentry', 'id')) FROM generate_series(1, %s)",
            [len(found)],
        )
    ]
    store_passages(
        [
            stored(project_id, entry, passage, scope)
            for entry, (scope, of_entry) in zip(ids, found, strict=True)
            for passage in of_entry
        ]
    )
    return ids


def _delete_all(entries: Sequence[int]) -> None:
    ranges = " OR ".join(["id >= %s AND id < %s"] * len(entries))
    values = [text_id(entry, part) for entry in entries for part in (0, PARTS)]
    sql.execute(f"DELETE FROM core_searchtext WHERE {ranges}", values)
