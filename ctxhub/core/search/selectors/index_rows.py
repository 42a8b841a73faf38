"""Reads the rows of the index, and finds missing and orphan rows, by project and kind."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.registry import Noun, indexed_nouns
from ctxhub.core.search.documents import PARTS, Document

BATCH_SIZE = 500
ID_BATCH_SIZE = 10_000


@frozen
class Entry:
    """An entry with its passages; each is a tuple of part, start, size, words and scope."""

    id: int = field(compare=False)
    ref: str
    updated_at: datetime
    passages: list[Any]


def read_documents(noun: Noun, project_id: int, object_ids: Sequence[int]) -> Sequence[Document]:
    return noun.documents(project_id, object_ids).now() if noun.documents and object_ids else ()


def read_entries(project_id: int, kind: str, object_ids: Sequence[int]) -> dict[int, Entry]:
    """Return the entries of objects by object id."""
    among, values = sql.among("object_id", object_ids)
    rows = sql.rows(
        f"""
        SELECT e.object_id, e.id, e.ref, e.updated_at,
            t.id - e.id * {PARTS}, t.start, t.size, t.words, t.scope
        FROM (SELECT * FROM core_searchentry WHERE project_id = %s AND kind = %s AND {among}) e
        LEFT JOIN core_searchtext t
            ON t.id >= e.id * {PARTS} AND t.id < (e.id + 1) * {PARTS} AND t.project_id = e.project_id
        ORDER BY t.id""",
        [project_id, kind, *values],
    )
    found: dict[int, Entry] = {}
    for object_id, entry_id, ref, at, *passage in rows:
        entry = found.setdefault(object_id, Entry(entry_id, ref, sql.read_time(at), []))
        if passage[0] is not None:
            entry.passages.append(tuple(passage))
    return found


def object_ids_of(noun: Noun, project_id: int) -> Iterator[list[int]]:
    """Yield the ids of all rows of a noun, in batches."""
    last = 0
    rows = noun.model._base_manager.filter(project_id=project_id).order_by("pk")
    while ids := list(rows.filter(pk__gt=last).values_list("pk", flat=True)[:ID_BATCH_SIZE]):
        yield from in_chunks(ids)
        last = ids[-1]


def objects_without_entry(noun: Noun, project_id: int) -> list[int]:
    """Return the ids of rows without an entry. Some nouns do not index all their rows."""
    return _ids(
        f"""
        SELECT t.id FROM {noun.model._meta.db_table} t WHERE t.project_id = %s AND NOT EXISTS (
            SELECT 1 FROM core_searchentry e
            WHERE e.project_id = t.project_id AND e.kind = %s AND e.object_id = t.id) ORDER BY t.id""",
        [project_id, noun.kind],
    )


def entries_without_object(noun: Noun, project_id: int) -> list[int]:
    """Return the object ids of entries whose rows do not exist."""
    return _ids(
        f"""
        SELECT e.object_id FROM core_searchentry e WHERE e.project_id = %s AND e.kind = %s AND NOT EXISTS (
            SELECT 1 FROM {noun.model._meta.db_table} t
            WHERE t.id = e.object_id AND t.project_id = e.project_id) ORDER BY e.object_id""",
        [project_id, noun.kind],
    )


def entries_of_unknown_kinds(project_id: int) -> list[tuple[str, int, str]]:
    """Return kind, object id and ref of the entries whose kind is not indexed any more."""
    kinds = [noun.kind for noun in indexed_nouns()]
    rows = sql.rows(
        f"""
        SELECT kind, object_id, ref FROM core_searchentry
        WHERE project_id = %s AND kind NOT IN ({sql.marks(kinds)}) ORDER BY id""",
        [project_id, *kinds],
    )
    return [(kind, object_id, ref) for kind, object_id, ref in rows]


def orphan_passages(project_id: int) -> list[int]:
    """Return the ids of passages without an entry."""
    return _ids(
        f"""
        SELECT t.id FROM core_searchtext t WHERE t.project_id = %s AND NOT EXISTS (
            SELECT 1 FROM core_searchentry e
            WHERE e.id = t.id / {PARTS} AND e.project_id = t.project_id) ORDER BY t.id""",
        [project_id],
    )


def orphan_words(project_id: int) -> list[str]:
    """Return the words of the vocabulary whose entry does not exist."""
    rows = sql.rows(
        """
        SELECT word FROM core_searchword WHERE project_id = %s AND NOT EXISTS (
            SELECT 1 FROM core_searchentry e
            WHERE e.id = entry_id AND e.project_id = core_searchword.project_id) ORDER BY word""",
        [project_id],
    )
    return [word for (word,) in rows]


def known_words_among(project_id: int, words: Sequence[str]) -> set[str]:
    if not words:
        return set()
    among, values = sql.among("word", words)
    statement = f"SELECT word FROM core_searchword WHERE project_id = %s AND {among}"
    return {word for (word,) in sql.rows(statement, [project_id, *values])}


def words_of_entries(entry_ids: Sequence[int]) -> Mapping[int, list[str]]:
    """Return the words of the vocabulary that refer to these entries, by entry id."""
    found = defaultdict(list)
    if entry_ids:
        among, values = sql.among("entry_id", entry_ids)
        for entry_id, word in sql.rows(f"SELECT entry_id, word FROM core_searchword WHERE {among}", values):
            found[entry_id].append(word)
    return found


def count_index(project_ids: Sequence[int]) -> tuple[int, int]:
    """Return the numbers of entries and of passages."""
    among, values = sql.among("project_id", project_ids)
    [entries] = _ids(f"SELECT count(*) FROM core_searchentry WHERE {among}", values)
    [texts] = _ids(f"SELECT count(*) FROM core_searchtext WHERE {among}", values)
    return entries, texts


def sample_entries(project_ids: Sequence[int], at_most: int) -> Mapping[tuple[int, str], list[int]]:
    """Return the object ids of a random sample of entries, by project and kind."""
    among, values = sql.among("project_id", project_ids)
    rows = sql.rows(
        f"""
        SELECT project_id, kind, object_id FROM core_searchentry
        WHERE {among} ORDER BY random() LIMIT %s""",
        [*values, at_most],
    )
    found = defaultdict(list)
    for project_id, kind, object_id in sorted(rows):
        found[project_id, kind].append(object_id)
    return found


def in_chunks(ids: Sequence[int]) -> Iterator[list[int]]:
    return (list(ids[at : at + BATCH_SIZE]) for at in range(0, len(ids), BATCH_SIZE))


def _ids(statement: str, values: Sequence[Any]) -> list[int]:
    return [row_id for (row_id,) in sql.rows(statement, values)]
