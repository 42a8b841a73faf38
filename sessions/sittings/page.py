"""The parts of a session's page: its line, what it holds, its text, and what its agent did, by time."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models.functions import Coalesce, Left
from django.urls import reverse

from ctxhub.console.refs import page_of_row
from ctxhub.console.urls import list_url
from ctxhub.core.events.log import note_of
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.models import Event
from ctxhub.core.templatetags.entries import written
from memory.models import Snapshot
from sessions.accesses.files import list_session_resources
from sessions.accesses.models import Access, SessionResource
from sessions.sittings.models import AgentSession, ContextItem, Conversation, WorkspaceState
from sessions.sittings.queries import list_lineage
from tracking.files.queries import ids_of_files

SHOWN = 50
SUMMARY_BEGINNING = 240


@frozen
class ActivityStep:
    """`url` is "" for what has no page."""

    at: datetime
    verb: str
    what: str
    url: str
    note: str = ""


@frozen
class Activity:
    """The newest steps. `ends`: the last save or access."""

    steps: Sequence[ActivityStep]
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


def _events(row: AgentSession, ends: datetime) -> Iterator[ActivityStep]:
    events = Event.objects.in_project(row.project_id).filter(
        agent=row.agent_id, at__gte=row.created_at, at__lte=ends
    )
    for event in events.order_by("-at", "-pk")[: SHOWN + 1]:
        url = reverse("admin:core_event_open", args=[event.pk])
        yield ActivityStep(event.at, event.verb, event.ref, url, note_of(event.data))


def _accesses(row: AgentSession) -> Iterator[ActivityStep]:
    accesses = Access.objects.in_project(row.project_id).filter(session=row).select_related("resource")
    for access in accesses.order_by("-created_at", "-pk")[: SHOWN + 1]:
        url = reverse("admin:tracking_resource_read", args=[access.resource_id])
        yield ActivityStep(access.created_at, access.get_access_display(), access.resource.path, url)


def _snapshots(row: AgentSession) -> Iterator[ActivityStep]:
    found = Snapshot.objects.in_project(row.project_id).filter(session_id=row.pk)
    beginnings = found.order_by("-created_at", "-pk").annotate(beginning=Left("summary", SUMMARY_BEGINNING))
    for pk, at, text in beginnings.values_list("pk", "created_at", "beginning")[: SHOWN + 1]:
        yield ActivityStep(at, "saved", f"snapshot:{pk}", page_of_row("snapshot", pk) or "", text)


CONVERSATIONS, FILES = 200, 2_000


def session_text(row: AgentSession) -> str:
    """The newest 200 conversations and 2,000 files at most; it says how many more there are."""
    parts = [_head(row), *_state(row), *_items(row), *_files(row), *_conversations(row)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _head(row: AgentSession) -> str:
    name, agent = f" ({row.name})" if row.name else "", row.agent.name if row.agent else "system"
    lines = [
        f"Session {row.pk}{name} of {agent}",
        f"Project: {row.project.slug}",
        f"Workspace: {row.workspace_id}",
        f"Created: {format_time(row.created_at)}",
        f"Saved: {format_time(row.saved_at) if row.saved_at else 'never'}",
        f"Tokens: {row.token_count}",
        *([f"Continues: session {row.parent_id}"] if row.parent_id else []),
    ]
    return "\n".join([*lines, *(["", row.summary] if row.summary else [])])


def _state(row: AgentSession) -> Iterator[str]:
    states = WorkspaceState.objects.in_project(row.project_id).filter(session=row)
    if state := states.order_by("-created_at", "-pk").first():
        facts = {
            "Active project": state.active_project,
            "Branch": state.branch,
            "Worktree": state.worktree,
            "MCP servers": ", ".join(state.enabled_mcps),
            **state.settings,
        }
        yield _section(
            "State", "\n".join(f"{name}: {written(value)}" for name, value in facts.items() if value)
        )


def _items(row: AgentSession) -> Iterator[str]:
    items = ContextItem.objects.in_project(row.project_id).filter(session=row)
    for item in items.order_by("-importance", "position"):
        title = f"Item {item.position + 1}{f', {item.category}' if item.category else ''}"
        yield _section(f"{title}, importance {item.importance}", item.content)


def _files(row: AgentSession) -> Iterator[str]:
    files = SessionResource.objects.in_project(row.project_id).filter(session=row)
    paths = list(files.order_by("resource__path").values_list("resource__path", flat=True)[: FILES + 1])
    if paths:
        rest = ["More files are left out."] if len(paths) > FILES else []
        yield _section("Files", "\n".join([*paths[:FILES], *rest]))


def _conversations(row: AgentSession) -> Iterator[str]:
    """The oldest of them first, as they were led."""
    found = Conversation.objects.in_project(row.project_id).filter(session=row)
    newest = list(found.order_by("-created_at", "-pk")[: CONVERSATIONS + 1])
    if len(newest) > CONVERSATIONS:
        yield _section("Conversations", f"Those before the newest {CONVERSATIONS} are left out.")
    for each in reversed(newest[:CONVERSATIONS]):
        yield _section(
            f"Conversation of {format_time(each.created_at)}, {each.token_count} tokens", each.text
        )


def _section(title: str, text: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{text}"


ANCESTORS_SHOWN, CHILDREN_SHOWN = 12, 20
CONVERSATIONS_SHOWN, ITEMS_SHOWN, STATES_SHOWN, FILES_SHOWN = 20, 100, 20, 50
BEGINNING = 1_000
DEFAULT_BUDGET = 4_000
SORTS = {"relevance": "Most relevant", "accessed": "Most often accessed", "recent": "Last accessed"}
WARNING, DANGER = 70, 90


@frozen
class SessionLink:
    session: int
    title: str
    url: str


@frozen
class Lineage:
    """`line`: from the first session that is shown to this one; `earlier`: how many more come before it.

    `more_children`: there are more than `children`.
    """

    line: Sequence[SessionLink]
    earlier: int
    children: Sequence[SessionLink]
    more_children: bool


@frozen
class Budget:
    """`tokens`: of the files that the last prioritisation included. `level`: "", "warning" or "danger"."""

    tokens: int
    budget: int
    included: int

    @property
    def percent(self) -> int:
        return self.tokens * 100 // self.budget

    @property
    def width(self) -> int:
        return min(self.percent, 100)

    @property
    def level(self) -> str:
        if self.percent >= DANGER:
            return "danger"
        return "warning" if self.percent >= WARNING else ""


@frozen
class Files:
    """A page of the files. `rows`: as `session resources` lists them, each with the `url` of its page."""

    rows: Sequence[Mapping[str, Any]]
    total: Any
    sort: str
    sorts: Sequence[tuple[str, str, str]]
    next: str
    is_first: bool
    budget: Budget


def url_of(session_id: int) -> str:
    return reverse("admin:agent_sessions_agentsession_read", args=[session_id])


def lineage_of(row: AgentSession) -> Lineage:
    listing = list_lineage(row.project_id, row.pk, limit=ANCESTORS_SHOWN)
    line = [SessionLink(each[0], _first_line(each[2]), url_of(each[0])) for each in reversed(listing.rows)]
    children = AgentSession.objects.in_project(row.project_id).filter(parent=row)
    found = children.annotate(beginning=Left("summary", BEGINNING)).order_by("-created_at", "-pk")
    values = list(found.values_list("pk", "beginning")[: CHILDREN_SHOWN + 1])
    return Lineage(
        line=line,
        earlier=listing.extra["total"] - len(line),
        children=[SessionLink(pk, _first_line(text), url_of(pk)) for pk, text in values[:CHILDREN_SHOWN]],
        more_children=len(values) > CHILDREN_SHOWN,
    )


def conversations_page(row: AgentSession, number: str) -> Page[Any]:
    """A page of the conversations, newest first, each with its `beginning`."""
    found = Conversation.objects.in_project(row.project_id).filter(session=row)
    ordered = found.order_by("-created_at", "-pk").defer("text").annotate(beginning=Left("text", BEGINNING))
    return Paginator(ordered, CONVERSATIONS_SHOWN).get_page(number or 1)


def items_of(row: AgentSession) -> Sequence[Any]:
    """The items, the most important first, each with its `beginning`."""
    found = (
        ContextItem.objects.in_project(row.project_id).filter(session=row).order_by("-importance", "position")
    )
    return list(found.defer("content").annotate(beginning=Left("content", BEGINNING))[:ITEMS_SHOWN])


def states_of(row: AgentSession) -> Sequence[WorkspaceState]:
    """The states of the workspace, newest first: the first one is valid."""
    states = WorkspaceState.objects.in_project(row.project_id).filter(session=row)
    return list(states.order_by("-created_at", "-pk")[:STATES_SHOWN])


def files_of(row: AgentSession, query: Mapping[str, str]) -> Files:
    """`query`: `budget` in tokens, `sort`, and `files`, the cursor of a page. What is no value is ignored."""
    sort = query.get("sort", "") if query.get("sort") in SORTS else next(iter(SORTS))
    budget = read_id(query.get("budget") or "0") or DEFAULT_BUDGET
    listing = _list_files(row, sort, query.get("files") or None)
    found = [dict(zip(listing.columns, each, strict=True)) for each in listing.rows]
    ids = ids_of_files(row.project_id, [each["path"] for each in found])
    for each in found:
        each["at"] = datetime.fromisoformat(each["at"])
        each["url"] = reverse("admin:tracking_resource_read", args=[ids[each["path"]]])
    kept = {"budget": str(budget)} if budget != DEFAULT_BUDGET else {}
    return Files(
        rows=found,
        total=listing.extra["total"],
        sort=sort,
        sorts=[(word, title, f"?{urlencode({**kept, 'sort': word})}#files") for word, title in SORTS.items()],
        next=f"?{urlencode({**kept, 'sort': sort, 'files': listing.next})}#files" if listing.next else "",
        is_first=not query.get("files"),
        budget=_budget(row, budget),
    )


def _list_files(row: AgentSession, sort: str, cursor: str | None) -> Any:
    """A page of the files; the first one if there is no such page."""
    caller = Caller(project=row.project, agent="")
    try:
        return list_session_resources(
            caller, session=str(row.pk), sort=sort, limit=FILES_SHOWN, cursor=cursor
        )
    except CtxhubError:
        return list_session_resources(caller, session=str(row.pk), sort=sort, limit=FILES_SHOWN)


def _budget(row: AgentSession, budget: int) -> Budget:
    included = SessionResource.objects.in_project(row.project_id).filter(session=row, included=True)
    tokens = Coalesce("compressed_tokens", "resource__tokens", 0)
    counts = list(included.values_list(tokens, flat=True))
    return Budget(tokens=sum(counts), budget=budget, included=len(counts))


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
