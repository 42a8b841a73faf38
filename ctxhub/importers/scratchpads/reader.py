"""Reads workflows and scratchpads, in the published schema or the one the real program uses."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.importers.shared.files import NotReadable, OldTables, column_names, open_readonly, table_names
from ctxhub.importers.shared.imported import parse_bool
from ctxhub.importers.shared.values import moment_of, read_json, text_of

TABLES = ("workflows", "scratchpads")


@frozen
class OldWorkflow:
    """A workflow of Scratchpad MCP. `extra`: its columns that become metadata here."""

    id: str | None
    name: str | None
    metadata: Any
    extra: dict[str, str]
    is_active: bool
    created_at: datetime | None
    updated_at: datetime | None


@frozen
class OldPad:
    workflow: str | None
    name: str | None
    content: str
    created_at: datetime | None
    updated_at: datetime | None


@frozen
class OldPads:
    workflows: Sequence[OldWorkflow]
    pads: Sequence[OldPad]


def read_pads(path: Path) -> OldPads:
    with _database(path) as tables:
        return OldPads(list(_workflows(tables)), list(_pads(tables)))


@contextmanager
def _database(path: Path) -> Iterator[OldTables]:
    with open_readonly(path) as connection:
        found = table_names(connection) & set(TABLES)
        columns = {table: column_names(connection, table) for table in found}
        if len(found) < len(TABLES) or "workflow_id" not in columns["scratchpads"]:
            raise NotReadable(
                f"{path} is not a database of scratchpads: it has no workflows with their scratchpads."
            )
        yield OldTables(connection, {table: table for table in found}, columns)


def _workflows(tables: OldTables) -> Iterator[OldWorkflow]:
    for row_id, name, metadata, description, scope, is_active, created_at, updated_at in tables.rows(
        "workflows",
        *("id", "name", "metadata", "description", "project_scope", "is_active", "created_at", "updated_at"),
    ):
        extra = {"description": text_of(description), "project_scope": text_of(scope)}
        yield OldWorkflow(
            id=text_of(row_id),
            name=text_of(name),
            metadata=read_json(metadata),
            extra={key: value for key, value in extra.items() if value},
            is_active=parse_bool(is_active),
            created_at=moment_of(created_at),
            updated_at=moment_of(updated_at),
        )


def _pads(tables: OldTables) -> Iterator[OldPad]:
    for workflow, name, content, created_at, updated_at in tables.rows(
        "scratchpads", "workflow_id", "name|title", "content", "created_at", "updated_at"
    ):
        yield OldPad(
            workflow=text_of(workflow),
            name=text_of(name),
            content=text_of(content) or "",
            created_at=moment_of(created_at),
            updated_at=moment_of(updated_at),
        )
