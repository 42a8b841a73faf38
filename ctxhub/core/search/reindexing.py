"""Repairs the index: missing, leftover and wrong entries. Runs while others write."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import touch_transaction, write_transaction
from ctxhub.core.models import Project
from ctxhub.core.registry import Noun, indexed_nouns
from ctxhub.core.search import schema
from ctxhub.core.search.documents import Document
from ctxhub.core.search.index import forget, index_again
from ctxhub.core.search.index_check import (
    compare,
    entries_of_unknown_kinds,
    entries_without_object,
    in_chunks,
    object_ids_of,
    objects_without_entry,
    orphan_passages,
    orphan_words,
    out_of_step,
    read_documents,
    wrong_parts,
)

# How much text is indexed under one write lock: about 50 ms.
BATCH_CHARACTERS = 100_000
PROGRESS_EVERY = 10_000

_FROM_SCRATCH = {
    "sqlite": (
        *schema.SQLITE_UNDO,
        *schema.SQLITE,
        schema.SQLITE_REBUILD,
    ),
    "postgresql": (*schema.POSTGRESQL_UNDO, *schema.POSTGRESQL),
}


@frozen
class Reindexed:
    """Progress: how many objects were compared, and how many of them were indexed again."""

    what: str
    looked_at: int
    mended: int


def mend_parts(*, thoroughly: bool = True) -> list[str]:
    """Recreate the index's tables, triggers and functions if one is wrong; returns what was, as sentences.

    `thoroughly`: also if all exist, but the index differs from the passages.
    """
    wrong = wrong_parts() or (out_of_step() if thoroughly else [])
    if wrong:
        with touch_transaction():
            for statement in _FROM_SCRATCH[connection.vendor]:
                sql.execute(statement)
    return wrong


def reindex(project_id: int) -> Iterator[Reindexed]:
    """Compare all objects with their entries, index again those that differ, and delete orphan rows.

    Yields the progress at the end of each noun, and every PROGRESS_EVERY objects.
    """
    # Orphans first: a writer that removes a word would assign it to an orphan passage's entry.
    yield _drop("passages of nothing", project_id, "core_searchtext", "id", orphan_passages(project_id))
    yield _drop("words of nothing", project_id, "core_searchword", "word", orphan_words(project_id))
    for noun in indexed_nouns():
        looked_at = mended = reported = 0
        leftover_ids = in_chunks(entries_without_object(noun, project_id))
        for ids in chain(leftover_ids, object_ids_of(noun, project_id)):
            comparison = compare(noun, project_id, ids)
            _index_again(noun, project_id, comparison.faults, comparison.documents)
            looked_at, mended = looked_at + len(ids), mended + len(comparison.faults)
            if looked_at - reported >= PROGRESS_EVERY:
                reported = looked_at
                yield Reindexed(noun.plural, looked_at, mended)
        yield Reindexed(noun.plural, looked_at, mended)
    yield _forget_other_kinds(project_id)


def index_missing() -> int:
    """Index the objects without an entry, in all projects; returns their number."""
    projects = Project.objects.values_list("pk", flat=True)
    return sum(count for project_id in projects for count in index_missing_of(project_id))


def index_missing_of(project_id: int) -> Iterator[int]:
    """Index a project's objects without an entry, in batches; yields the number of each batch."""
    for noun in indexed_nouns():
        for ids in in_chunks(objects_without_entry(noun, project_id)):
            documents = read_documents(noun, project_id, ids)
            _index_again(noun, project_id, [document.object_id for document in documents], documents)
            yield len(documents)


def _index_again(
    noun: Noun, project_id: int, object_ids: Iterable[int], documents: Sequence[Document]
) -> None:
    """Read and index objects under the write lock of the project, so that no newer write is overwritten.

    `documents`: these objects as read before, for their sizes.
    """
    sizes = {document.object_id: len(document.title) + len(document.body) for document in documents}
    for batch in _pieces((object_id, sizes.get(object_id, 0)) for object_id in object_ids):
        with write_transaction(project_id):
            index_again(project_id, noun.kind, batch)


def _pieces(sized: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Batch ids up to BATCH_CHARACTERS characters together; a larger object is alone."""
    batch: list[int] = []
    total = 0
    for object_id, size in sized:
        if batch and total + size > BATCH_CHARACTERS:
            yield batch
            batch, total = [], 0
        batch.append(object_id)
        total += size
    if batch:
        yield batch


def _forget_other_kinds(project_id: int) -> Reindexed:
    found = entries_of_unknown_kinds(project_id)
    with write_transaction(project_id):
        for kind in {kind for kind, _, _ in found}:
            forget(project_id, kind, [object_id for entry_kind, object_id, _ in found if entry_kind == kind])
    return Reindexed("things of other kinds", len(found), len(found))


def _drop(
    what: str, project_id: int, table: str, column: str, keys: Sequence[int] | Sequence[str]
) -> Reindexed:
    if keys:
        among, values = sql.among(column, keys)
        with write_transaction(project_id):
            sql.execute(
                f"DELETE FROM {table} WHERE project_id = %s AND {among}",
                [project_id, *values],
            )
    return Reindexed(what, len(keys), len(keys))
