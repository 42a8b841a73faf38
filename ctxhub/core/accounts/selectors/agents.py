"""Reads the names and ids of agents."""

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from django.db.models import F, Model, OuterRef, QuerySet, Subquery

from ctxhub.core.kit import sql
from ctxhub.core.kit.inputs import clean_name
from ctxhub.core.models import Agent, Project

KNOWN_AGENTS = 30

RowT = TypeVar("RowT", bound=Model)


def agent_names(project_id: int, agent_ids: Iterable[int | None]) -> dict[int, str]:
    """The names of agents by id; makes no query for none."""
    ids = {agent_id for agent_id in agent_ids if agent_id}
    if not ids:
        return {}
    return dict(Agent.objects.in_project(project_id).filter(pk__in=ids).values_list("pk", "name"))


def with_agent_pk(rows: QuerySet[RowT], folded: str = "folded") -> QuerySet[RowT]:
    """Annotate rows that store an agent by name with `agent_pk`: None if nobody of it is registered."""
    agents = Agent.unscoped.filter(project=OuterRef("project"), folded=OuterRef(folded))
    annotated: Any = rows.annotate(agent_pk=Subquery(agents.values("pk")[:1]))
    return cast("QuerySet[RowT]", annotated)


def find_agent_id(project_id: int, name: str) -> int | None:
    """The id of the registered agent of this name."""
    statement = "SELECT id FROM core_agent WHERE project_id = %s AND folded = %s"
    found = sql.rows(statement, [project_id, name.casefold()])
    return int(found[0][0]) if found else None


def author_id(project_id: int, by: str) -> int:
    """The id of the agent that the filter `by` of a list names; 0, which nobody has, if it is unknown."""
    return find_agent_id(project_id, clean_name(by, "by")) or 0


def ids_of_names(project_id: int, folded: Iterable[str]) -> dict[str, int]:
    """The ids of registered agents by case-folded name; makes no query for none."""
    names = {*folded}
    if not names:
        return {}
    return dict(Agent.objects.in_project(project_id).filter(folded__in=names).values_list("folded", "pk"))


def is_agent_name(project_id: int, name: str) -> bool:
    """Whether an agent that is no person has this name."""
    agents = Agent.objects.in_project(project_id).filter(kind=Agent.Kind.AGENT)
    return agents.filter(folded=name.casefold()).exists()


def known_agents(project: Project) -> list[str]:
    """The names of the agents last seen, the latest first."""
    agents = Agent.objects.in_project(project).order_by(F("last_seen_at").desc(nulls_last=True), "folded")
    return list(agents.values_list("name", flat=True)[:KNOWN_AGENTS])
