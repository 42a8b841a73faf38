"""The search box in the top bar of every page, and the palette."""

from typing import Any

from django import template
from django.template import RequestContext

from ctxhub.core.models import Project

register = template.Library()


@register.inclusion_tag("ctxhub/search_box.html", takes_context=True)
def search_box(context: RequestContext) -> dict[str, Any]:
    """The box searches the page's project. It is hidden from people without one and beside a larger box."""
    # A circular import otherwise: template tags load while the admin's classes are defined.
    from ctxhub.console.access import access_of, chosen_project

    request = context["request"]
    is_shown = bool(access_of(request).projects) and not (
        context.get("is_popup") or context.get("has_large_search")
    )
    return {
        "is_shown": is_shown,
        "project": chosen_project(request) or _project_of(context),
        # On lists the key / focuses the list's own search box.
        "has_key": not getattr(context.get("cl"), "search_fields", None),
    }


@register.inclusion_tag("ctxhub/palette.html", takes_context=True)
def search_palette(context: RequestContext) -> dict[str, Any]:
    """The palette searches the page's project, or the person's projects."""
    from ctxhub.console.access import access_of, shown_project

    request = context.get("request")
    if request is None or context.get("is_popup") or not access_of(request).projects:
        return {"is_shown": False}
    return {"is_shown": True, "project": shown_project(request) or _project_of(context)}


def _project_of(context: RequestContext) -> Project | None:
    """The project of the page's row."""
    project = context.get("project") or getattr(context.get("original"), "project", None)
    return project if isinstance(project, Project) else None
