"""Lists of accesses and of a session's files read a page from an index, and sort nothing before that."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import Agent
from sessions.accesses.files import list_session_resources
from sessions.accesses.queries import list_accesses
from sessions.models import Access, AgentSession, SessionResource
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact
from tracking.models import Resource

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FILES, SESSIONS = 600, 3


@pytest.fixture
def many(ada: Caller) -> Caller:
    """600 files, each accessed in each of three sessions."""
    start_compact(Access, SessionResource, AgentSession)
    project = ada.project
    agent = Agent.unscoped.create(project=project, name="ada", folded="ada")
    files = Resource.unscoped.bulk_create(Resource(project=project, path=f"f{n}") for n in range(FILES))
    for number in range(SESSIONS):
        session = AgentSession.unscoped.create(project=project, agent=agent, name=f"s{number}")
        times = [NOON + timedelta(seconds=n, milliseconds=number) for n in range(FILES)]
        SessionResource.unscoped.bulk_create(
            SessionResource(
                project=project,
                session=session,
                resource=file,
                relevance=n % 7,
                access_count=n % 5,
                best_access=n % 4 or None,
                last_accessed=at if n % 3 else None,
            )
            for n, (file, at) in enumerate(zip(files, times, strict=True))
        )
        Access.unscoped.bulk_create(
            Access(
                project=project, session=session, resource=file, agent=agent, access=1 + n % 4, created_at=at
            )
            for n, (file, at) in enumerate(zip(files, times, strict=True))
        )
    plan_by_indexes()
    return ada


def page_plan(read: Callable[[], Listing]) -> str:
    with CaptureQueriesContext(connection) as captured:
        assert read().rows
    [statement] = [query["sql"] for query in captured if "WITH page" in query["sql"]]
    return explained(statement)


@pytest.mark.parametrize("is_second", [False, True], ids=["first page", "second page"])
def test_accesses_are_read_from_an_index(many: Caller, is_second: bool) -> None:
    lists: list[tuple[dict[str, Any], str]] = [
        ({}, "sessions_access_newest"),
        ({"path": "f7"}, "sessions_access_by_file"),
        ({"session": "s1"}, "sessions_access_by_session"),
        ({"access": "edited"}, "sessions_access_by_kind"),
        ({"since": "2026-11-21T12:05:00Z"}, "sessions_access_newest"),
    ]
    for filters, index in lists:
        cursor = list_accesses(many, limit=1, **filters).next if is_second else None
        plan = page_plan(partial(list_accesses, many, cursor=cursor, **filters))
        assert index in plan, plan
        assert not sorts_inside(plan), plan


@pytest.mark.parametrize("is_second", [False, True], ids=["first page", "second page"])
def test_each_order_of_files_is_read_from_an_index(many: Caller, is_second: bool) -> None:
    for sort, index in (
        ("relevance", "sessions_resource_relevant"),
        ("accessed", "sessions_resource_often"),
        ("recent", "sessions_resource_recent"),
    ):
        read = partial(list_session_resources, many, session="s1", sort=sort)
        cursor = read(limit=50).next if is_second else None
        plan = page_plan(partial(read, cursor=cursor))
        assert index in plan, plan
        assert not sorts_inside(plan), plan


def test_pages_hold_every_file_once(many: Caller) -> None:
    for sort in ("relevance", "accessed", "recent"):
        paths: list[str] = []
        cursor = None
        while True:
            page = list_session_resources(many, session="s1", sort=sort, limit=200, cursor=cursor)
            paths += [row[0] for row in page.rows]
            if not (cursor := page.next):
                break
        assert len(paths) == len(set(paths)) == FILES
