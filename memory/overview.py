"""Dashboard cards and panels for decisions, constraints, memories, snapshots and workflows."""

from collections.abc import Sequence

from django.db.models import Count, Q
from django.db.models.functions import Left

from ctxhub.core.admin import dashboard
from ctxhub.core.admin.dashboard import Card, ListUrl, Panel
from memory.models import Constraint, ConstraintStatus, Decision, DecisionStatus, Memory, Snapshot, Workflow

NEWEST_SHOWN = 8
VALUE_SHOWN = 80


def decision_cards(project_ids: Sequence[int], list_url: ListUrl) -> list[Card]:
    rows = Decision.unscoped.filter(project__in=project_ids)
    statuses = {status.label: Count("pk", filter=Q(status=status)) for status in DecisionStatus}
    counts = rows.aggregate(**statuses)

    def url(status: DecisionStatus) -> str:
        return list_url("memory_decision", status__exact=status.value)

    return [
        Card("Decisions in force", counts["active"], "gavel", url(DecisionStatus.ACTIVE)),
        Card("Drafts", counts["draft"], "edit_note", url(DecisionStatus.DRAFT)),
        Card("Deprecated", counts["deprecated"], "inventory_2", url(DecisionStatus.DEPRECATED)),
    ]


def constraint_cards(project_ids: Sequence[int], list_url: ListUrl) -> list[Card]:
    in_force = Constraint.unscoped.filter(project__in=project_ids, status=ConstraintStatus.ACTIVE).count()
    url = list_url("memory_constraint", status__exact=ConstraintStatus.ACTIVE.value)
    return [Card("Constraints in force", in_force, "rule", url)]


def memory_cards(project_ids: Sequence[int], list_url: ListUrl) -> list[Card]:
    count = Memory.unscoped.filter(project__in=project_ids).count()
    return [Card("Memories", count, "lightbulb", list_url("memory_memory"))]


def snapshot_cards(project_ids: Sequence[int], list_url: ListUrl) -> list[Card]:
    count = Snapshot.unscoped.filter(project__in=project_ids).count()
    return [Card("Snapshots", count, "timeline", list_url("memory_snapshot"))]


def workflow_cards(project_ids: Sequence[int], list_url: ListUrl) -> list[Card]:
    count = Workflow.unscoped.filter(project__in=project_ids, is_active=True).count()
    return [Card("Open workflows", count, "account_tree", list_url("memory_workflow", state="open"))]


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


dashboard.cards += [decision_cards, constraint_cards, memory_cards, snapshot_cards, workflow_cards]
dashboard.panels += [newest_decisions, newest_memories]
