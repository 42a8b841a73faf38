"""What nobody was given: old enough, and in no recorded answer; for the page of use."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.urls import reverse

from ctxhub.console.use.page import Unread
from ctxhub.core.accounts.config import read_config
from ctxhub.core.kit import clock, sql
from ctxhub.core.models import Project
from memory.decisions.models import DecisionStatus

_OBJECTS = {
    "decision": ("memory_decision", "d.key", f"AND d.status = {DecisionStatus.ACTIVE.value}"),
    "memory": ("memory_memory", "d.title", ""),
}


class NeverGiven(NamedTuple):
    """How many objects in `total`, and the oldest of them as (id, text)."""

    total: int
    oldest: list[tuple[int, str]]


def read_never_given(project_id: int, kind: str, before: datetime, limit: int) -> NeverGiven:
    """The objects of a kind from before a time that no recorded answer had."""
    table, text, condition = _OBJECTS[kind]
    never = f"""
        FROM {table} d WHERE d.project_id = %s AND d.created_at < %s {condition} AND NOT EXISTS (
            SELECT 1 FROM agent_sessions_briefingitem i
            WHERE i.project_id = %s AND i.kind = %s AND i.object_id = d.id)"""
    values = [project_id, sql.stored_time(before), project_id, kind]
    [(count,)] = sql.rows(f"SELECT count(*) {never}", values)
    oldest = sql.rows(f"SELECT d.id, {text} {never} ORDER BY d.created_at, d.id LIMIT %s", [*values, limit])
    return NeverGiven(int(count), oldest)


def never_given(project_id: int, kind: str, before: datetime, limit: int) -> NeverGiven:
    """How many decisions in force ("decision") or memories ("memory") from before a time, and the oldest."""
    return read_never_given(project_id, kind, before, limit)


OLD = timedelta(days=7)
TITLES = {"decision": "Decisions nobody was given", "memory": "Memories nobody was given"}
PAGES = {"decision": "admin:memory_decision_change", "memory": "admin:memory_memory_change"}


def find_never_given(project: Project, limit: int) -> Sequence[Unread]:
    """Nothing where the project does not record what agents are given."""
    if not read_config(project.config).record_given:
        return []
    before = clock.now() - OLD
    kinds = []
    for kind, title in TITLES.items():
        found = never_given(project.pk, kind, before, limit)
        rows = [(text, reverse(PAGES[kind], args=[object_id])) for object_id, text in found.oldest]
        kinds.append(Unread(title, found.total, rows))
    return kinds
