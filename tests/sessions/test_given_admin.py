"""What agents were given, in the admin: the list, the texts as they were, who was given a thing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.constraints.services import add_constraint
from memory.decisions.services import delete_decision
from memory.memories.services import add_memory, update_memory
from memory.models import Decision, MemoryRevision
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad, update_scratchpad
from memory.workflows.services import create_workflow
from messaging.messages.services import send_message
from sessions.given.models import Briefing
from sessions.sittings.restoring import restore_session
from sessions.sittings.services import save_session
from tests.marks import unmarked
from tests.people import ADMIN, VIEWER, member
from tests.sessions.given import KEY, REF, decide, read
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

LIST = "/admin/agent_sessions/briefing/"
GIVEN = f"{LIST}given/"
NASTY = "</title></div><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as frozen:
        yield frozen


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER)


def shown(client: Client, address: str, **query: Any) -> str:
    page = client.get(address, query)
    assert page.status_code == 200
    return unescape(page.content.decode())


def newest() -> str:
    """The address of the page of what was given last."""
    return f"{LIST}{Briefing.unscoped.latest('pk').pk}/change/"


def things(client: Client, address: str = "", **query: Any) -> dict[str, Any]:
    """What a page shows, by ref."""
    context = client.get(address or newest(), query).context
    items = context["items"] if "items" in context else context["known"].items
    return {each.ref: each for each in items}


def count_queries(client: Client, address: str, **query: Any) -> int:
    client.get(address, query)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address, query).status_code == 200
    return len(queries)


# -- The texts -------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_a_decision_has_the_value_of_its_version_then(client: Client, ada: Caller, ben: Caller) -> None:
    decide(ada, "JWT")
    read(ben)
    decide(ada, "Sessions")
    [thing] = things(client).values()
    assert (thing.text, thing.note, thing.item.version, thing.changed_to) == ("JWT", "", "1.0.0", "1.0.1")
    assert "ben</a> was given" in shown(client, newest())


@pytest.mark.every_engine
def test_a_memory_has_the_text_of_its_revision_then(client: Client, ada: Caller, ben: Caller) -> None:
    memory = add_memory(caller=ada, title="Login", content="It waits.", context="shop")["id"]
    read(ben, f"memory:{memory}")
    update_memory(caller=ada, memory_id=memory, title="Signing in", content="It is fast.")
    [thing] = things(client).values()
    assert (thing.text, thing.note, thing.changed_to) == ("Login\n\nIt waits.", "", "2")


@pytest.mark.every_engine
def test_a_pad_has_its_text_before_appends_and_writes(client: Client, ada: Caller, ben: Caller) -> None:
    workflow = create_workflow(caller=ada, name="Ship")["workflow_id"]
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="Notes", content="One")["scratchpad_id"]
    for number, text in enumerate(("One", "One\nTwo", "Three"), start=1):
        read(ben, f"scratchpad:{pad}")
        [thing] = things(client).values()
        assert (thing.text, thing.item.version, thing.note) == (text, str(number), "")
        if number == 1:
            append_to_scratchpad(caller=ada, scratchpad_id=pad, content="Two", separator="\n")
        else:
            update_scratchpad(caller=ada, scratchpad_id=pad, content="Three")
    texts = [things(client, f"{LIST}{pk}/change/") for pk in Briefing.unscoped.values_list("pk", flat=True)]
    assert sorted(each.text for page in texts for each in page.values()) == ["One", "One\nTwo", "Three"]


def test_a_constraint_is_shown_as_it_is_now(client: Client, ada: Caller, ben: Caller) -> None:
    rule = add_constraint(caller=ada, category="security", text="No secrets")["id"]
    read(ben, f"constraint:{rule}")
    [thing] = things(client).values()
    assert (thing.text, thing.note) == ("No secrets", "text as it is now")


def test_a_message_never_changes(client: Client, ada: Caller, ben: Caller) -> None:
    sent = send_message(caller=ada, text="Stop", to=["ben"])["id"]
    read(ben, f"message:{sent}")
    [thing] = things(client).values()
    assert (thing.text, thing.note) == ("Stop", "")


def test_what_was_deleted_says_so(client: Client, ada: Caller, ben: Caller) -> None:
    decide(ada)
    read(ben)
    delete_decision(caller=ada, key=KEY)
    [thing] = things(client).values()
    assert (thing.note, thing.url, thing.text) == ("deleted since", "", "")


def test_a_change_without_words_and_an_unsaved_session_are_still_there(
    client: Client, ada: Caller, ben: Caller
) -> None:
    """Neither is in the index of the search."""
    change = record_change(caller=ada, path="src/login.py", change="modified")["id"]
    saved = save_session(caller=ben, summary="Login")["session"]
    restored = restore_session(caller=ben, session=saved)["session"]
    read(ben, f"change:{change}", f"session:{restored}")
    page = things(client)
    assert {ref: each.note for ref, each in page.items()} == dict.fromkeys(page, "text as it is now")
    assert page[f"change:{change}"].text.startswith("path: src/login.py\nchange: modified\nby: ada\n")
    assert page[f"session:{restored}"].text == "Login"


def test_a_lease_is_shown_with_its_paths(client: Client, ada: Caller, ben: Caller) -> None:
    lease = acquire_lease(caller=ada, paths=["src/**"], reason="Moving it")["lease_id"]
    read(ben, f"lease:{lease}")
    [thing] = things(client).values()
    assert "paths: src/**" in thing.text
    assert "reason: Moving it" in thing.text


def test_a_text_that_is_no_longer_kept_says_so(client: Client, ada: Caller, ben: Caller) -> None:
    memory = add_memory(caller=ada, title="Login", content="It waits.", context="shop")["id"]
    read(ben, f"memory:{memory}")
    update_memory(caller=ada, memory_id=memory, content="It is fast.")
    MemoryRevision.unscoped.filter(number=1).delete()
    [thing] = things(client).values()
    assert "no longer kept" in thing.note
    assert "It is fast." in thing.text


def test_a_long_text_is_cut(client: Client, ada: Caller, ben: Caller) -> None:
    decide(ada, "word " * 2_000)
    read(ben)
    [thing] = things(client).values()
    assert len(thing.text) == 4_001


def test_texts_of_agents_stay_texts(client: Client, ada: Caller) -> None:
    decide(ada, NASTY, key="a/<b>")
    read(Caller(project=ada.project, agent=NASTY), "decision:a/<b>")
    row = Decision.unscoped.get()
    for address in (LIST, newest(), f"{GIVEN}?agent={NASTY}", f"/admin/memory/decision/{row.pk}/"):
        page = client.get(address).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page


# -- The list --------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": REF}, True),
        ({"q": f" {REF} "}, True),
        ({"q": "decision:other"}, False),
        ({"q": "memory:1"}, False),
        ({"q": "memory:x"}, False),
        ({"q": "nosuch:1"}, False),
        ({"q": "ben"}, True),
        ({"q": "eve"}, False),
        ({"agent": "Ben"}, True),
        ({"agent": "eve"}, False),
        ({"via": "get"}, True),
        ({"via": "brief"}, False),
        ({"session": "17"}, False),
        ({"project": "apollo"}, True),
        ({"at__year": 2026, "at__month": 11}, True),
        ({"at__year": 2026, "at__month": 10}, False),
    ],
)
def test_the_list_is_searched_and_filtered(
    query: dict[str, Any], found: bool, client: Client, ada: Caller, ben: Caller
) -> None:
    decide(ada)
    read(ben)
    assert (f"{Briefing.unscoped.get().pk}/change/" in shown(client, LIST, **query)) is found


def test_a_session_leads_to_what_it_was_given(client: Client, ada: Caller) -> None:
    decide(ada)
    session = save_session(caller=ada, summary="Login")["session"]
    read(ada)
    page = shown(client, f"/admin/agent_sessions/agentsession/{session}/")
    assert f"{LIST}?project=apollo&session={session}" in page
    assert f"{Briefing.unscoped.get().pk}/change/" in shown(client, LIST, session=session)


# -- What an agent knew ----------------------------------------------------------------------------


@pytest.mark.every_engine
def test_a_person_reads_what_an_agent_knew_at_a_time(
    client: Client, ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    decide(ada, "JWT")
    decide(ada, "SMTP", key="mail")
    read(ben, REF, "decision:mail")
    clock.shift(timedelta(minutes=10))
    decide(ada, "Sessions")
    read(ben)
    then = things(client, GIVEN, agent="Ben", at="2026-11-18T12:05:00")
    now = things(client, GIVEN, agent="ben", at="2026-11-18T12:15")
    assert {ref: each.text for ref, each in then.items()} == {REF: "JWT", "decision:mail": "SMTP"}
    assert [(ref, each.text) for ref, each in now.items()] == [(REF, "Sessions"), ("decision:mail", "SMTP")]


def test_what_it_was_given_in_another_session_is_left_out(client: Client, ada: Caller) -> None:
    decide(ada)
    decide(ada, "SMTP", key="mail")
    save_session(caller=ada, summary="Login")
    read(ada)
    other = save_session(caller=ada, summary="Mail")["session"]
    read(ada.in_session(other), "decision:mail")
    assert list(things(client, GIVEN, agent="ada")) == ["decision:mail"]


def test_outside_of_sessions_a_day_is_shown(
    client: Client, ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    decide(ada)
    decide(ada, "SMTP", key="mail")
    read(ben)
    clock.shift(timedelta(hours=25))
    read(ben, "decision:mail")
    assert list(things(client, GIVEN, agent="ben")) == ["decision:mail"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"agent": "ben", "at": "2026-11-18T11:59"}, "Nothing is recorded that ben had been given"),
        ({"agent": "eve"}, "Nothing is recorded that eve had been given"),
        ({"agent": ""}, "This field is required"),
        ({"agent": "ben", "at": "yesterday"}, "Enter a valid date/time"),
        ({}, "What did an agent know?"),
    ],
)
def test_what_is_not_recorded_is_said(
    query: dict[str, str], said: str, client: Client, ada: Caller, ben: Caller
) -> None:
    decide(ada)
    read(ben)
    page = unmarked(shown(client, GIVEN, **query))
    assert said in page
    assert "What ben had been given" not in page


def test_a_second_counts_whole(
    client: Client, ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    clock.shift(timedelta(milliseconds=700))
    decide(ada)
    read(ben)
    assert list(things(client, GIVEN, agent="ben", at="2026-11-18T12:00:00")) == [REF]


def test_many_things_have_pages(client: Client, ada: Caller, ben: Caller) -> None:
    for n in range(60):
        decide(ada, f"Value {n}", key=f"key/{n:02}")
    for start in (0, 30):
        read(ben, *(f"decision:key/{n:02}" for n in range(start, start + 30)))
    first, second = (things(client, GIVEN, agent="ben", page=page) for page in ("1", "2"))
    assert (len(first), len(second)) == (50, 10)
    assert len({*first, *second}) == 60


# -- Who was given a thing -------------------------------------------------------------------------


def test_a_page_shows_who_was_given_the_row(client: Client, ada: Caller, ben: Caller) -> None:
    decide(ada)
    read(ben)
    decide(ada, "Sessions")
    read(Caller(project=ada.project, agent="eve"))
    page = client.get(f"/admin/memory/decision/{Decision.unscoped.get().pk}/")
    [panel] = page.context["row_panels"]
    found = [(each.agent, each.version, each.is_older) for each in panel.content["readers"]]
    assert found == [("eve", "1.0.1", False), ("ben", "1.0.0", True)]
    assert "q=decision%3Aapi%2Fauth%2Fmethod" in page.content.decode()


def test_a_row_that_nobody_was_given_has_no_such_panel(client: Client, ada: Caller) -> None:
    decide(ada)
    assert "Who was given it" not in shown(client, f"/admin/memory/decision/{Decision.unscoped.get().pk}/")


def test_pads_memories_and_constraints_show_it_too(client: Client, ada: Caller, ben: Caller) -> None:
    memory = add_memory(caller=ada, title="Login", content="It waits.", context="shop")["id"]
    workflow = create_workflow(caller=ada, name="Ship")["workflow_id"]
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="Notes", content="One")["scratchpad_id"]
    rule = add_constraint(caller=ada, category="security", text="No secrets")["id"]
    read(ben, f"memory:{memory}", f"scratchpad:{pad}", f"constraint:{rule}")
    for address in (f"memory/{memory}", f"scratchpad/{pad}", f"constraint/{rule}"):
        assert "Who was given it" in shown(client, f"/admin/memory/{address}/")


# -- Queries and rights ----------------------------------------------------------------------------


def test_queries_do_not_grow(client: Client, ada: Caller, ben: Caller) -> None:
    for n in range(12):
        decide(ada, f"Value {n}", key=f"key/{n}")
    read(ben, "decision:key/0")
    pages = [(newest, {}), (lambda: GIVEN, {"agent": "ben"}), (lambda: LIST, {})]
    few = [count_queries(client, address(), **query) for address, query in pages]
    for n in range(12):
        read(ben, *(f"decision:key/{n}" for n in range(12)))
    assert [count_queries(client, address(), **query) for address, query in pages] == few


def test_queries_of_a_page_do_not_grow_with_its_readers(client: Client, ada: Caller) -> None:
    decide(ada)
    address = f"/admin/memory/decision/{Decision.unscoped.get().pk}/"
    read(ada)
    few = count_queries(client, address)
    for n in range(12):
        read(Caller(project=ada.project, agent=f"agent{n}"))
    assert count_queries(client, address) == few


def test_a_stranger_sees_nothing(ada: Caller, ben: Caller, cy: Caller) -> None:
    decide(ada)
    read(ben)
    stranger = member(cy.project, ADMIN, username="stranger")
    assert stranger.get(newest()).status_code == 302
    for query in ({}, {"q": REF}, {"project": "apollo"}):
        assert (
            "/change/"
            not in shown(stranger, LIST, **query).split('id="result_list"')[-1].split("</table>")[0]
        )
    assert "What ben had been given" not in shown(stranger, GIVEN, agent="ben", project="apollo")


def test_nobody_writes_here(apollo: Project, ada: Caller, ben: Caller) -> None:
    decide(ada)
    read(ben)
    chief = member(apollo, ADMIN, username="chief")
    pk = Briefing.unscoped.get().pk
    for address in (f"{LIST}add/", f"{LIST}{pk}/delete/"):
        assert chief.post(address, {"post": "yes"}).status_code == 403
    chief.post(f"{LIST}{pk}/change/", {"via": "why"})
    assert Briefing.unscoped.get().via == "get"
