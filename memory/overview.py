"""Counts what memory holds, and lists new decisions and memories, for the first page."""

from collections.abc import Sequence

from django.db.models.functions import Left

from ctxhub.console.dashboard import Amount, ListUrl, Panel, counting, tallied
from memory.models import ConstraintStatus, Decision, DecisionStatus, Memory, Workflow

NEWEST_SHOWN = 8
VALUE_SHOWN = 80


def knowledge_amounts(project_ids: Sequence[int], list_url: ListUrl) -> list[Amount]:
    def decisions(plural: str, status: DecisionStatus, which: str = "") -> Amount:
        url = list_url("memory_decision", status__exact=status.value)
        return Amount(plural, tallied("decision", project_ids, status=status.value), url, which)

    in_force = ConstraintStatus.ACTIVE.value
    workflows = Workflow.unscoped.filter(project__in=project_ids, is_active=True)
    return [
        decisions("decisions", DecisionStatus.ACTIVE, "in force"),
        decisions("drafts", DecisionStatus.DRAFT),
        decisions("deprecated decisions", DecisionStatus.DEPRECATED),
        Amount(
            "constraints",
            tallied("constraint", project_ids, status=in_force),
            list_url("memory_constraint", status__exact=in_force),
            "in force",
        ),
        Amount("memories", tallied("memory", project_ids), list_url("memory_memory")),
        Amount("snapshots", tallied("snapshot", project_ids), list_url("memory_snapshot")),
        Amount("open workflows", counting(workflows), list_url("memory_workflow", state="open")),
    ]


def newest_decisions(project_ids: Sequence[int], list_url: ListUrl) -> Panel:
    rows = Decision.unscoped.filter(project__in=project_ids).select_related("project", "agent")
    newest = (
        rows.only("key", "version", "status", "updated_at", "project", "agent")
        .annotate(beginning=Left("value", VALUE_SHOWN))
        .order_by("-updated_at", "-pk")
    )
    return Panel(
        "Newest decisions",
        "ctxhub/newest_decisions.html",
        list(newest[:NEWEST_SHOWN]),
        list_url("memory_decision"),
    )


def newest_memories(project_ids: Sequence[int], list_url: ListUrl) -> Panel:
    rows = Memory.unscoped.filter(project__in=project_ids).select_related("project", "agent", "context")
    newest = rows.defer("content", "metadata", "paths").order_by("-updated_at", "-pk")
    return Panel(
        "Newest memories",
        "ctxhub/newest_memories.html",
        list(newest[:NEWEST_SHOWN]),
        list_url("memory_memory"),
    )
