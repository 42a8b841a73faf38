"""Writes decisions in bulk, with one statement per table."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Links
from memory.decisions.rows.decisions import DECISIONS, DecisionRow

_NOT_UPDATED = ("project_id", "key", "created_at")


def upsert_decisions(project_id: int, decisions: Sequence[DecisionRow]) -> dict[str, int]:
    """Insert or update all rows. Returns the ids by key. `write_links` writes tags and scopes."""
    changes = ", ".join(
        f"{column} = excluded.{column}" for column in DECISIONS.columns if column not in _NOT_UPDATED
    )
    written = sql.insert(
        "memory_decision",
        DECISIONS.columns,
        DECISIONS.records(project_id, decisions),
        f"ON CONFLICT (project_id, key) DO UPDATE SET {changes} RETURNING key, id",
    )
    return dict(written)


def write_links(
    links: Links,
    project_id: int,
    wanted: Mapping[int, Iterable[int]],
    existed: Collection[int],
    moments: Mapping[int, datetime],
) -> None:
    """Replace the tags or scopes of decisions; only those in `existed` have old links to delete."""
    if old := [decision for decision in wanted if decision in existed]:
        sql.execute(f"DELETE FROM {links.table} WHERE decision_id IN ({sql.marks(old)})", old)
    if records := [
        (project_id, decision, word, sql.stored_time(moments[decision]))
        for decision, words in wanted.items()
        for word in words
    ]:
        sql.insert(links.table, ("project_id", "decision_id", links.column, "updated_at"), records)


def touch_links(links: Links, decision_ids: Sequence[int], at: datetime | None = None) -> None:
    """Update the copy of `updated_at` on unchanged links to `at`, or to the decision's own time."""
    if decision_ids:
        own = f"(SELECT d.updated_at FROM memory_decision d WHERE d.id = {links.table}.decision_id)"
        moment, values = ("%s", [sql.stored_time(at)]) if at else (own, [])
        statement = (
            f"UPDATE {links.table} SET updated_at = {moment} WHERE decision_id IN ({sql.marks(decision_ids)})"
        )
        sql.execute(statement, [*values, *decision_ids])


def insert_revisions(project_id: int, decisions: Iterable[DecisionRow]) -> dict[int, int]:
    """Store each decision as a revision. Returns the revision ids by decision id."""
    rows = sql.insert(
        "memory_decisionrevision",
        (
            *(
                "project_id",
                "decision_id",
                "value",
                "value_type",
                "number",
                "version",
                "status",
                "agent_id",
                "at",
            ),
            "data",
        ),
        [
            (
                *(
                    project_id,
                    row.id,
                    row.value,
                    row.value_type,
                    row.number,
                    row.version,
                    row.status,
                    row.agent_id,
                ),
                sql.stored_time(row.updated_at),
                sql.stored_json(row.revision_data),
            )
            for row in decisions
        ],
        "RETURNING decision_id, id",
    )
    return dict(rows)
