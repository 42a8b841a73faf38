"""Template filters for the names of agents: each is a link to the agent's page."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ctxhub.core.models import Agent

register = template.Library()

SYSTEM = "system"


def agent_url(agent_id: int | None) -> str:
    """The URL of an agent's page; "" without an id."""
    return reverse("admin:core_agent_change", args=[agent_id]) if agent_id else ""


@register.filter
def agent_link(agent: Agent | None) -> SafeString:
    """The name of a row's agent, which has to come with the row."""
    return link_to_agent(agent.name, agent.pk) if agent else link_to_agent(SYSTEM, None)


@register.filter
def link_to_agent(name: str, agent_id: int | None) -> SafeString:
    """A name as a link; without an id, as nobody of this name is registered, as text."""
    if not agent_id:
        return format_html('<span class="ctx-agent">{}</span>', name)
    return format_html('<a class="ctx-agent" href="{}">{}</a>', agent_url(agent_id), name)
