"""Updates the search index. Services call it in the transaction of the write that they index."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from django.dispatch import Signal

from ctxhub.core import registry
from ctxhub.core.kit import sql
from ctxhub.core.kit.batches import write_early, written_early
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.models import NamedRow, ProjectRow
from ctxhub.core.search.documents import (
    PARTS,
    Analysis,
    Document,
    Passage,
    analyse_texts,
    date_words,
    known_words,
    last_passages,
    passages,
    prepare_document,
    scope_words,
    text_id,
)
from ctxhub.core.search.matches import any_entries
from ctxhub.core.search.queries import Term
from ctxhub.core.search.stems import stem

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
    if sql.is_sqlite():
        return None
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


Fields = Mapping[type[NamedRow], str]
"""The lookup from a model to each kind of word."""


def ids_showing(model: type[ProjectRow], word: NamedRow, fields: Fields) -> list[int]:
    field = fields.get(type(word))
    if field is None:
        return []
    rows = model.objects.in_project(word.project_id).filter(**{field: word.pk})
    return list(rows.order_by("pk").values_list("pk", flat=True))


# Batch sizes: objects that are read again, and words that are looked up.
BATCH_SIZE = 500
WORD_BATCH_SIZE = 1_000

# Sent with project_id, kind, object_ids, in the transaction that deletes the objects.
forgotten = Signal()


@frozen
class LastPassage:
    """The last passage of an entry: entry id, number, start offset, and when its object last changed."""

    entry_id: int
    part: int
    start: int
    updated_at: datetime


def index_documents(
    project_id: int,
    kind: str,
    documents: Sequence[Document],
    *,
    are_new: bool = False,
    earlier: Sequence[Document] = (),
    beside: Sequence[KindDocument] = (),
) -> None:
    """Index documents, replacing what was indexed of them. The number of statements is constant.

    `are_new`: none of them has an entry yet, so there are no old passages and words to delete. `earlier`:
    earlier states of some of them, all new. `beside`: documents of other kinds, all new.
    """
    by_kind = [*beside, *((kind, document) for document in documents)]
    if states := registry.earlier_states(kind):
        by_kind += [(states.kind, document) for document in earlier]
    if not by_kind:
        return
    analyses = analyse_texts(
        [document.text for _, document in by_kind], then=partial(write_passages_early, project_id, by_kind)
    )
    entries = sql.insert(
        "core_searchentry",
        ("project_id", "kind", "object_id", "ref", "updated_at"),
        [(project_id, kind, d.object_id, d.ref, sql.stored_time(d.at)) for kind, d in by_kind],
        "ON CONFLICT (project_id, kind, object_id)"
        " DO UPDATE SET ref = excluded.ref, updated_at = excluded.updated_at RETURNING kind, object_id, id",
    )
    ids = {(kind, object_id): entry for kind, object_id, entry in entries}
    of_documents = [ids[kind, document.object_id] for kind, document in by_kind]
    if early := passages_written_early(project_id, by_kind):
        if not are_new:
            delete_passages(*sql.among("id", of_documents), first=0)
        renumber_entries(of_documents, early)
        of_documents = early
    indexed = [
        (entry, kind, document, analysis)
        for entry, (kind, document), analysis in zip(of_documents, by_kind, analyses, strict=True)
    ]
    words = {entry: known_words(document, analysis) for entry, _, document, analysis in indexed}
    counts = {} if early else _write_passages(project_id, indexed)
    learn(project_id, words)
    if not are_new:
        for count in set(counts.values()):
            where, values = sql.among("id", [entry for entry, n in counts.items() if n == count])
            delete_passages(where, values, first=count)
        _unlearn_lost(project_id, words)


def index_growth(
    project_id: int, kind: str, document: Document, added: int, read_from: Callable[[int], str]
) -> None:
    """Index `added` characters at the end of a body without reading the rest of it.

    `document` is the current document without its body; `read_from(start)` returns the current body from that
    character on. Of the existing passages only the last one changes.
    """
    growth = _growth(project_id, kind, document, added, read_from)
    if growth is None:
        index_documents(project_id, kind, [replace(document, body=read_from(0))])
        return
    last, tail, before, new = growth
    of_tail, of_new = analyse_texts([tail.text, replace(document, body=new).text])
    scope = scope_words(project_id, kind, document)
    store_passages(
        [
            stored(project_id, last.entry_id, passage, scope)
            for passage in last_passages(tail, last.part, last.start, of_tail)
        ]
    )
    sql.execute(
        "UPDATE core_searchentry SET updated_at = %s WHERE id = %s",
        [sql.stored_time(document.at), last.entry_id],
    )
    if not _grow_together(before, new):
        learn(project_id, {last.entry_id: known_words(replace(document, body=new), of_new)})
        return
    words = known_words(tail, of_tail)
    learn(project_id, {last.entry_id: words})
    if lost := known_words(replace(document, body=before)) - words:
        where, values = sql.among("word", sorted(lost))
        _unlearn(
            project_id,
            f"project_id = %s AND entry_id = %s AND {where}",
            [project_id, last.entry_id, *values],
        )


def prepare_growth(
    project_id: int, kind: str, document: Document, added: int, read_from: Callable[[int], str]
) -> None:
    """Analyse before the lock what `index_growth` will index: the analyser remembers the latest texts."""
    if growth := _growth(project_id, kind, document, added, read_from):
        _, tail, _, new = growth
        prepare_document(tail)
        prepare_document(replace(document, body=new))


def _growth(
    project_id: int, kind: str, document: Document, added: int, read_from: Callable[[int], str]
) -> tuple[LastPassage, Document, str, str] | None:
    """The last passage, the document from there on, and its body before and after the new characters; None
    if the first passage has to be written as well, which holds the date.
    """
    last = _last_passage(project_id, kind, document.object_id)
    if last is None or last.updated_at.date() != document.at.date():
        return None
    tail = replace(document, body=read_from(last.start))
    return last, tail, tail.body[: len(tail.body) - added], tail.body[len(tail.body) - added :]


def _grow_together(before: str, new: str) -> bool:
    """Whether the last word before and the first new word may form one word: no white space between them."""
    return not (before[-1:].isspace() or new[:1].isspace())


def forget(
    project_id: int, kind: str, object_ids: Iterable[int], states: Sequence[int] | None = None
) -> None:
    """Delete the entries of deleted objects and of their earlier states, and the words only they had.

    `states`: the ids of the earlier states, if their rows are deleted already and cannot be queried.
    """
    if not (ids := list(object_ids)):
        return
    deleted = _with_states(project_id, kind, ids, states)
    for deleted_kind, row_ids in deleted:
        forgotten.send(None, project_id=project_id, kind=deleted_kind, object_ids=row_ids)
    _delete_entries(project_id, deleted)


def drop_entries(project_id: int, kind: str, object_ids: Sequence[int]) -> None:
    """Delete the entries of objects that stay, and of their earlier states: they are to be indexed anew."""
    _delete_entries(project_id, _with_states(project_id, kind, list(object_ids), None))


def _with_states(
    project_id: int, kind: str, ids: list[int], states: Sequence[int] | None
) -> list[tuple[str, list[int]]]:
    """Objects and their earlier states, by kind."""
    found = [(kind, ids)]
    if earlier := registry.earlier_states(kind):
        state_ids = earlier.states_of(project_id, ids) if earlier.states_of and states is None else states
        found += [(earlier.kind, list(state_ids))] if state_ids else []
    return found


def _delete_entries(project_id: int, deleted: Sequence[tuple[str, Sequence[int]]]) -> None:
    where, values = _entries_of(project_id, deleted)
    delete_passages(where, values, first=0)
    entries = sql.rows(f"DELETE FROM core_searchentry WHERE {where} RETURNING id", values)
    if entries:
        _unlearn(project_id, *sql.among("entry_id", [entry for (entry,) in entries]))


def _entries_of(project_id: int, objects: Iterable[tuple[str, Sequence[int]]]) -> tuple[str, list[object]]:
    """Return an SQL condition for the entries of these objects, given as (kind, ids); and its values."""
    values: list[object] = [project_id]
    conditions = []
    for kind, ids in objects:
        among, object_ids = sql.among("object_id", ids)
        conditions.append(f"kind = %s AND {among}")
        values += [kind, *object_ids]
    return f"project_id = %s AND ({' OR '.join(conditions)})", values


def index_again(project_id: int, kind: str, object_ids: Iterable[int]) -> None:
    """Read objects from the database and index them; deletes the entries of those that do not exist."""
    noun = registry.find_noun(kind)
    assert noun
    assert noun.documents
    for ids in sql.chunks(list(object_ids), BATCH_SIZE):
        documents = noun.documents(project_id, ids).now()
        index_documents(project_id, kind, documents)
        forget(project_id, kind, set(ids) - {document.object_id for document in documents})


def _write_passages(
    project_id: int, indexed: Iterable[tuple[int, str, Document, Analysis]]
) -> dict[int, int]:
    """Write the passages of entries (id, kind, document, analysis); their number by entry id."""
    rows: list[StoredPassage] = []
    counts: dict[int, int] = {}
    for entry, kind, document, analysis in indexed:
        scope, found = scope_words(project_id, kind, document), passages(document, analysis)
        counts[entry] = len(found)
        rows += [stored(project_id, entry, passage, scope) for passage in found]
    store_passages(rows)
    return counts


def _last_passage(project_id: int, kind: str, object_id: int) -> LastPassage | None:
    rows = sql.rows(
        f"""
        SELECT e.id, t.id - e.id * {PARTS}, t.start, e.updated_at
        FROM core_searchentry e CROSS JOIN core_searchtext t
        WHERE e.project_id = %s AND e.kind = %s AND e.object_id = %s
            AND t.id >= e.id * {PARTS} AND t.id < (e.id + 1) * {PARTS}
        ORDER BY t.id DESC LIMIT 1""",
        [project_id, kind, object_id],
    )
    for entry, part, start, updated_at in rows:
        return LastPassage(entry, part, start, sql.read_time(updated_at))
    return None


WORD_COLUMNS = ("project_id", "word", "entry_id")


def learn(project_id: int, words: Mapping[int, Iterable[str]]) -> None:
    """Add the words of entries, by entry id, to the vocabulary. A word keeps one of its entries."""
    entries = _entry_of_each(words)
    _write_words(project_id, entries, sorted(entries), "NOTHING")


def _write_words(project_id: int, entries: Mapping[str, int], words: Sequence[str], if_known: str) -> None:
    """Write words with their entries, in order. `if_known`: what is done with those that are there."""
    then = f"ON CONFLICT (project_id, word) DO {if_known}"
    for batch in sql.chunks(words, 5_000):
        ids = [entries[word] for word in batch]
        if sql.is_sqlite():
            rows = [(project_id, word, entry) for word, entry in zip(batch, ids, strict=True)]
            sql.insert("core_searchword", WORD_COLUMNS, rows, then)
        else:  # Of many values psycopg parses the statement each time.
            sql.execute(
                f"INSERT INTO core_searchword ({', '.join(WORD_COLUMNS)}) SELECT %s, word, entry_id"
                f" FROM unnest(%s::text[], %s::bigint[]) asked(word, entry_id) {then}",
                [project_id, list(batch), ids],
            )


def _entry_of_each(words: Mapping[int, Iterable[str]]) -> dict[str, int]:
    return {word: entry for entry, entry_words in words.items() for word in entry_words}


def _unlearn_lost(project_id: int, words: Mapping[int, Collection[str]]) -> None:
    """Remove from the vocabulary the words that reindexed entries no longer have.

    Most of them are in the entry of the earlier state, which was indexed with them.
    """
    among, values = sql.among("entry_id", list(words))
    held = sql.rows(f"SELECT word, entry_id FROM core_searchword WHERE {among}", values)
    lost = sorted(word for word, entry in held if word not in words[entry])
    entries = _entry_of_each(words) if lost else {}
    moved = [word for word in lost if word in entries]
    _write_words(project_id, entries, moved, "UPDATE SET entry_id = excluded.entry_id")
    if gone := [word for word in lost if word not in entries]:
        where, values = sql.among("word", gone)
        _unlearn(project_id, f"project_id = %s AND {where}", [project_id, *values])


def _unlearn(project_id: int, where: str, values: Sequence[object]) -> None:
    """Remove words from the vocabulary; one that another entry has moves to that entry."""
    removed = sql.rows(f"DELETE FROM core_searchword WHERE {where} RETURNING word", values)
    for words in sql.chunks([word for (word,) in removed], WORD_BATCH_SIZE):
        holders = any_entries(project_id, [Term(((stem(word),),)) for word in words])
        kept: dict[int, list[str]] = {}
        for word, entry in zip(words, holders, strict=True):
            if entry is not None:
                kept.setdefault(entry, []).append(word)
        learn(project_id, kept)
