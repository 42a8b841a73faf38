"""The nouns this app gives to the hub."""

from collections.abc import Mapping

from ctxhub.core.nouns import Noun, register
from ctxhub.core.selectors.figures import Figures
from memory.models import Decision, DecisionStatus
from memory.selectors.decisions import open_decisions


def count_decisions(figures: Figures) -> list[int]:
    return [figures.of("decision", status=DecisionStatus.ACTIVE), figures.of("decision")]


def active_by_layer(figures: Figures) -> Mapping[int, int]:
    return figures.by_layer("decision", status=DecisionStatus.ACTIVE)


register(
    Noun(
        "decision",
        "decisions",
        Decision,
        count=count_decisions,
        open=open_decisions,
        by_layer=active_by_layer,
    )
)
