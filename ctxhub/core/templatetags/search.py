"""The search box in the top bar of every page."""

from typing import Any

from django import template
from django.template import RequestContext

from ctxhub.core.models import Project

register = template.Library()


@register.inclusion_tag("ctxhub/search_box.html", takes_context=True)
def search_box(context: RequestContext) -> dict[str, Any]:
    """For whoever sees a project, on pages that have no larger one; it looks in the project of the page."""
    # Tags are read while the admin's own classes are being made.
    from ctxhub.core.admin.access import access_of, chosen_project

    request = context["request"]
    is_shown = bool(access_of(request).projects) and not (
        context.get("is_popup") or context.get("has_large_search")
    )
    return {
        "is_shown": is_shown,
        "project": chosen_project(request) or _project_of(context),
        # On lists the key leads to the list's own box.
        "has_key": not getattr(context.get("cl"), "search_fields", None),
    }


def _project_of(context: RequestContext) -> Project | None:
    """That of the thing a page is about."""
    about = context.get("project") or getattr(context.get("original"), "project", None)
    return about if isinstance(about, Project) else None
