"""Reads the names of agents."""

from collections.abc import Iterable

from django.db.models import F

from ctxhub.core.models import Agent, Project

KNOWN_AGENTS = 30


def agent_names(project_id: int, agent_ids: Iterable[int | None]) -> dict[int, str]:
    """The names of agents by id; makes no query for none."""
    ids = {agent_id for agent_id in agent_ids if agent_id}
    if not ids:
        return {}
    return dict(Agent.objects.in_project(project_id).filter(pk__in=ids).values_list("pk", "name"))


def is_agent_name(project_id: int, name: str) -> bool:
    """Whether an agent that is no person has this name."""
    agents = Agent.objects.in_project(project_id).filter(kind=Agent.Kind.AGENT)
    return agents.filter(folded=name.casefold()).exists()


def known_agents(project: Project) -> list[str]:
    """The names of the agents last seen, the latest first."""
    agents = Agent.objects.in_project(project).order_by(F("last_seen_at").desc(nulls_last=True), "folded")
    return list(agents.values_list("name", flat=True)[:KNOWN_AGENTS])
