"""Counts what memory holds, for the first page."""

from collections.abc import Sequence

from ctxhub.console.dashboard import Amount, ListUrl, counting, tallied
from memory.models import ConstraintStatus, DecisionStatus, Workflow


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
