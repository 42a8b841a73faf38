"""What the index tells of decisions and constraints."""

from collections.abc import Sequence

from django.db.models import Count, Q
from django.db.models.functions import Left

from ctxhub.core.admin import dashboard
from ctxhub.core.admin.dashboard import Card, Panel, Place
from memory.models import Constraint, ConstraintStatus, Decision, DecisionStatus

NEWEST_SHOWN = 8
VALUE_SHOWN = 80


def decision_cards(project_ids: Sequence[int], place: Place) -> list[Card]:
    rows = Decision.unscoped.filter(project__in=project_ids)
    statuses = {status.label: Count("pk", filter=Q(status=status)) for status in DecisionStatus}
    found = rows.aggregate(**statuses)

    def url(status: DecisionStatus) -> str:
        return place("memory_decision", status__exact=status.value)

    return [
        Card("Decisions in force", found["active"], "gavel", url(DecisionStatus.ACTIVE)),
        Card("Drafts", found["draft"], "edit_note", url(DecisionStatus.DRAFT)),
        Card("Deprecated", found["deprecated"], "inventory_2", url(DecisionStatus.DEPRECATED)),
    ]


def constraint_cards(project_ids: Sequence[int], place: Place) -> list[Card]:
    in_force = Constraint.unscoped.filter(project__in=project_ids, status=ConstraintStatus.ACTIVE).count()
    url = place("memory_constraint", status__exact=ConstraintStatus.ACTIVE.value)
    return [Card("Constraints in force", in_force, "rule", url)]


def newest_decisions(project_ids: Sequence[int], place: Place) -> Panel:
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
        place("memory_decision"),
    )


dashboard.cards += [decision_cards, constraint_cards]
dashboard.panels.append(newest_decisions)
