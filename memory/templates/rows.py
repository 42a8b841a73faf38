"""Reads templates: a project's own, and the names of built-in ones that it does not override."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.ordering import Way
from ctxhub.core.kit.rows import Derived, Row, Table
from memory.templates.models import DecisionTemplate


@frozen(kw_only=True)
class TemplateRow(Row):
    name: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    require: Sequence[str] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)


OWN_TEMPLATES = Table(
    DecisionTemplate,
    TemplateRow,
    derived={"folded": Derived(of=["name"], value=lambda row: row.name.casefold())},
)

READ = ("name", "defaults", "require", "patterns", "created_at", "updated_at")


def find_own_template(project_id: int, name: str) -> TemplateRow | None:
    """Return the project's own template of this name, or None."""
    found = OWN_TEMPLATES.find(project_id, ("d.folded = %s", [name.casefold()]))
    return found[0] if found else None


def find_own_templates(project_id: int, casefolded: Sequence[str]) -> list[TemplateRow]:
    """Return the project's own templates of these case-folded names, without their authors."""
    return OWN_TEMPLATES.find(project_id, sql.among("d.folded", casefolded), READ)


def list_templates(
    project_id: int, built_in: Sequence[str], limit: int, after: str | None, way: Way
) -> list[tuple[Any, ...]]:
    """Return one page by case-folded name; built-in ones have only that name. The database sorts."""
    after_condition, after_values = way.behind("t.folded", after)
    names = ", ".join(["(%s)"] * len(built_in))
    found = sql.rows(
        f"""
        SELECT folded, name, defaults, require, patterns FROM (
            SELECT * FROM (
                SELECT t.folded, t.name, t.defaults, t.require, t.patterns FROM memory_decisiontemplate t
                WHERE t.project_id = %s {after_condition} ORDER BY {way.of("t.folded")} LIMIT %s) own
            UNION ALL
            SELECT t.folded, NULL, NULL, NULL, NULL FROM (SELECT column1 AS folded FROM (VALUES {names}) v) t
            WHERE NOT EXISTS (
                SELECT 1 FROM memory_decisiontemplate o WHERE o.project_id = %s AND o.folded = t.folded)
            {after_condition}) page
        ORDER BY {way.of("folded")} LIMIT %s""",
        [project_id, *after_values, limit, *built_in, project_id, *after_values, limit],
    )
    return [_read(row) for row in found]


def _read(row: Sequence[Any]) -> tuple[Any, ...]:
    folded, name, *rest = row
    return (folded, name, *(sql.read_json(value) for value in rest))
