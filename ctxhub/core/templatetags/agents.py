"""Template filters for the names of agents: each has the agent's mark, and is a link to its page."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ctxhub.core.models import Agent
from ctxhub.core.templatetags.agent_marks import mark_of, mark_of_name

register = template.Library()

SYSTEM = "system"


def agent_url(agent_id: int | None) -> str:
    """The URL of an agent's page; "" without an id."""
    return reverse("admin:core_agent_change", args=[agent_id]) if agent_id else ""


@register.filter
def agent_mark(agent_id: int | None) -> SafeString | str:
    """The drawing that stands before an agent's name; "" of the system and of who is not registered."""
    mark = mark_of(agent_id)
    return mark.svg if mark else ""


@register.filter
def mark_of_named(name: str, project_id: int) -> SafeString | str:
    """As `agent_mark`, where only the agent's name is known."""
    mark = mark_of_name(project_id, name)
    return mark.svg if mark else ""


@register.filter
def agent_link(agent: Agent | None) -> SafeString:
    """The name of a row's agent, which has to come with the row."""
    return link_to_agent(agent.name, agent.pk) if agent else link_to_agent(SYSTEM, None)


@register.filter
def link_to_agent(name: str, agent_id: int | None) -> SafeString:
    """A name as a link; without an id, as nobody of this name is registered, as text."""
    return named_link("ctx-agent", name, agent_id)


def named_link(css_class: str, name: str, agent_id: int | None, shown: str = "") -> SafeString:
    """A link with the mark and the name. `shown`: the name as it is cut; the tooltip then has it whole."""
    title = format_html(' title="{}"', name) if shown else ""
    if not agent_id:
        return format_html('<span class="{}"{}>{}</span>', css_class, title, shown or name)
    link = '<a class="{}"{} href="{}">{}{}</a>'
    return format_html(link, css_class, title, agent_url(agent_id), agent_mark(agent_id), shown or name)
