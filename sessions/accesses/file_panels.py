"""What the page of a file shows of sessions: accesses to it, and dependencies in both directions."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F

from ctxhub.console.row_panels import RowPanel
from ctxhub.console.urls import list_url
from sessions.accesses.models import Access, ResourceDependency
from tracking.models import Resource

ACCESSES_SHOWN, DEPENDENCIES_SHOWN = 20, 50


def accesses_panel(file: Resource) -> RowPanel:
    accesses = Access.objects.in_project(file.project_id).filter(resource=file).select_related("agent")
    newest = list(accesses.order_by("-created_at", "-pk")[:ACCESSES_SHOWN])
    return RowPanel(
        "ctxhub/file_accesses.html",
        {"accesses": newest, "all_url": list_url("agent_sessions_access", file.project, q=file.path)},
    )


def dependencies_panel(file: Resource) -> RowPanel:
    """The strongest dependencies. `more`: there are more than are shown."""
    outgoing, incoming = _strongest(file, "source", "target"), _strongest(file, "target", "source")
    shown = {
        "outgoing": outgoing[:DEPENDENCIES_SHOWN],
        "incoming": incoming[:DEPENDENCIES_SHOWN],
        "more": max(len(outgoing), len(incoming)) > DEPENDENCIES_SHOWN,
        "all_url": list_url("agent_sessions_resourcedependency", file.project, q=file.path),
    }
    return RowPanel("ctxhub/file_dependencies.html", shown)


def _strongest(file: Resource, near: str, far: str) -> Sequence[Any]:
    rows = ResourceDependency.objects.in_project(file.project_id).filter(**{near: file})
    named = rows.annotate(path=F(f"{far}__path"), file_id=F(f"{far}_id"))
    ordered = named.order_by("-strength", "pk")
    return list(ordered.values("path", "file_id", "type", "strength")[: DEPENDENCIES_SHOWN + 1])
