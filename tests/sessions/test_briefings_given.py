"""What an agent was given is recorded in the background."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.toolbox.dispatch import call
from memory.memories.services import add_memory
from memory.models import Scratchpad
from memory.scratchpads.services import create_scratchpad
from memory.snapshots.services import save_snapshot
from memory.workflows.services import create_workflow
from sessions.given.models import Briefing, BriefingItem
from sessions.given.services import WRITER
from sessions.models import AgentSession
from sessions.sittings.services import save_session
from tests.hub import RestClient
from tests.sessions.given import KEY, REF, decide, items, read, vias

NOON = "2026-03-02T12:00:00+00:00"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as frozen:
        yield frozen


@pytest.fixture
def snapshot(ada: Caller) -> int:
    return save_snapshot(caller=ada, content="Sessions move.", source="mcp")["id"]


def test_get_records_the_version_of_a_decision(ada: Caller, ben: Caller) -> None:
    decide(ada)
    decide(ada, "sessions")
    read(ben)
    [briefing] = Briefing.objects.in_project(ben.project)
    assert (briefing.agent.name, briefing.via, briefing.session_id) == ("ben", "get", None)
    assert (briefing.tokens or 0) > 20
    assert items(ben) == [("decision", "1.0.1", "")]


def test_nothing_is_recorded_before_a_flush(ada: Caller) -> None:
    decide(ada)
    call(ada, "get", {"refs": [REF]})
    assert items(ada) == []
    WRITER.flush()
    assert len(items(ada)) == 1


def test_every_thing_of_an_answer_is_an_item(ada: Caller, snapshot: int) -> None:
    decide(ada)
    memory = add_memory(caller=ada, title="Login", content="It limits.", context="shop")
    read(ada, REF, f"memory:{memory['id']}", f"snapshot:{snapshot}", "decision:none", detail="digest")
    assert items(ada) == [
        ("decision", "1.0.0", "digest"),
        ("memory", "", "digest"),
        ("snapshot", "", "digest"),
    ]
    assert len(vias(ada)) == 1


def test_a_memory_has_a_version(ada: Caller) -> None:
    memory = add_memory(caller=ada, title="Login", content="It limits.", context="shop")
    read(ada, f"memory:{memory['id']}")
    [(kind, version, _)] = items(ada)
    assert (kind, bool(version)) == ("memory", True)


def test_a_pad_has_its_revision(ada: Caller) -> None:
    workflow = create_workflow(caller=ada, name="w")["workflow_id"]
    create_scratchpad(caller=ada, workflow_id=workflow, name="pad", content="x")
    pad = Scratchpad.objects.in_project(ada.project).get()
    call(ada, "scratchpad", {"action": "get", "scratchpad_id": pad.pk})
    read(ada, f"scratchpad:{pad.pk}", lines="1-")
    assert items(ada) == [("scratchpad", "1", ""), ("scratchpad", "1", "part")]


def test_what_an_answer_omits_was_not_given(ada: Caller) -> None:
    for n in range(5):
        decide(ada, "x" * 4_000, key=f"k{n}")
    answer = call(ada, "get", {"refs": [f"decision:k{n}" for n in range(5)], "max_tokens": 200})
    WRITER.flush()
    assert answer["omitted"]
    assert len(items(ada)) == 5 - answer["omitted"]


@pytest.mark.parametrize(
    ("tool", "arguments", "via", "kind"),
    [
        ("decision", {"action": "get", "key": KEY}, "get", "decision"),
        ("snapshot", {"action": "get"}, "get", "snapshot"),
        ("snapshot", {"action": "why"}, "why", "snapshot"),
        ("snapshot", {"action": "why", "id": REF}, "why", "decision"),
        ("snapshot", {"action": "load"}, "load", "snapshot"),
        ("brief", {}, "brief", "decision"),
    ],
)
def test_each_answer_that_opens_by_name_counts(
    ada: Caller, ben: Caller, snapshot: int, tool: str, arguments: dict[str, object], via: str, kind: str
) -> None:
    decide(ada)
    needs_id = tool == "snapshot" and arguments["action"] != "load"
    call(ben, tool, ({"id": snapshot} if needs_id else {}) | arguments)
    WRITER.flush()
    assert vias(ben) == [via]
    assert kind in {found for found, _, _ in items(ben)}


def test_a_restore_gives_the_session_that_it_continues(ada: Caller) -> None:
    saved = save_session(caller=ada, summary="The join is written.")["session"]
    call(ada, "session", {"action": "restore"})
    WRITER.flush()
    [item] = BriefingItem.objects.in_project(ada.project)
    assert (item.kind, item.object_id, item.briefing.via) == ("session", saved, "restore")
    assert item.briefing.session_id not in (None, saved)


def test_a_row_of_a_brief_has_its_section_and_version(ada: Caller, ben: Caller) -> None:
    decide(ada)
    answer = call(ben, "brief", {})
    WRITER.flush()
    assert ("decision", "1.0.0", "decisions") in items(ben)
    [briefing] = Briefing.objects.in_project(ben.project)
    assert briefing.tokens == answer["tokens"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("decision", {"action": "list"}),
        ("decision", {"action": "versions", "key": KEY, "version": "1.0.0"}),
        ("search", {"query": "JWT"}),
        ("decision", {"action": "get", "key": "none"}),
        ("check", {"paths": ["a.py"]}),
    ],
)
def test_lists_searches_and_earlier_versions_do_not_count(
    ada: Caller, tool: str, arguments: dict[str, object]
) -> None:
    decide(ada)
    call(ada, tool, arguments)
    WRITER.flush()
    assert items(ada) == []


def test_nothing_is_recorded_where_the_project_does_not_want_it(ada: Caller) -> None:
    set_config(caller=ada, values={"record_given": False})
    decide(ada)
    read(ada)
    assert items(ada) == []


def test_what_was_deleted_meanwhile_is_not_recorded(ada: Caller) -> None:
    decide(ada)
    call(ada, "get", {"refs": [REF]})
    call(ada, "delete", {"refs": [f"decision:{KEY}"]})
    WRITER.flush()
    assert vias(ada) == []


# -- Sessions --------------------------------------------------------------------------------------


def session_of(caller: Caller) -> tuple[int | None, str]:
    briefing = Briefing.objects.in_project(caller.project).latest("pk")
    return briefing.session_id, briefing.session_name


def test_over_http_it_is_the_agents_current_session(ada: Caller) -> None:
    decide(ada)
    saved = save_session(caller=ada, summary="x")["session"]
    read(ada)
    assert session_of(ada) == (saved, "")


def test_a_session_of_yesterday_is_not_current(ada: Caller, clock: time_machine.Traveller) -> None:
    decide(ada)
    save_session(caller=ada, summary="x")
    clock.shift(timedelta(hours=25))
    read(ada)
    assert session_of(ada) == (None, "")


def test_a_named_session_is_found_by_name_id_and_ref(ada: Caller) -> None:
    decide(ada)
    saved = save_session(caller=ada, session="evening", summary="x")["session"]
    for named in ("evening", str(saved), f"session:{saved}"):
        read(replace(ada, session=named))
        assert session_of(ada) == (saved, "")


def test_the_name_of_a_session_that_is_not_opened_yet_is_kept(ada: Caller) -> None:
    decide(ada)
    read(replace(ada, session="evening"))
    assert session_of(ada) == (None, "evening")
    assert not AgentSession.objects.in_project(ada.project).exists()


def test_an_unknown_number_is_no_session(ada: Caller) -> None:
    decide(ada)
    read(replace(ada, session="999999"))
    assert session_of(ada) == (None, "")


def test_on_stdio_it_is_the_session_of_the_window(ada: Caller) -> None:
    decide(ada)
    save_session(caller=ada, summary="x")
    window = Window()
    read(replace(ada, window=window))
    assert session_of(ada) == (None, "")
    mine = save_session(caller=ada, session="mine", summary="y")["session"]
    window.enter("ada", mine)
    read(replace(ada, window=window))
    assert session_of(ada) == (mine, "")


# -- Cost ------------------------------------------------------------------------------------------


def test_a_call_takes_no_statement_more(ada: Caller) -> None:
    decide(ada)
    counts = []
    for record in (True, False):
        set_config(caller=ada, values={"record_given": record})
        call(ada, "get", {"refs": [REF]})
        with CaptureQueriesContext(connection) as queries:
            call(ada, "get", {"refs": [REF]})
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_many_answers_take_as_many_statements_as_one(ada: Caller) -> None:
    for n in range(20):
        decide(ada, key=f"k{n}")
        call(Caller(project=ada.project, agent=f"a{n}"), "hub", {})
    counts = []
    for count in (1, 20):
        for n in range(count):
            refs = [f"decision:k{m}" for m in range(count)]
            call(Caller(project=ada.project, agent=f"a{n}", session=f"s{n}"), "get", {"refs": refs})
        with CaptureQueriesContext(connection) as queries:
            WRITER.flush()
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 12


def test_old_records_are_deleted(ada: Caller, clock: time_machine.Traveller) -> None:
    decide(ada)
    read(ada)
    clock.shift(timedelta(days=89))
    assert "briefings" not in cleanup(ada.project_id)
    clock.shift(timedelta(days=2))
    assert cleanup(ada.project_id)["briefings"] == 1
    assert items(ada) == []


def test_projects_are_recorded_apart(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        decide(caller)
        call(caller, "get", {"refs": [REF]})
    WRITER.flush()
    assert [len(items(caller)) for caller in (ada, cy)] == [1, 1]


# -- REST ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (f"decisions/{KEY}/", [("decision", "1.0.0", "")]),
        (f"decisions/?key={KEY}", [("decision", "1.0.0", "")]),
        ("snapshots/{snapshot}/", [("snapshot", "", "")]),
        ("snapshots/{snapshot}/why/", [("snapshot", "", "")]),
        ("links/why/?ref=" + REF, [("decision", "", "")]),
        ("snapshots/load/", [("snapshot", "", "")]),
        ("brief/", [("decision", "1.0.0", "decisions")]),
        ("decisions/", []),
        (f"decisions/{KEY}/versions/", []),
        (f"decisions/{KEY}/versions/?version=1.0.0", []),
    ],
)
def test_views_that_open_by_name_count(
    ada: Caller,
    ben: Caller,
    snapshot: int,
    ben_rest: RestClient,
    path: str,
    given: list[tuple[str, str, str]],
) -> None:
    decide(ada)
    reply = ben_rest.get(path.format(snapshot=snapshot))
    assert reply.status == 200, reply
    WRITER.flush()
    assert items(ben) == given


def test_a_write_over_rest_gives_nothing(ada: Caller, ada_rest: RestClient) -> None:
    assert ada_rest.post("decisions/", {"key": KEY, "value": "JWT"}).status == 201
    WRITER.flush()
    assert items(ada) == []
