"""What an agent did in a session, by time: its events, its accesses to files, the snapshots saved in it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models.functions import Left
from django.urls import reverse

from ctxhub.core.admin.refs import page_of_row
from ctxhub.core.admin.urls import list_url
from ctxhub.core.events.selectors.events import note_of
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Event
from memory.models import Snapshot
from sessions.sittings.models.resources import Access
from sessions.sittings.models.session import AgentSession

SHOWN = 50
BEGINNING = 240


@frozen
class Step:
    """`url` is "" for what has no page."""

    at: datetime
    verb: str
    what: str
    url: str
    note: str = ""


@frozen
class Activity:
    """The newest steps. `ends`: the last save or access."""

    steps: Sequence[Step]
    has_more: bool
    ends: datetime
    events_url: str
    accesses_url: str


def activity_of(row: AgentSession) -> Activity:
    """Events name no session: those of the agent from the session's start to its last save or access."""
    accesses = list(_accesses(row))
    ends = max([row.updated_at, *(each.at for each in accesses[:1])])
    snapshots = list(_snapshots(row))
    of_snapshots = {each.what for each in snapshots}
    events = [
        each for each in _events(row, ends) if (each.verb, each.what in of_snapshots) != ("created", True)
    ]
    steps = sorted([*events, *accesses, *snapshots], key=lambda step: step.at, reverse=True)
    return Activity(
        steps=steps[:SHOWN],
        has_more=len(steps) > SHOWN,
        ends=ends,
        events_url=list_url("core_event", row.project, agent=row.agent.name if row.agent else ""),
        accesses_url=list_url("agent_sessions_access", row.project, session=row.pk),
    )


def _events(row: AgentSession, ends: datetime) -> Iterator[Step]:
    events = Event.objects.in_project(row.project_id).filter(
        agent=row.agent_id, at__gte=row.created_at, at__lte=ends
    )
    for event in events.order_by("-at", "-pk")[: SHOWN + 1]:
        url = reverse("admin:core_event_open", args=[event.pk])
        yield Step(event.at, event.verb, event.ref, url, note_of(event.data))


def _accesses(row: AgentSession) -> Iterator[Step]:
    accesses = Access.objects.in_project(row.project_id).filter(session=row).select_related("resource")
    for access in accesses.order_by("-created_at", "-pk")[: SHOWN + 1]:
        url = reverse("admin:tracking_resource_read", args=[access.resource_id])
        yield Step(access.created_at, access.get_access_display(), access.resource.path, url)


def _snapshots(row: AgentSession) -> Iterator[Step]:
    found = Snapshot.objects.in_project(row.project_id).filter(session_id=row.pk)
    beginnings = found.order_by("-created_at", "-pk").annotate(beginning=Left("summary", BEGINNING))
    for pk, at, text in beginnings.values_list("pk", "created_at", "beginning")[: SHOWN + 1]:
        yield Step(at, "saved", f"snapshot:{pk}", page_of_row("snapshot", pk) or "", text)
