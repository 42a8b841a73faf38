"""The parts of a session's page: its line, conversations, items, states, and its files with their budget."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models.functions import Coalesce, Left
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from sessions.sittings.lists.sessions import list_lineage
from sessions.sittings.models.resources import SessionResource
from sessions.sittings.models.session import AgentSession, ContextItem, Conversation, WorkspaceState
from sessions.sittings.selectors.resources import list_session_resources
from tracking.selectors.resources import ids_of_files

ANCESTORS_SHOWN, CHILDREN_SHOWN = 12, 20
CONVERSATIONS_SHOWN, ITEMS_SHOWN, STATES_SHOWN, FILES_SHOWN = 20, 100, 20, 50
BEGINNING = 1_000
DEFAULT_BUDGET = 4_000
SORTS = {"relevance": "Most relevant", "accessed": "Most often accessed", "recent": "Last accessed"}
WARNING, DANGER = 70, 90


@frozen
class Link:
    session: int
    title: str
    url: str


@frozen
class Lineage:
    """`line`: from the first session that is shown to this one; `earlier`: how many more come before it.

    `more_children`: there are more than `children`.
    """

    line: Sequence[Link]
    earlier: int
    children: Sequence[Link]
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
    line = [Link(each[0], _first_line(each[2]), url_of(each[0])) for each in reversed(listing.rows)]
    children = AgentSession.objects.in_project(row.project_id).filter(parent=row)
    found = children.annotate(beginning=Left("summary", BEGINNING)).order_by("-created_at", "-pk")
    values = list(found.values_list("pk", "beginning")[: CHILDREN_SHOWN + 1])
    return Lineage(
        line=line,
        earlier=listing.extra["total"] - len(line),
        children=[Link(pk, _first_line(text), url_of(pk)) for pk, text in values[:CHILDREN_SHOWN]],
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
