"""In the admin the name of an agent is a link to its page; the name of nobody is text."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Agent, Project
from ctxhub.core.refusals.services import WRITER as REFUSALS
from ctxhub.core.use.tally import EMPTY_SEARCHES, WRITER, Call, found_nothing
from ctxhub.toolbox.dispatch import call
from memory.memories.services import add_memory, update_memory
from memory.models import Decision
from memory.scratchpads.services import create_scratchpad, update_scratchpad
from messaging.models import Message
from sessions.given.services import WRITER as GIVEN
from tests.marks import unmarked
from tests.messaging.mail import known, send
from tests.people import ADMIN, member
from tracking.leases.services import acquire_lease
from tracking.models import Resource

pytestmark = pytest.mark.django_db

LISTS = (
    "core/agent",
    "core/event",
    "core/refusal",
    "core/tokenuse",
    "core/emptysearch",
    "memory/decision",
    "memory/scratchpad",
    "messaging/message",
    "tracking/lease",
    "tracking/filechange",
    "tracking/resource",
    "agent_sessions/agentsession",
    "agent_sessions/briefing",
)


def work(caller: Caller, name: str, lease_of: str) -> None:
    """Leave a row of the agent in each list."""
    agent = caller.speaking_as(name)
    known(agent)
    send(agent, "hello", to=[caller.agent, "nobody at all"], ack=True)
    acquire_lease(caller=agent, paths=[f"{name}/**"])
    with pytest.raises(CtxhubError), Call(agent, "file.lease"):
        call(agent, "file", {"action": "lease", "paths": [f"{lease_of}/**"]})
    with Call(agent, "search"):
        found_nothing(f"Where is {name}?")
    Call(agent, "search").answered(5)
    for tool, arguments in (
        ("decision", {"action": "set", "key": f"k/{name}", "value": "v"}),
        ("file", {"action": "record", "path": f"{name}/a.py", "change": "modified"}),
        ("session", {"action": "save", "summary": "s"}),
        ("get", {"refs": [f"decision:k/{name}"]}),
    ):
        call(agent, tool, arguments)
    flow = call(agent, "scratchpad", {"action": "create_workflow", "name": name})["workflow_id"]
    call(agent, "scratchpad", {"action": "create", "workflow_id": flow, "name": "notes", "content": "x"})


def written_by(kind: str, caller: Caller) -> int:
    """The id of a pad or a memory with two states."""
    if kind == "memory":
        row_id = add_memory(caller=caller, title="note", content="one")["id"]
    else:
        flow = call(caller, "scratchpad", {"action": "create_workflow", "name": "flow"})["workflow_id"]
        row_id = create_scratchpad(caller=caller, workflow_id=flow, name="pad", content="one")[
            "scratchpad_id"
        ]
    rewrite(kind, caller, row_id)
    return row_id


def rewrite(kind: str, caller: Caller, row_id: int) -> None:
    if kind == "memory":
        update_memory(caller=caller, memory_id=row_id, content=f"by {caller.agent}")
    else:
        update_scratchpad(caller=caller, scratchpad_id=row_id, content=f"by {caller.agent}")


def flush() -> None:
    for writer in (REFUSALS, WRITER, EMPTY_SEARCHES, GIVEN):
        writer.flush()


@pytest.fixture
def client(ada: Caller, apollo: Project) -> Client:
    known(ada)
    acquire_lease(caller=ada, paths=["ada/**"])
    work(ada, "ben", "ada")
    flush()
    return member(apollo, ADMIN)


@pytest.mark.parametrize("page", LISTS)
def test_a_list_links_its_agents_without_a_query_each(page: str, client: Client, ada: Caller) -> None:
    def statements() -> tuple[int, str]:
        client.get(f"/admin/{page}/")
        with CaptureQueriesContext(connection) as queries:
            html = unmarked(client.get(f"/admin/{page}/").content.decode())
        return len(queries), html

    few, html = statements()
    ben = Agent.unscoped.get(name="ben")
    assert re.search(rf'<a [^>]*href="/admin/core/agent/{ben.pk}/change/[^"]*"[^>]*>(<bdi>)?ben<', html)
    for name in ("cleo", "dan", "eve"):
        work(ada, name, "ben")
    flush()
    assert statements()[0] == few


def test_a_conversation_links_those_who_are_registered(client: Client) -> None:
    message: Any = Message.unscoped.filter(sender__name="ben").latest("pk")
    html = unmarked(client.get(f"/admin/messaging/message/{message.pk}/").content.decode())
    ben, ada = (Agent.unscoped.get(name=name) for name in ("ben", "ada"))
    assert f'href="/admin/core/agent/{ben.pk}/change/">ben</a>' in html
    assert f'href="/admin/core/agent/{ada.pk}/change/">ada</a>' in html
    assert '<span class="ctx-agent">nobody at all</span>' in html


def test_the_recipients_of_a_message_are_links(client: Client) -> None:
    message: Any = Message.unscoped.filter(sender__name="ben").latest("pk")
    ada, ben = (Agent.unscoped.get(name=name) for name in ("ada", "ben"))
    to = f'to <a class="ctx-agent" href="/admin/core/agent/{ada.pk}/change/">ada</a>, '
    for page in (f"messaging/message/{message.pk}", f"core/agent/{ben.pk}/change"):
        html = unmarked(client.get(f"/admin/{page}/").content.decode())
        assert f'{to}<span class="ctx-agent">nobody at all</span>' in html, page


@pytest.mark.parametrize("kind", ["scratchpad", "memory"])
def test_the_list_of_revisions_links_their_agents_without_a_query_each(
    kind: str, client: Client, ada: Caller
) -> None:
    row_id = written_by(kind, ada)
    url = f"/admin/memory/{kind}/{row_id}/revisions/"

    def statements() -> tuple[int, str]:
        client.get(url)
        with CaptureQueriesContext(connection) as queries:
            html = unmarked(client.get(url).content.decode())
        return len(queries), html.partition('id="states"')[2]

    few, _ = statements()
    for name in ("ben", "cleo", "dan"):
        known(ada.speaking_as(name))
        rewrite(kind, ada.speaking_as(name), row_id)
    many, html = statements()
    assert many == few
    for agent in Agent.unscoped.filter(name__in=("ada", "ben", "cleo", "dan")):
        assert f'href="/admin/core/agent/{agent.pk}/change/">{agent.name}</a>' in html


def test_the_page_of_a_decision_links_its_agent(client: Client) -> None:
    ben, decision = Agent.unscoped.get(name="ben"), Decision.unscoped.get(key="k/ben")
    html = unmarked(client.get(f"/admin/memory/decision/{decision.pk}/").content.decode())
    link = f'<a class="ctx-agent" href="/admin/core/agent/{ben.pk}/change/">ben</a>'
    assert re.search(rf"version 1.0.0 in [^<]*, .* by {link}", html)
    assert f"<dt>Agent</dt><dd>{link}</dd>" in html


def test_a_file_links_those_who_have_leased_it(client: Client) -> None:
    ben, file = Agent.unscoped.get(name="ben"), Resource.unscoped.get(path="ben/a.py")
    html = unmarked(client.get(f"/admin/tracking/resource/{file.pk}/").content.decode())
    leased = html.partition("<dt>Leased by</dt>")[2].partition("</dd>")[0]
    assert f'<a class="ctx-chip ctx-agent" href="/admin/core/agent/{ben.pk}/change/">ben</a>' in leased


def test_a_brief_links_who_wrote_its_rows(client: Client) -> None:
    ben = Agent.unscoped.get(name="ben")
    html = unmarked(client.get("/admin/agent_sessions/briefing/brief/?agent=ada").content.decode())
    assert f'<a class="ctx-agent" href="/admin/core/agent/{ben.pk}/change/">ben</a>, ' in html


def test_the_first_page_links_whom_a_request_asks(client: Client, ada: Caller) -> None:
    ben = Agent.unscoped.get(name="ben")
    with time_machine.travel(clock.now() - timedelta(hours=3)):
        send(ada, "Fix it.", to=["ben", "nobody at all"], type="request")
    html = unmarked(client.get("/admin/").content.decode())
    assert re.search(rf'asks <a [^>]*href="/admin/core/agent/{ben.pk}/change/">ben</a> and 1 other', html)
