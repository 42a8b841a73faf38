"""Checks the index: compares entries with the objects they were made of, read again."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from django.db import DatabaseError, connection, transaction

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import touch_transaction, write_transaction
from ctxhub.core.registry import Noun, indexed_nouns
from ctxhub.core.search import schema
from ctxhub.core.search.documents import PARTS, Document, known_words, passages, scope_words
from ctxhub.core.search.stems import stem

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


SAMPLE = 1_000
ALL = 2**62

MISSING = "not in the index"
DIFFERENT = "in the index as it is no more"
LEFT_OVER = "in the index, but gone"
PASSAGE = "a passage of nothing"
VOCABULARY = "in the vocabulary with other words than its own"
WORD = "a word of nothing"


@frozen
class Fault:
    """A difference between the index and an object (`ref`), a passage (its id) or a word; `what` names it."""

    project_id: int
    what: str
    ref: str


@frozen
class Comparison:
    """The current documents of some objects, and by object id the faults of those that differ."""

    documents: Sequence[Document]
    faults: Mapping[int, Fault]


def compare(noun: Noun, project_id: int, object_ids: Sequence[int]) -> Comparison:
    """Compare objects with their entries, word by word; deleted objects must have none."""
    documents = read_documents(noun, project_id, object_ids)
    entries = read_entries(project_id, noun.kind, object_ids)
    with_wrong_words = _objects_with_wrong_words(project_id, documents, entries)
    faults = {}
    for document in documents:
        problem = _problem(project_id, noun.kind, document, entries.pop(document.object_id, None))
        if problem or document.object_id in with_wrong_words:
            faults[document.object_id] = Fault(project_id, problem or VOCABULARY, document.ref)
    leftovers = {object_id: Fault(project_id, LEFT_OVER, entry.ref) for object_id, entry in entries.items()}
    return Comparison(documents, faults | leftovers)


def find_faults(project_ids: Sequence[int], *, everything: bool = False) -> list[Fault]:
    """Return all missing or leftover entries, and differences in a sample (or all) of the entries."""
    found = [fault for project_id in project_ids for fault in _faults_in_ids(project_id)]
    for (project_id, kind), object_ids in sample_entries(project_ids, ALL if everything else SAMPLE).items():
        for noun in indexed_nouns():
            if noun.kind == kind:
                found += _faults(noun, project_id, object_ids)
    return list(dict.fromkeys(found))


def _problem(project_id: int, kind: str, document: Document, entry: Entry | None) -> str:
    if entry is None:
        return MISSING
    scope = scope_words(project_id, kind, document)
    expected = [(p.part, p.start, p.size, p.words, scope) for p in passages(document)]
    return "" if entry == Entry(entry.id, document.ref, document.at, expected) else DIFFERENT


def _objects_with_wrong_words(
    project_id: int, documents: Sequence[Document], entries: Mapping[int, Entry]
) -> Collection[int]:
    """Return the ids of objects with a word missing in the vocabulary, or with one they no longer have."""
    words = {document.object_id: known_words(document) for document in documents}
    known = known_words_among(project_id, sorted(set().union(*words.values())))
    words_by_entry = words_of_entries([entry.id for entry in entries.values()])
    return {
        object_id
        for object_id, object_words in words.items()
        if not object_words <= known
        or (object_id in entries and not _has_all(entries[object_id], words_by_entry))
    }


def _has_all(entry: Entry, words_by_entry: Mapping[int, Sequence[str]]) -> bool:
    """Whether the entry has the stem of each vocabulary word that refers to it."""
    stems = {word for passage in entry.passages for word in passage[3].split()}
    return all(stem(word) in stems for word in words_by_entry.get(entry.id, ()))


def _faults_in_ids(project_id: int) -> Iterator[Fault]:
    """Find the faults that need no text: missing and leftover rows."""
    yield from (Fault(project_id, LEFT_OVER, ref) for _, _, ref in entries_of_unknown_kinds(project_id))
    yield from (Fault(project_id, PASSAGE, str(text_id)) for text_id in orphan_passages(project_id))
    yield from (Fault(project_id, WORD, word) for word in orphan_words(project_id))
    for noun in indexed_nouns():
        yield from _faults(noun, project_id, objects_without_entry(noun, project_id))
        yield from _faults(noun, project_id, entries_without_object(noun, project_id))


def _faults(noun: Noun, project_id: int, object_ids: Sequence[int]) -> Iterator[Fault]:
    """Compare objects; check faults again under the write lock, as a write may have been in progress."""
    for batch in in_chunks(object_ids):
        if suspects := list(compare(noun, project_id, batch).faults):
            with write_transaction(project_id):
                comparison = compare(noun, project_id, suspects)
            yield from comparison.faults.values()
