"""Compares the search index, which is updated with every write, with one built from the rows."""

from collections import defaultdict
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.models import Project, SearchEntry, SearchText, SearchWord
from ctxhub.core.registry import indexed_nouns
from ctxhub.core.search.documents import PARTS, Document, known_words, passages, scope_words

Index = dict[tuple[str, int], Any]
"""Ref, time and passages of each object, by kind and id."""


def index_is_right(project: Project) -> None:
    """Assert that every object is indexed with its present text, and deleted objects are not indexed."""
    documents = _read_afresh(project)
    assert _indexed(project) == {key: _entry(project, key[0], d) for key, d in documents.items()}
    wanted = {word for document in documents.values() for word in known_words(document)}
    words = SearchWord.objects.in_project(project).values_list("word", flat=True)
    assert wanted <= set(words)
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
    """In one statement, as this is asked after some thousand tests."""
    tables = ((noun.kind, noun.model._meta.db_table) for noun in indexed_nouns())
    of_kinds = (f"SELECT '{kind}', id FROM {table} WHERE project_id = {project.pk}" for kind, table in tables)
    found = defaultdict(list)
    for kind, row_id in sql.rows(" UNION ALL ".join(of_kinds)):
        found[kind].append(row_id)
    return found


def _entry(project: Project, kind: str, document: Document) -> Any:
    scope = scope_words(project.pk, kind, document)
    found = [(p.part, p.start, p.size, p.words, scope) for p in passages(document)]
    return document.ref, document.at, found


def _indexed(project: Project) -> Index:
    entries = SearchEntry.objects.in_project(project)
    found = defaultdict(list)
    for text in SearchText.objects.in_project(project).order_by("pk"):
        found[text.pk // PARTS].append((text.pk % PARTS, text.start, text.size, text.words, text.scope))
    index = {(e.kind, e.object_id): (e.ref, e.updated_at, found.pop(e.pk, [])) for e in entries}
    assert not found, "These passages are of no entry."
    return index


def _engine_agrees() -> None:
    """SQLite compares its full text index with the table; the index of PostgreSQL cannot deviate."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO core_searchfts(core_searchfts, rank) VALUES ('integrity-check', 1)")
