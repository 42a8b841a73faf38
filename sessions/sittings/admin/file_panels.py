"""What the page of a file shows of sessions: accesses to it, and dependencies in both directions."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import F
from django.urls import reverse

from sessions.sittings.models.resources import Access, ResourceDependency
from tracking.admin.resources import FilePanel, file_panels
from tracking.models import Resource

ACCESSES_SHOWN, DEPENDENCIES_SHOWN = 20, 50


def accesses_panel(file: Resource) -> FilePanel:
    accesses = Access.objects.in_project(file.project_id).filter(resource=file).select_related("agent")
    newest = list(accesses.order_by("-created_at", "-pk")[:ACCESSES_SHOWN])
    return FilePanel("ctxhub/file_accesses.html", {"accesses": newest, "all_url": _list_url("access", file)})


def dependencies_panel(file: Resource) -> FilePanel:
    """The strongest dependencies. `more`: there are more than are shown."""
    outgoing, incoming = _strongest(file, "source", "target"), _strongest(file, "target", "source")
    shown = {
        "outgoing": outgoing[:DEPENDENCIES_SHOWN],
        "incoming": incoming[:DEPENDENCIES_SHOWN],
        "more": max(len(outgoing), len(incoming)) > DEPENDENCIES_SHOWN,
        "all_url": _list_url("resourcedependency", file),
    }
    return FilePanel("ctxhub/file_dependencies.html", shown)


def _strongest(file: Resource, near: str, far: str) -> Sequence[Any]:
    rows = ResourceDependency.objects.in_project(file.project_id).filter(**{near: file})
    named = rows.annotate(path=F(f"{far}__path"), file_id=F(f"{far}_id"))
    ordered = named.order_by("-strength", "pk")
    return list(ordered.values("path", "file_id", "type", "strength")[: DEPENDENCIES_SHOWN + 1])


def _list_url(model: str, file: Resource) -> str:
    query = urlencode({"project": file.project.slug, "q": file.path})
    return f"{reverse(f'admin:agent_sessions_{model}_changelist')}?{query}"


file_panels.extend([accesses_panel, dependencies_panel])
