"""Compares the search index, which is updated with every write, with one built from the rows."""

from collections import defaultdict
from functools import cache
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.models import Project, SearchEntry
from ctxhub.core.registry import indexed_nouns
from ctxhub.core.search.documents import PARTS, Document, known_words, passages, scope_words

Index = dict[tuple[str, int], Any]
"""Ref, time and passages of each object, by kind and id."""

# Without Django's ORM, which would take most of the time: this is asked after some thousand tests.
TEXTS = "SELECT id, start, size, words, scope FROM core_searchtext WHERE project_id = %s ORDER BY id"


def index_is_right(project: Project) -> None:
    """Assert that every object is indexed with its present text, and deleted objects are not indexed."""
    documents = _read_afresh(project)
    assert _indexed(project) == {key: _entry(project, key[0], d) for key, d in documents.items()}
    wanted = {word for document in documents.values() for word in known_words(document)}
    if wanted:
        words = sql.rows("SELECT word FROM core_searchword WHERE project_id = %s", [project.pk])
        assert wanted <= {word for (word,) in words}
    _engine_agrees()


def _read_afresh(project: Project) -> dict[tuple[str, int], Document]:
    found: dict[tuple[str, int], Document] = {}
    ids = _ids_by_kind(project)
    for noun in indexed_nouns():
        assert noun.documents
        if noun.kind in ids:
            found |= {(noun.kind, d.object_id): d for d in noun.documents(project.pk, ids[noun.kind]).now()}
    return found


def _ids_by_kind(project: Project) -> dict[str, list[int]]:
    found = defaultdict(list)
    statement, count = _of_kinds()
    for kind, row_id in sql.rows(statement, [project.pk] * count):
        found[kind].append(row_id)
    return found


@cache
def _of_kinds() -> tuple[str, int]:
    """One statement with so many placeholders for the project."""
    tables = [(noun.kind, noun.model._meta.db_table) for noun in indexed_nouns()]
    selects = (f"SELECT '{kind}', id FROM {table} WHERE project_id = %s" for kind, table in tables)
    return " UNION ALL ".join(selects), len(tables)


def _entry(project: Project, kind: str, document: Document) -> Any:
    scope = scope_words(project.pk, kind, document)
    found = [(p.part, p.start, p.size, p.words, scope) for p in passages(document)]
    return document.ref, document.at, found


def _indexed(project: Project) -> Index:
    found = defaultdict(list)
    for text_id, *text in sql.rows(TEXTS, [project.pk]):
        found[text_id // PARTS].append((text_id % PARTS, *text))
    fields = ("pk", "kind", "object_id", "ref", "updated_at")
    entries = SearchEntry.objects.in_project(project).values_list(*fields)
    index = {(kind, of): (ref, at, found.pop(pk, [])) for pk, kind, of, ref, at in entries}
    assert not found, "These passages are of no entry."
    return index


def _engine_agrees() -> None:
    """SQLite compares its full text index with the table; the index of PostgreSQL cannot deviate."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO core_searchfts(core_searchfts, rank) VALUES ('integrity-check', 1)")
