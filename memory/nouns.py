"""The nouns this app gives to the hub."""

from collections.abc import Mapping

from ctxhub.core.nouns import Noun, register
from ctxhub.core.selectors.figures import Figures
from memory.models import Constraint, ConstraintStatus, Decision, DecisionStatus, DecisionTemplate
from memory.search.constraints import constraints_showing, read_constraint_documents
from memory.search.decisions import decisions_showing, read_decision_documents
from memory.selectors.constraints import open_constraints
from memory.selectors.decisions import ids_of_keys, open_decisions
from memory.selectors.templates import open_templates


def count_decisions(figures: Figures) -> list[int]:
    return [figures.of("decision", status=DecisionStatus.ACTIVE), figures.of("decision")]


def active_by_layer(figures: Figures) -> Mapping[int, int]:
    return figures.by_layer("decision", status=DecisionStatus.ACTIVE)


def count_constraints(figures: Figures) -> list[int]:
    return [figures.of("constraint", status=ConstraintStatus.ACTIVE), figures.of("constraint")]


def constraints_by_layer(figures: Figures) -> Mapping[int, int]:
    return figures.by_layer("constraint", status=ConstraintStatus.ACTIVE)


register(
    Noun(
        "decision",
        "decisions",
        Decision,
        count=count_decisions,
        open=open_decisions,
        by_layer=active_by_layer,
        documents=read_decision_documents,
        showing=decisions_showing,
        ids_of=ids_of_keys,
    )
)
register(
    Noun(
        "constraint",
        "constraints",
        Constraint,
        count=count_constraints,
        open=open_constraints,
        by_layer=constraints_by_layer,
        documents=read_constraint_documents,
        showing=constraints_showing,
    )
)
register(Noun("template", "templates", DecisionTemplate, open=open_templates))
