"""The nouns this app gives to the hub."""

from django.db.models import Count, Q

from ctxhub.core.nouns import Noun, register
from memory.models import Decision, DecisionStatus
from memory.selectors.decisions import open_decisions


def count_decisions(project_id: int) -> list[int]:
    counts = Decision.objects.in_project(project_id).aggregate(
        active=Count("pk", filter=Q(status=DecisionStatus.ACTIVE)), all=Count("pk")
    )
    return [counts["active"], counts["all"]]


register(Noun("decision", "decisions", Decision, count=count_decisions, open=open_decisions))
