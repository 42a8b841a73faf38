"""The steps from the page of a row to its neighbours in the list that it was opened from."""

from typing import Any

from django import template
from django.template import RequestContext

register = template.Library()


@register.inclusion_tag("ctxhub/list_steps.html", takes_context=True)
def list_steps(context: RequestContext) -> dict[str, Any]:
    # A circular import otherwise: template tags load while the admin's classes are defined.
    from ctxhub.console.rows import steps

    return {"steps": steps.list_steps(context["request"])}
