"""Puts the index right: what is missing, left over, or other than it should be. Writers go on beside it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.transactions import touch_transaction, write_transaction
from ctxhub.core.models import Project
from ctxhub.core.registry import Noun, indexed_nouns
from ctxhub.core.search import schema
from ctxhub.core.search.documents import Document
from ctxhub.core.search.selectors.index_check import compare
from ctxhub.core.search.selectors.index_parts import out_of_step, wrong_parts
from ctxhub.core.search.selectors.index_rows import (
    entries_of_no_kind,
    entries_without_object,
    in_chunks,
    objects_without_entry,
    passages_of_nothing,
    read_documents,
    things,
    words_of_nothing,
)
from ctxhub.core.search.services.index import forget, index_again

# How much text is made into words while writers wait: about 50 ms.
CHARACTERS_AT_ONCE = 100_000
TOLD_EVERY = 10_000

_FROM_SCRATCH = {
    "sqlite": (
        *schema.SQLITE_UNDO,
        *schema.SQLITE,
        f"INSERT INTO {schema.FTS_TABLE}({schema.FTS_TABLE}) VALUES ('rebuild')",  # noqa: S608
    ),
    "postgresql": (*schema.POSTGRESQL_UNDO, *schema.POSTGRESQL),
}


@dataclass(frozen=True, slots=True)
class Reindexed:
    """How much has been looked at, and how much of it was not right."""

    what: str
    looked_at: int
    mended: int


def mend_parts(*, thoroughly: bool = True) -> list[str]:
    """Make the engine's own parts of the index again where one is wrong; what was wrong, as sentences.

    `thoroughly`: also where they are all there, but look up other words than the passages have.
    """
    wrong = wrong_parts() or (out_of_step() if thoroughly else [])
    if wrong:
        with touch_transaction():
            for statement in _FROM_SCRATCH[connection.vendor]:
                sql.execute(statement)
    return wrong


def reindex(project_id: int) -> Iterator[Reindexed]:
    """Compare all there is with its entry, and index again what differs; drop what is of nothing.

    Tells how far it is: of each noun at its end, and every TOLD_EVERY things.
    """
    # First what no writer must find meanwhile: a word that one of them takes away is left to whatever has it.
    yield _drop("passages of nothing", project_id, "core_searchtext", "id", passages_of_nothing(project_id))
    yield _drop("words of nothing", project_id, "core_searchword", "word", words_of_nothing(project_id))
    for noun in indexed_nouns():
        looked_at = mended = told = 0
        gone = in_chunks(entries_without_object(noun, project_id))
        for ids in chain(gone, things(noun, project_id)):
            found = compare(noun, project_id, ids)
            _index_again(noun, project_id, found.faults, found.documents)
            looked_at, mended = looked_at + len(ids), mended + len(found.faults)
            if looked_at - told >= TOLD_EVERY:
                told = looked_at
                yield Reindexed(noun.plural, looked_at, mended)
        yield Reindexed(noun.plural, looked_at, mended)
    yield _forget_other_kinds(project_id)


def index_missing() -> int:
    """Make findable what has no entry yet, in all projects; how many things that were."""
    count = 0
    for project_id in Project.objects.values_list("pk", flat=True):
        for noun in indexed_nouns():
            for ids in in_chunks(objects_without_entry(noun, project_id)):
                documents = read_documents(noun, project_id, ids)
                _index_again(noun, project_id, [document.object_id for document in documents], documents)
                count += len(documents)
    return count


def _index_again(
    noun: Noun, project_id: int, object_ids: Iterable[int], documents: Sequence[Document]
) -> None:
    """Read and written in one turn of the project's, so that no writer is overtaken.

    `documents` are what has been read of them before, for their sizes.
    """
    sizes = {document.object_id: len(document.title) + len(document.body) for document in documents}
    for some in _pieces((object_id, sizes.get(object_id, 0)) for object_id in object_ids):
        with write_transaction(project_id):
            index_again(project_id, noun.kind, some)


def _pieces(sized: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """As many at once as have so many characters together; what has more is alone."""
    piece: list[int] = []
    total = 0
    for object_id, size in sized:
        if piece and total + size > CHARACTERS_AT_ONCE:
            yield piece
            piece, total = [], 0
        piece.append(object_id)
        total += size
    if piece:
        yield piece


def _forget_other_kinds(project_id: int) -> Reindexed:
    found = entries_of_no_kind(project_id)
    with write_transaction(project_id):
        for kind in {kind for kind, _, _ in found}:
            forget(project_id, kind, [object_id for own, object_id, _ in found if own == kind])
    return Reindexed("things of other kinds", len(found), len(found))


def _drop(
    what: str, project_id: int, table: str, column: str, found: Sequence[int] | Sequence[str]
) -> Reindexed:
    if found:
        among, values = sql.among(column, found)
        with write_transaction(project_id):
            sql.execute(
                f"DELETE FROM {table} WHERE project_id = %s AND {among}",  # noqa: S608
                [project_id, *values],
            )
    return Reindexed(what, len(found), len(found))
