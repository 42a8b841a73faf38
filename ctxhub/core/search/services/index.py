"""Keeps the index: every write of a noun puts what it wrote here, in its transaction."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.dispatch import Signal

from ctxhub.core import registry
from ctxhub.core.kit import sql
from ctxhub.core.search.documents import (
    PARTS,
    Document,
    Passage,
    known_words,
    last_passages,
    passages,
    scope_words,
    text_id,
)
from ctxhub.core.search.engines import any_entries
from ctxhub.core.search.queries import Term
from ctxhub.core.search.stems import stem

# Things read afresh at a time, and words that are looked up.
AT_ONCE = 500
LOOKED_UP_AT_ONCE = 1_000

# Sent in the transaction in which things go: project_id, kind, object_ids.
forgotten = Signal()

StoredPassage = tuple[int, int, int, int, str, str]


@dataclass(frozen=True, slots=True)
class LastPassage:
    """Of which entry, the how manieth, where it begins, and when the thing last changed."""

    entry: int
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
) -> None:
    """Make things findable as they are now, in a number of statements that does not grow with them.

    `are_new`: none of them was findable before, so that nothing is left of what they were. `earlier`: what
    some of them have just been, all of it new.
    """
    by_kind = [(kind, document) for document in documents]
    if states := registry.earlier_states(kind):
        by_kind += [(states.kind, document) for document in earlier]
    if not by_kind:
        return
    entries = sql.insert(
        "core_searchentry",
        ("project_id", "kind", "object_id", "ref", "updated_at"),
        [(project_id, kind, d.object_id, d.ref, sql.stored_time(d.at)) for kind, d in by_kind],
        "ON CONFLICT (project_id, kind, object_id)"
        " DO UPDATE SET ref = excluded.ref, updated_at = excluded.updated_at RETURNING kind, object_id, id",
    )
    ids = {(kind, object_id): entry for kind, object_id, entry in entries}
    indexed = [(ids[kind, document.object_id], kind, document) for kind, document in by_kind]
    words = {entry: known_words(document) for entry, _, document in indexed}
    counts = _write_passages(project_id, indexed)
    learn(project_id, words)
    if not are_new:
        for count in set(counts.values()):
            which, values = sql.among("id", [entry for entry, n in counts.items() if n == count])
            _delete_passages(which, values, behind=count)
        _unlearn_lost(project_id, words)


def index_growth(
    project_id: int, kind: str, document: Document, added: int, read_from: Callable[[int], str]
) -> None:
    """Make findable what a thing has more at its end, at the cost of that alone: `added` characters.

    `document` is the thing as it is now, without its body; `read_from(start)` reads the body from a character
    on, as it is now. Of the passages that were there only the last one changes.
    """
    last = _last_passage(project_id, kind, document.object_id)
    if last is None or last.updated_at.date() != document.at.date():
        # The first passage holds the date.
        index_documents(project_id, kind, [replace(document, body=read_from(0))])
        return
    tail = replace(document, body=read_from(last.start))
    scope = scope_words(project_id, kind, document)
    _store_passages(
        [_stored(project_id, last.entry, p, scope) for p in last_passages(tail, last.part, last.start)]
    )
    sql.execute(
        "UPDATE core_searchentry SET updated_at = %s WHERE id = %s",
        [sql.stored_time(document.at), last.entry],
    )
    before, new = tail.body[: len(tail.body) - added], tail.body[len(tail.body) - added :]
    if not _grow_together(before, new):
        learn(project_id, {last.entry: known_words(replace(document, body=new))})
        return
    words = known_words(tail)
    learn(project_id, {last.entry: words})
    if lost := known_words(replace(document, body=before)) - words:
        which, values = sql.among("word", sorted(lost))
        _unlearn(
            project_id, f"project_id = %s AND entry_id = %s AND {which}", [project_id, last.entry, *values]
        )


def _grow_together(before: str, new: str) -> bool:
    """Whether what is added without a blank may make one word of two."""
    return not (before[-1:].isspace() or new[:1].isspace())


def forget(
    project_id: int, kind: str, object_ids: Iterable[int], states: Sequence[int] | None = None
) -> None:
    """Take away what is no more, and the words that only it had; with what it was.

    `states`: the ids of its earlier states, where they are gone, too, and can be asked for no longer.
    """
    if not (ids := list(object_ids)):
        return
    gone = [(kind, ids)]
    if earlier := registry.earlier_states(kind):
        asked = earlier.states_of(project_id, ids) if earlier.states_of and states is None else states
        gone += [(earlier.kind, list(asked))] if asked else []
    for each, rows in gone:
        forgotten.send(None, project_id=project_id, kind=each, object_ids=rows)
    which, found = _entries_of(project_id, gone)
    _delete_passages(which, found, behind=0)
    entries = sql.rows(f"DELETE FROM core_searchentry WHERE {which} RETURNING id", found)  # noqa: S608
    if entries:
        _unlearn(project_id, *sql.among("entry_id", [entry for (entry,) in entries]))


def _entries_of(project_id: int, things: Iterable[tuple[str, Sequence[int]]]) -> tuple[str, list[object]]:
    """The condition that an entry is of one of these rows of these kinds."""
    values: list[object] = [project_id]
    conditions = []
    for kind, ids in things:
        among, some = sql.among("object_id", ids)
        conditions.append(f"kind = %s AND {among}")
        values += [kind, *some]
    return f"project_id = %s AND ({' OR '.join(conditions)})", values


def index_again(project_id: int, kind: str, object_ids: Iterable[int]) -> None:
    """Read things afresh and make them findable as they are; what is there no more is forgotten."""
    noun = registry.find_noun(kind)
    assert noun
    assert noun.documents
    for ids in sql.chunks(list(object_ids), AT_ONCE):
        documents = noun.documents(project_id, ids)
        index_documents(project_id, kind, documents)
        forget(project_id, kind, set(ids) - {document.object_id for document in documents})


def _write_passages(project_id: int, indexed: Iterable[tuple[int, str, Document]]) -> dict[int, int]:
    """Those of entries, each with its kind and document; how many passages each has now."""
    rows: list[StoredPassage] = []
    counts: dict[int, int] = {}
    for entry, kind, document in indexed:
        scope, found = scope_words(project_id, kind, document), passages(document)
        counts[entry] = len(found)
        rows += [_stored(project_id, entry, passage, scope) for passage in found]
    _store_passages(rows)
    return counts


def _stored(project_id: int, entry: int, passage: Passage, scope: str) -> StoredPassage:
    return (text_id(entry, passage.part), project_id, passage.start, passage.size, passage.words, scope)


def _store_passages(rows: Sequence[StoredPassage]) -> None:
    columns = ("id", "project_id", "start", "size", "words", "scope")
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns[2:])
    for some in sql.chunks(rows, 1_000):
        sql.insert("core_searchtext", columns, some, f"ON CONFLICT (id) DO UPDATE SET {changes}")


def _last_passage(project_id: int, kind: str, object_id: int) -> LastPassage | None:
    rows = sql.rows(
        f"""
        SELECT e.id, t.id - e.id * {PARTS}, t.start, e.updated_at
        FROM core_searchentry e CROSS JOIN core_searchtext t
        WHERE e.project_id = %s AND e.kind = %s AND e.object_id = %s
            AND t.id >= e.id * {PARTS} AND t.id < (e.id + 1) * {PARTS}
        ORDER BY t.id DESC LIMIT 1""",  # noqa: S608
        [project_id, kind, object_id],
    )
    for entry, part, start, updated_at in rows:
        return LastPassage(entry, part, start, sql.read_time(updated_at))
    return None


def _delete_passages(which: str, values: Sequence[object], *, behind: int) -> None:
    """Those of some entries, from the `behind`-th on."""
    sql.execute(
        f"""
        DELETE FROM core_searchtext WHERE id IN (
            SELECT t.id FROM (SELECT id FROM core_searchentry WHERE {which}) e CROSS JOIN core_searchtext t
            WHERE t.id >= e.id * {PARTS} + %s AND t.id < (e.id + 1) * {PARTS})""",  # noqa: S608
        [*values, behind],
    )


def learn(project_id: int, words: Mapping[int, Iterable[str]]) -> None:
    """Words by the entries that have them. Each stands for one of its entries, and stays with it."""
    holders = {word: entry for entry, known in words.items() for word in known}
    rows = [(project_id, word, holders[word]) for word in sorted(holders)]
    columns = ("project_id", "word", "entry_id")
    for some in sql.chunks(rows, 5_000):
        sql.insert("core_searchword", columns, some, "ON CONFLICT (project_id, word) DO NOTHING")


def _unlearn_lost(project_id: int, words: Mapping[int, Collection[str]]) -> None:
    """Take from entries that have been written over the words that they have no longer."""
    among, values = sql.among("entry_id", list(words))
    held = sql.rows(f"SELECT word, entry_id FROM core_searchword WHERE {among}", values)  # noqa: S608
    if lost := [word for word, entry in held if word not in words[entry]]:
        which, values = sql.among("word", lost)
        _unlearn(project_id, f"project_id = %s AND {which}", [project_id, *values])


def _unlearn(project_id: int, which: str, values: Sequence[object]) -> None:
    """Words go, unless something else has them, too."""
    gone = sql.rows(f"DELETE FROM core_searchword WHERE {which} RETURNING word", values)  # noqa: S608
    for words in sql.chunks([word for (word,) in gone], LOOKED_UP_AT_ONCE):
        holders = any_entries(project_id, [Term(((stem(word),),)) for word in words])
        kept: dict[int, list[str]] = {}
        for word, entry in zip(words, holders, strict=True):
            if entry is not None:
                kept.setdefault(entry, []).append(word)
        learn(project_id, kept)
