"""Reads snapshots from a WakeIQX database of any version, or from the SQL text that Cloudflare exports."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from ctxhub.core.kit.errors import shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.importers.shared.files import NotReadable, OldTables, column_names, open_readonly, table_names
from ctxhub.importers.shared.values import moment_of, read_json, text_of
from ctxhub.importers.wakeiqx.exports import is_export, open_export

TABLE = "context_snapshots"
REQUIRED = ("id", "summary")
PROJECTS_NAMED = 20


@frozen
class OldSnapshot:
    """A row of WakeIQX; what its version lacks is None or empty. `cause` is an id, `dependencies` JSON."""

    id: str | None
    project: str | None
    summary: str
    source: str | None
    metadata: Any
    tags: Sequence[str]
    at: datetime | None
    action_type: Any
    rationale: str
    dependencies: Any
    cause: str | None
    tier: Any
    last_accessed: datetime | None
    access_count: Any
    score: Any
    predicted_at: datetime | None
    predicted_next: datetime | None
    reasons: Any


def read_snapshots(path: Path, project: str | None = None) -> list[OldSnapshot]:
    """The rows of all projects, or of the named one. Raises NotReadable."""
    with _database(path) as tables:
        found = list(_snapshots(tables))
    if project is None:
        return found
    wanted = project.strip().casefold()
    own = [old for old in found if (old.project or "").strip().casefold() == wanted]
    if not own:
        raise NotReadable(f"It has no project {project!r}; its projects: {_listed(found)}.")
    return own


@contextmanager
def _database(path: Path) -> Iterator[OldTables]:
    with (open_export if is_export(path) else open_readonly)(path) as connection:
        columns = column_names(connection, TABLE) if TABLE in table_names(connection) else []
        if any(column not in columns for column in REQUIRED):
            raise NotReadable(f"{path} is not a database of WakeIQX: it has no {TABLE} with their summaries.")
        yield OldTables(connection, {TABLE: TABLE}, {TABLE: columns})


def _snapshots(tables: OldTables) -> Iterator[OldSnapshot]:
    for (
        row_id,
        project,
        summary,
        source,
        metadata,
        tags,
        at,
        action_type,
        rationale,
        dependencies,
        cause,
        tier,
        last_accessed,
        access_count,
        score,
        predicted_at,
        predicted_next,
        reasons,
    ) in tables.rows(
        TABLE,
        *("id", "project", "summary", "source", "metadata", "tags", "timestamp"),
        *("action_type", "rationale", "dependencies", "caused_by"),
        *("memory_tier", "last_accessed", "access_count"),
        *("prediction_score", "last_predicted", "predicted_next_access", "propagation_reason"),
    ):
        yield OldSnapshot(
            id=text_of(row_id),
            project=text_of(project),
            summary=text_of(summary) or "",
            source=text_of(source),
            metadata=read_json(metadata),
            tags=_tags(read_json(tags)),
            at=moment_of(at),
            action_type=text_of(action_type),
            rationale=text_of(rationale) or "",
            dependencies=read_json(dependencies),
            cause=text_of(cause),
            tier=text_of(tier),
            last_accessed=moment_of(last_accessed),
            access_count=access_count,
            score=score,
            predicted_at=moment_of(predicted_at),
            predicted_next=moment_of(predicted_next),
            reasons=read_json(reasons),
        )


def _tags(value: Any) -> list[str]:
    """The texts of tags in a JSON list, or in one text, which may hold several."""
    entries = value if isinstance(value, list) else [text_of(value) or ""]
    return [tag for tag in entries if isinstance(tag, str) and tag.strip()]


def _listed(found: Iterable[OldSnapshot]) -> str:
    names = sorted({old.project for old in found if old.project})
    more = ", …" if len(names) > PROJECTS_NAMED else ""
    return ", ".join(map(shown, names[:PROJECTS_NAMED])) + more
