"""Reads contexts, memories and relationships from a Free Context database."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.importers.shared.files import NotReadable, OldTables, column_names, open_readonly, table_names
from ctxhub.importers.shared.values import moment_of, read_json, text_of

TABLES = ("contexts", "memories", "relationships")
REQUIRED = {"contexts": "name", "memories": "context_id"}


@frozen
class OldContext:
    """A context of Free Context. `extra`: its columns that become metadata here."""

    id: str | None
    name: str | None
    description: str
    tags: Any
    stack: str | None
    metadata: Any
    extra: dict[str, str]
    created_at: datetime | None
    updated_at: datetime | None


@frozen
class OldMemory:
    id: str | None
    context: str | None
    type: Any
    title: str | None
    content: str
    stack: str | None
    difficulty: Any
    tags: Any
    metadata: Any
    created_at: datetime | None
    updated_at: datetime | None


@frozen
class OldRelationship:
    source: str | None
    target: str | None
    type: Any
    strength: Any
    metadata: Any
    created_at: datetime | None
    updated_at: datetime | None


@frozen
class OldKnowledge:
    contexts: Sequence[OldContext]
    memories: Sequence[OldMemory]
    relationships: Sequence[OldRelationship]


def read_knowledge(path: Path) -> OldKnowledge:
    with _database(path) as tables:
        return OldKnowledge(list(_contexts(tables)), list(_memories(tables)), list(_relationships(tables)))


@contextmanager
def _database(path: Path) -> Iterator[OldTables]:
    with open_readonly(path) as connection:
        found = table_names(connection) & set(TABLES)
        columns = {table: column_names(connection, table) for table in found}
        if any(column not in columns.get(table, ()) for table, column in REQUIRED.items()):
            raise NotReadable(
                f"{path} is not a database of Free Context: it has no contexts with their memories."
            )
        yield OldTables(connection, {table: table for table in found}, columns)


def _contexts(tables: OldTables) -> Iterator[OldContext]:
    for (
        row_id,
        name,
        description,
        tags,
        stack,
        difficulty,
        metadata,
        prompt,
        created_at,
        updated_at,
    ) in tables.rows(
        "contexts",
        *("id", "name", "description", "tags", "stack", "difficulty", "metadata", "system_prompt"),
        *("created_at", "updated_at"),
    ):
        extra = {"difficulty": text_of(difficulty), "system_prompt": text_of(prompt)}
        yield OldContext(
            id=text_of(row_id),
            name=text_of(name),
            description=text_of(description) or "",
            tags=read_json(tags),
            stack=text_of(stack),
            metadata=read_json(metadata),
            extra={key: value for key, value in extra.items() if value},
            created_at=moment_of(created_at),
            updated_at=moment_of(updated_at),
        )


def _memories(tables: OldTables) -> Iterator[OldMemory]:
    for (
        row_id,
        context,
        kind,
        title,
        content,
        stack,
        difficulty,
        tags,
        metadata,
        created_at,
        updated_at,
    ) in tables.rows(
        "memories",
        *("id", "context_id", "type", "title", "content", "stack", "difficulty", "tags", "metadata"),
        *("created_at", "updated_at"),
    ):
        yield OldMemory(
            id=text_of(row_id),
            context=text_of(context),
            type=text_of(kind),
            title=text_of(title),
            content=text_of(content) or "",
            stack=text_of(stack),
            difficulty=text_of(difficulty),
            tags=read_json(tags),
            metadata=read_json(metadata),
            created_at=moment_of(created_at),
            updated_at=moment_of(updated_at),
        )


def _relationships(tables: OldTables) -> Iterator[OldRelationship]:
    for source, target, kind, strength, metadata, created_at, updated_at in tables.rows(
        "relationships",
        *("source_id", "target_id", "type", "strength", "metadata", "created_at", "updated_at"),
    ):
        yield OldRelationship(
            source=text_of(source),
            target=text_of(target),
            type=text_of(kind),
            strength=strength,
            metadata=read_json(metadata),
            created_at=moment_of(created_at),
            updated_at=moment_of(updated_at),
        )
