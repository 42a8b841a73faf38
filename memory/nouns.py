"""The nouns this app gives to the hub."""

from django.db.models import Count

from ctxhub.core.nouns import Noun, register
from memory.models import Decision, DecisionStatus
from memory.selectors.decisions import open_decisions


def count_decisions(project_id: int) -> list[int]:
    decisions = Decision.objects.in_project(project_id).order_by().values_list("status")
    counts = dict(decisions.annotate(Count("pk")))
    return [counts.get(DecisionStatus.ACTIVE, 0), sum(counts.values())]


register(Noun("decision", "decisions", Decision, count=count_decisions, open=open_decisions))
