"""Silence is told alike on every page: a warning after half an hour, a danger once others wait."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.models import Agent, Project
from ctxhub.core.refusals.services import WRITER, count_refusal
from tests.needs import earlier, owe
from tests.needs import hold as hold_now
from tests.people import VIEWER, member

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
# Where each page tells it, and by which class or label.
PAGES = ("agents", "agent", "overview", "leases", "board", "timeline")


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER, username="vi")


def hold(holder: Caller, path: str, *, silent_for: Mapping[str, float]) -> int:
    """A lease that was taken an hour ago, of an agent that was not seen for so long."""
    with earlier(hours=1):
        lease_id = hold_now(holder, path, silent_for={})
    Agent.unscoped.filter(folded="ada").update(last_seen_at=clock.now() - timedelta(**silent_for))
    return lease_id


def pages(client: Client, name: str = "ada") -> dict[str, str]:
    agent = Agent.unscoped.get(folded=name)
    urls = {
        "agents": f"/admin/core/agent/?q={name}",
        "agent": f"/admin/core/agent/{agent.pk}/change/",
        "overview": "/admin/",
        "leases": f"/admin/tracking/lease/?agent={name}",
        "board": "/admin/tracking/lease/board/",
        "timeline": "/admin/core/event/timeline/?last=24h",
    }
    texts = {page: client.get(url).content.decode() for page, url in urls.items()}
    return {page: re.sub(r'(?s)<ul class="ctx-legend".*?</ul>', "", text) for page, text in texts.items()}


def telling(client: Client, words: str) -> set[str]:
    """The pages that say so, in words and not by a colour alone."""
    said = re.compile(rf"\b{words}(?!, others)\b")
    return {
        page
        for page, text in pages(client).items()
        if said.search(re.sub(r"<(?!/?title).*?>|</?title>", " ", text.partition("<main")[2] or text))
    }


@time_machine.travel(NOON, tick=False)
def test_who_was_heard_of_in_the_last_half_hour_is_active(client: Client, ada: Caller) -> None:
    hold(ada, "src/**", silent_for={"minutes": 30})
    assert telling(client, "silent") == set()
    assert telling(client, "active") >= {"agents", "agent"}


@time_machine.travel(NOON, tick=False)
def test_after_half_an_hour_every_page_warns(client: Client, ada: Caller) -> None:
    hold(ada, "src/**", silent_for={"minutes": 31})
    assert telling(client, "silent") == set(PAGES)
    shown = pages(client)
    assert 'class="ctx-hold-silent"' in shown["board"]
    assert "ctx-stripe ctx-silent" in shown["timeline"]
    assert "ctx-is-silent" in shown["agent"]
    assert "ctx-need ctx-silent" in shown["overview"]
    assert "awaited" not in "".join(shown.values())


@time_machine.travel(NOON, tick=False)
def test_it_is_a_danger_once_others_were_refused(client: Client, ada: Caller, ben: Caller) -> None:
    lease_id = hold(ada, "src/**", silent_for={"minutes": 31})
    count_refusal(ben, Conflict("taken", about=f"lease:{lease_id}"))
    WRITER.flush()
    # The overview tells it as a need, in a sentence.
    assert telling(client, "silent, others wait") == {*PAGES} - {"overview"}
    shown = pages(client)
    assert 'class="ctx-hold-awaited"' in shown["board"]
    assert "ctx-stripe ctx-awaited" in shown["timeline"]
    assert "ctx-need ctx-awaited" in shown["overview"]


@time_machine.travel(NOON, tick=False)
def test_whoever_holds_and_is_heard_of_is_no_danger(client: Client, ada: Caller, ben: Caller) -> None:
    lease_id = hold(ada, "src/**", silent_for={"minutes": 5})
    count_refusal(ben, Conflict("taken", about=f"lease:{lease_id}"))
    WRITER.flush()
    assert telling(client, "silent, others wait") == set()


def test_an_agent_that_owes_an_overdue_acknowledgement_is_waited_for(
    client: Client, ada: Caller, ben: Caller
) -> None:
    owe(ben, ada, due={"hours": 2})
    Agent.unscoped.filter(folded="ada").update(last_seen_at=clock.now() - timedelta(hours=1))
    assert telling(client, "silent, others wait") >= {"agents", "agent"}


def test_a_token_that_was_never_used_is_not_silent(client: Client, ada: Caller) -> None:
    hold(ada, "src/**", silent_for={"minutes": 1})
    Agent.unscoped.filter(folded="ada").update(last_seen_at=None)
    assert "never seen" in pages(client)["agents"]
