"""Lists of the admin: filters with counts, order, titles, sparklines, and steps from row to row."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.console.rows import facets, sparklines, steps
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Project
from memory.decisions.services import deprecate_decision, set_decision
from memory.models import Decision
from tests.people import ADMIN, VIEWER, member

DECISIONS = "/admin/memory/decision/"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, ADMIN, "vera")


@pytest.fixture
def decisions(ada: Caller, ben: Caller) -> None:
    for caller, key, tags, layer in (
        (ada, "one", ["api"], "data"),
        (ada, "two", ["api", "db"], "business"),
        (ben, "three", ["db"], None),
    ):
        set_decision(caller=caller, key=key, value="x", tags=tags, layer=layer)
    deprecate_decision(caller=ada, key="one", reason="Old.")


def choices(client: Client, title: str, address: str = DECISIONS, **query: str) -> dict[str, int | None]:
    """The choices of a filter, each with its count."""
    changelist = client.get(address, query).context["cl"]
    found = next((facet for facet in changelist.facets.all() if facet.title == title), None)
    return {choice.title: choice.count for choice in found.choices} if found else {}


# -- Filters ---------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.usefixtures("decisions")
def test_each_choice_tells_how_many_rows_it_would_leave(client: Client) -> None:
    assert choices(client, "status") == {"active": 2, "deprecated": 1}
    assert choices(client, "tag") == {"api": 2, "db": 2}
    assert choices(client, "layer") == {"business": 1, "data": 1}
    assert choices(client, "agent") == {"ada": 2, "ben": 1}
    assert choices(client, "stale") == {"not stale": 3}


@pytest.mark.every_engine
@pytest.mark.usefixtures("decisions")
def test_a_count_heeds_the_other_filters_and_the_search_but_not_its_own(client: Client) -> None:
    assert choices(client, "tag", agent="ada") == {"api": 2, "db": 1}
    assert choices(client, "agent", agent="ada") == {"ada": 2, "ben": 1}
    assert choices(client, "status", tag="db") == {"active": 2}
    assert choices(client, "tag", q="three") == {"db": 1}
    assert choices(client, "status", status__exact="1", agent="nobody") == {"active": 0}


@pytest.mark.every_engine
@pytest.mark.usefixtures("decisions")
def test_each_count_is_what_the_list_then_shows(client: Client) -> None:
    for title in ("status", "tag", "layer", "agent", "stale"):
        changelist = client.get(DECISIONS).context["cl"]
        facet = next(facet for facet in changelist.facets.all() if facet.title == title)
        for choice in facet.choices:
            shown = client.get(f"{DECISIONS}{choice.url}").context["cl"]
            assert shown.result_count == choice.count, (title, choice)


@pytest.mark.usefixtures("decisions")
def test_a_chosen_filter_is_removed_by_its_own_chip(client: Client) -> None:
    changelist = client.get(DECISIONS, {"status__exact": "1", "tag": "db"}).context["cl"]
    facet = next(facet for facet in changelist.facets.all() if facet.title == "status")
    [chosen] = [choice for choice in facet.choices if choice.is_chosen]
    assert (chosen.title, chosen.url) == ("active", "?tag=db")


def captured(client: Client, **query: str) -> CaptureQueriesContext:
    with CaptureQueriesContext(connection) as queries:
        client.get(DECISIONS, query)
    return queries


def test_all_counts_are_one_statement_for_any_number_of_rows(client: Client, ada: Caller) -> None:
    def counting() -> int:
        return sum("UNION ALL" in query["sql"] for query in captured(client))

    set_decision(caller=ada, key="first", value="x", tags=["t"])
    assert counting() == 1
    few = len(captured(client, agent="ada", status__exact="1"))
    for n in range(6):
        set_decision(caller=ada, key=f"k{n}", value="x", tags=[f"t{n}"], scopes=[f"s{n}"])
    assert counting() == 1
    assert len(captured(client, agent="ada", status__exact="1")) == few


@pytest.mark.usefixtures("decisions")
def test_a_long_list_says_that_it_counts_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets, "MOST_COUNTED", 2)
    assert choices(client, "status") == {"active": None, "deprecated": None, "draft": None}
    page = client.get(DECISIONS).content.decode()
    assert "Choices are counted in lists of up to 20,000 rows, and up to 1,000 found." in page
    assert '<option value="db">' in page  # What may be typed is suggested all the same.


@pytest.mark.usefixtures("decisions")
def test_another_project_is_not_counted(client: Client, cy: Caller) -> None:
    set_decision(caller=cy, key="other", value="x", tags=["secret"], layer="data")
    assert "secret" not in choices(client, "tag")
    assert choices(client, "layer") == {"business": 1, "data": 1}


# -- Rows ------------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_every_list_takes_few_statements(client: Client, decisions: None) -> None:
    root = Client()
    root.force_login(User.objects.create_superuser("root"))
    for model in admin.site._registry:
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        root.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert root.get(address, follow=True).status_code == 200
        assert len(queries) <= 25, (address, len(queries))


def test_every_list_is_one_of_rows() -> None:
    for each in admin.site._registry.values():
        template: Any = each.change_list_template
        assert template in ("ctxhub/list.html", "ctxhub/tabbed_list.html"), each


def test_a_row_has_a_title_a_text_facts_and_its_state(client: Client, decisions: None) -> None:
    [row] = [row for row in client.get(DECISIONS).context["cl"].rows() if row.title.plain == "two"]
    assert row.text.plain == "x"
    assert [cell.plain for cell in row.state] == ["active", "api db"]
    assert [(cell.label, cell.plain) for cell in row.facts] == [
        ("", "ada"),
        ("version", "1.0.0"),
        ("layer", "business"),
    ]
    assert row.time.label == "Updated"


def test_a_cut_title_is_whole_in_its_tooltip(client: Client, ada: Caller) -> None:
    key, value = "k" * 200, "v" * 200
    set_decision(caller=ada, key=key, value=value)
    page = client.get(DECISIONS).content.decode()
    assert f'title="{key}"' in page
    assert f'title="{value}"' in page


def test_a_bulk_action_that_deletes_is_the_last_one(client: Client, decisions: None) -> None:
    actions = client.get(DECISIONS).context["bulk_actions"]
    assert [action.name for action in actions][-1] == "delete_selected"
    assert [action.is_danger for action in actions] == [False, False, True]


def test_who_only_reads_has_no_bulk_actions(apollo: Project, decisions: None) -> None:
    page = member(apollo, VIEWER, "eve").get(DECISIONS)
    assert page.context["bulk_actions"] == []
    assert "action-select" not in page.content.decode()


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ({}, "Decisions"),
        ({"tag": "api"}, "Decisions, 1 filter"),
        ({"tag": "api", "agent": "ada", "project": "apollo"}, "Decisions in apollo, 2 filters"),
        ({"q": "two"}, "Decisions, “two”"),
    ],
)
def test_a_title_names_the_list_and_its_filters(
    query: dict[str, str], title: str, client: Client, decisions: None
) -> None:
    page = unescape(client.get(DECISIONS, query).content.decode())
    assert f"<title> {title} | ctxhub</title>" in page
    assert f'<span class="truncate">{title}</span>' in page


def test_a_title_names_the_object(client: Client, decisions: None) -> None:
    decision = Decision.unscoped.get(key="two")
    page = client.get(f"{DECISIONS}{decision.pk}/").content.decode()
    assert "<title> decision two | ctxhub</title>" in page
    asked = client.get(f"{DECISIONS}{decision.pk}/deprecate/").content.decode()
    assert re.search(r"<title> Deprecate decision two \|", asked)


# -- Sparklines ------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_a_row_that_was_written_often_draws_when(client: Client, ada: Caller) -> None:
    for days, value in ((20, "a"), (10, "b"), (0, "c")):
        with time_machine.travel(NOON - timedelta(days=days), tick=False):
            set_decision(caller=ada, key="often", value=value)
    with time_machine.travel(NOON, tick=False):
        set_decision(caller=ada, key="once", value="x")
        rows = {row.title.plain: row for row in client.get(DECISIONS).context["cl"].rows()}
        agents = client.get("/admin/core/agent/").context["cl"].rows()
    assert rows["once"].sparkline is None
    drawn = rows["often"].sparkline
    assert drawn.words == "3 writes since 2026-10-21 12:00"
    assert [place for place, bar in enumerate(drawn.bars) if bar.height > 1] == [4, 9, 13]
    assert {row.title.plain: row.sparkline.writes for row in agents if row.sparkline} == {"ada": 4}


def test_a_busy_log_is_looked_at_no_further(
    client: Client, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparklines, "EVENTS_LOOKED_AT", 2)
    for days in (20, 10, 0):
        with time_machine.travel(NOON - timedelta(days=days), tick=False):
            set_decision(caller=ada, key="often", value=days)
    with time_machine.travel(NOON, tick=False):
        [row] = client.get(DECISIONS).context["cl"].rows()
    assert row.sparkline.words == "2 writes since 2026-11-08 12:00"


# -- Steps -----------------------------------------------------------------------------------------


def urls(client: Client, **query: str) -> dict[str, str]:
    """The address of each row of a list, by its title."""
    return {row.title.plain: row.url for row in client.get(DECISIONS, query).context["cl"].rows()}


def step(client: Client, url: str, direction: str) -> str:
    """Where a step from the page of a row leads: the key of the decision, or "list"."""
    request = client.get(url).wsgi_request
    found = steps.list_steps(request)
    assert found
    answer = client.get(found.next_url if direction == "next" else found.previous_url)
    at = re.search(r"/decision/(\d+)/\?", answer.headers["Location"])
    return Decision.unscoped.get(pk=at[1]).key if at else "list"


@pytest.mark.every_engine
@pytest.mark.usefixtures("decisions")
def test_steps_follow_the_order_and_the_filters_of_the_list(client: Client) -> None:
    column = list(client.get(DECISIONS).context["cl"].list_display).index("named")
    rows = urls(client, o=f"{column}", tag="api")
    assert [*rows] == ["one", "two"]
    assert step(client, rows["one"], "next") == "two"
    assert step(client, rows["two"], "previous") == "one"
    assert step(client, rows["two"], "next") == "list"
    assert [*urls(client, o=f"-{column}")] == ["two", "three", "one"]
    assert step(client, urls(client, o=f"-{column}")["two"], "next") == "three"


@pytest.mark.usefixtures("decisions")
def test_a_step_finds_its_row_where_others_have_moved_it(client: Client, ada: Caller) -> None:
    rows = urls(client)
    first, second, *_ = rows
    set_decision(caller=ada, key="new", value="x")
    assert step(client, rows[first], "next") == second
    Decision.unscoped.filter(key=second).delete()
    assert step(client, rows[first], "next") == [*urls(client)][2]


@pytest.mark.parametrize(
    "query", ["_step=next", "_step=next&_from=x&_at=-1", "_step=up&_at=9", "_step=next&_at=²"]
)
def test_a_step_that_nobody_offered_is_no_error(query: str, client: Client, decisions: None) -> None:
    answer = client.get(f"{DECISIONS}?{query}", follow=True)
    assert answer.status_code == 200


def test_a_stranger_steps_nowhere(client: Client, decisions: None, hermes: Project) -> None:
    url = urls(client)["two"]
    found = steps.list_steps(client.get(url).wsgi_request)
    assert found
    answer = member(hermes, ADMIN, "cleo").get(found.next_url, follow=True)
    assert answer.context["cl"].result_count == 0


def test_a_page_that_was_opened_otherwise_has_no_steps(client: Client, decisions: None) -> None:
    decision = Decision.unscoped.get(key="two")
    assert "ctx-list-steps" not in client.get(f"{DECISIONS}{decision.pk}/").content.decode()
    assert "ctx-list-steps" in client.get(f"{DECISIONS}{decision.pk}/?_at=1").content.decode()
    agent = Agent.unscoped.first()
    assert agent
    assert "ctx-list-steps" in client.get(f"/admin/core/agent/{agent.pk}/change/?_at=0").content.decode()
