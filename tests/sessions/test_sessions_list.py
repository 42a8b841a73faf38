"""Reading sessions: lists, one session, a conversation by parts, lineage, and what the hub shows."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.log import read_new_events
from ctxhub.core.events.waiting import Wanted
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.models import Event
from ctxhub.core.search.reindexing import index_missing
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.dispatch import call
from sessions.models import AgentSession
from sessions.sittings.restoring import find_last_saved, restore_session
from sessions.sittings.services import delete_session, save_session
from sessions.windows.calls import find_session
from sessions.windows.opening import open_session
from tests.databases import rolled_back
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact

pytestmark = pytest.mark.usefixtures("index_is_kept")


def listed(caller: Caller, **arguments: Any) -> list[int]:
    answer = call(caller, "session", {"action": "list", "format": "objects", **arguments})
    return [item["session"] for item in answer["items"]]


def get(caller: Caller, session: Any, **arguments: Any) -> dict[str, Any]:
    return call(caller, "session", {"action": "get", "session": session, **arguments})


def implicit(caller: Caller) -> int:
    at = clock.now()
    return open_session(Caller(caller.project, caller.agent), register_agent(caller, at), at)


# -- Lists -----------------------------------------------------------------------------------------


def test_a_list_has_a_row_for_each_session_newest_first(ada: Caller, ben: Caller) -> None:
    first = save_session(caller=ada, workspace_id="shop", summary="s", token_count=5)["session"]
    second = save_session(caller=ben, parent=str(first), summary="s")["session"]
    answer = call(ada, "session", {"action": "list"})
    late, early = (row[6] for row in answer["rows"])
    assert answer == {
        "columns": ["session", "agent", "workspace_id", "summary", "token_count", "parent", "at"],
        "rows": [
            [second, "ben", "default", "s", 1, first, late],
            [first, "ada", "shop", "s", 5, None, early],
        ],
        "count": 2,
        "total": 2,
    }


def test_a_list_is_filtered(ada: Caller, ben: Caller) -> None:
    first = save_session(caller=ada, workspace_id="shop", session="laptop", summary="s")["session"]
    second = save_session(caller=ben, parent=str(first), summary="s")["session"]
    for arguments, expected in (
        ({"workspace_id": "shop"}, [first]),
        ({"workspace_id": "Shop"}, []),
        ({"by": "BEN"}, [second]),
        ({"by": "nobody"}, []),
        ({"parent": first}, [second]),
        ({"parent": "laptop"}, [second]),
        ({"parent": f"session:{second}"}, []),
        ({"workspace_id": "shop", "by": "ben"}, []),
    ):
        assert listed(ada, **arguments) == expected, arguments


@pytest.mark.parametrize("parent", ["unknown", 99])
def test_the_sessions_of_an_unknown_one_are_not_found(ada: Caller, parent: str | int) -> None:
    with pytest.raises(NotFound, match=f"There is no session '?{parent}'?"):
        listed(ada, parent=parent)


def test_implicit_sessions_are_listed_only_if_asked_for(ada: Caller) -> None:
    saved, hidden = save_session(caller=ada, summary="s")["session"], implicit(Caller(ada.project, "ben"))
    assert listed(ada) == [saved]
    assert listed(ada, implicit=True) == [hidden, saved]
    assert get(ada, hidden)["saved_at"] is None


def test_pages_follow_one_another(ada: Caller) -> None:
    ids = [save_session(caller=ada, summary="s")["session"] for _ in range(5)]
    found: list[int] = []
    cursor = None
    while True:
        page = call(ada, "session", {"action": "list", "limit": 2, "cursor": cursor, "format": "objects"})
        found += [item["session"] for item in page["items"]]
        assert page["total"] == 5
        if not (cursor := page.get("next")):
            break
    assert found == ids[::-1]


@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": 0},
        {"limit": 201},
        {"cursor": "x"},
        {"implicit": "perhaps"},
        {"workspace_id": "w" * 201},
        {"by": "b" * 101},
        {"parent": "memory:4"},
        {"tag": "x"},
    ],
)
def test_a_bad_filter_is_refused(arguments: dict[str, Any], ada: Caller) -> None:
    with pytest.raises(InvalidInput):
        listed(ada, **arguments)


def test_another_project_sees_nothing(ada: Caller, cy: Caller) -> None:
    saved = save_session(caller=ada, session="laptop", conversation="x")
    assert listed(cy) == []
    for action in ("get", "lineage"):
        for named in (saved["session"], "laptop"):
            with pytest.raises(NotFound):
                call(cy, "session", {"action": action, "session": named})
    assert call(cy, "get", {"refs": [f"session:{saved['session']}"]})["items"] == []


# -- One session -----------------------------------------------------------------------------------


def test_a_session_is_read_without_its_texts_unless_full(ada: Caller) -> None:
    saved = save_session(caller=ada, conversation="c" * 500, items=[{"content": "i" * 500}])["session"]
    short, full = get(ada, saved), get(ada, saved, full=True)
    assert short["conversations"]["columns"] == ["id", "tokens", "at"]
    assert short["items"]["rows"][0][0] == "i" * 200 + "…"
    assert full["conversations"]["rows"][0][3] == "c" * 500
    assert full["items"]["rows"][0][0] == "i" * 500


def test_a_long_conversation_is_read_by_parts(ada: Caller) -> None:
    text = "\n".join(f"line {n}" for n in range(1, 20_001))
    saved = save_session(caller=ada, conversation=text)
    part = {"conversation": saved["conversation"]}
    assert get(ada, saved["session"], **part, lines="3-4")["text"] == "line 3\nline 4"
    assert get(ada, saved["session"], **part, tail=1)["text"] == "line 20000"
    whole, read = "", get(ada, saved["session"], **part)
    while True:
        whole += read["text"]
        if "next_lines" not in read:
            break
        read = get(ada, saved["session"], **part, lines=read["next_lines"])
    assert whole == text


def test_a_conversation_of_another_session_is_not_found(ada: Caller) -> None:
    one, two = (save_session(caller=ada, conversation=text) for text in ("a", "b"))
    for conversation in (two["conversation"], 0, 10**30):
        with pytest.raises(NotFound):
            get(ada, one["session"], conversation=conversation)


@pytest.mark.parametrize(
    "arguments",
    [{"lines": "1-2"}, {"tail": 1}, {"conversation": "x"}, {"full": "so"}, {"conversation": 1, "tail": 0}],
)
def test_bad_arguments_of_get_are_refused(arguments: dict[str, Any], ada: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    with pytest.raises(InvalidInput):
        get(ada, saved, **arguments)


def test_a_session_is_opened_by_its_ref(ada: Caller) -> None:
    saved = save_session(caller=ada, summary="s" * 300, session="laptop", conversation="talk")["session"]
    answer = call(ada, "get", {"refs": [f"session:{saved}", "session:laptop", "session:99", "session:no"]})
    assert [item["ref"] for item in answer["items"]] == [f"session:{saved}", "session:laptop"]
    assert answer["items"][0]["conversations"]["rows"][0][3] == "talk"
    assert answer["missing"] == ["session:99", "session:no"]
    short = call(ada, "get", {"refs": [f"session:{saved}"], "detail": "digest"})["items"][0]
    assert short["conversations"]["columns"] == ["id", "tokens", "at"]


# -- Lineage ---------------------------------------------------------------------------------------


def test_lineage_goes_back_to_the_first(ada: Caller) -> None:
    first = save_session(caller=ada, summary="one")["session"]
    second = restore_session(caller=ada)["session"]
    third = save_session(caller=ada, parent=str(second), session="third", summary="three")["session"]
    answer = call(ada, "session", {"action": "lineage", "session": "third"})
    assert answer["columns"] == ["session", "depth", "summary", "at"]
    assert [row[:3] for row in answer["rows"]] == [[third, 0, "three"], [second, 1, "one"], [first, 2, "one"]]


def test_lineage_has_pages_and_ends_after_1000(ada: Caller) -> None:
    line(ada, 1_100)
    newest = listed(ada, limit=1)[0]
    page = call(ada, "session", {"action": "lineage", "session": newest, "limit": 200})
    assert (page["count"], page["total"], page["rows"][0][1]) == (200, 1_001, 0)
    after = call(ada, "session", {"action": "lineage", "session": newest, "cursor": page["next"]})
    assert after["rows"][0][1] == 200


def test_lineage_stops_where_a_circle_closes(ada: Caller) -> None:
    ids = line(ada, 200)
    AgentSession.unscoped.filter(pk=ids[0]).update(parent_id=ids[-1])
    page = call(ada, "session", {"action": "lineage", "session": ids[5], "limit": 5})
    assert page["total"] == 200


def line(caller: Caller, count: int) -> list[int]:
    """Sessions each of which continues the one before."""
    first = save_session(caller=caller, summary="s")["session"]
    rows = [
        AgentSession(project=caller.project, pk=first + n, parent_id=first + n - 1, saved_at=clock.now())
        for n in range(1, count)
    ]
    AgentSession.unscoped.bulk_create(rows)
    index_missing()
    return [first, *(row.pk for row in rows)]


# -- In the hub ------------------------------------------------------------------------------------


def test_sessions_are_counted_without_implicit_ones(ada: Caller) -> None:
    assert call(ada, "hub", {"action": "stats"})["sessions"] == 0
    saved = save_session(caller=ada, summary="s")["session"]
    implicit(Caller(ada.project, "ben"))
    open_session(ada.in_session("named"), register_agent(ada, clock.now()), clock.now())
    assert call(ada, "hub", {"action": "stats"})["sessions"] == 2
    for named in (saved, "named"):
        delete_session(caller=ada, session=named)
    assert call(ada, "hub", {"action": "stats"})["sessions"] == 0


def test_an_implicit_session_leaves_no_event_and_is_counted_once_it_is_saved(ada: Caller) -> None:
    hidden = implicit(ada)
    assert not Event.objects.in_project(ada.project).filter(noun="session").exists()
    assert save_session(caller=ada, summary="s")["session"] == hidden
    assert call(ada, "hub", {"action": "stats"})["sessions"] == 1
    delete_session(caller=ada, session=implicit(Caller(ada.project, "ben")))
    verbs = Event.objects.in_project(ada.project).filter(noun="session").values_list("verb", flat=True)
    assert list(verbs) == ["saved"]


def test_the_agents_show_their_current_session(ada: Caller, ben: Caller) -> None:
    save_session(caller=ada, summary="s")
    current = save_session(caller=ada, summary="s")["session"]
    call(ben, "hub", {"action": "stats"})
    answer = call(ada, "hub", {"action": "agents", "format": "objects"})
    assert {item["name"]: item["session"] for item in answer["items"]} == {"ada": current, "ben": None}


def test_sessions_are_found_by_summary_conversation_project_and_branch(ada: Caller) -> None:
    saved = save_session(
        caller=ada,
        summary="Pelicans\nThey nest.",
        conversation="about herons",
        active_project="ornithology",
        branch="feathers",
    )["session"]
    for query in ("pelicans", "nest", "herons", "ornithology", "feathers"):
        answer = call(ada, "search", {"query": query, "kinds": ["session"], "by": "ada"})
        assert [row[0] for row in answer["rows"]] == [f"session:{saved}"], query
    assert answer["rows"][0][1] == "Pelicans"


def test_a_new_conversation_replaces_the_old_one_in_the_index(ada: Caller) -> None:
    save_session(caller=ada, session="laptop", conversation="about herons")
    save_session(caller=ada, session="laptop", conversation="about owls")
    answer = call(ada, "search", {"query": "herons", "match": "all"})
    assert answer["rows"] == []


def test_events_of_sessions_are_listed_and_wake_nobody(ada: Caller, ben: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    answer = call(ben, "hub", {"action": "activity", "verbs": ["save"]})
    assert [row[3] for row in answer["rows"]] == [f"session:{saved}"]
    assert call(ben, "hub", {"action": "updates", "since": "e0"})["sessions"] == 1
    wanted = Wanted({ada.project_id: 0}, "ben", frozenset(), 1)
    assert not any(wanted.is_news(ada.project_id, event) for event in read_new_events(ada.project_id, 0))


# -- Cost ------------------------------------------------------------------------------------------

INDEXES: list[tuple[dict[str, Any], str]] = [
    ({}, "sessions_session_by_time"),
    ({"implicit": True}, "sessions_session_by_time"),
    ({"workspace_id": "w1"}, "sessions_session_by_space"),
    ({"by": "ada"}, "sessions_session_by_agent"),
    ({"parent": 1}, "sessions_session_by_parent"),
    ({"parent": 1, "by": "ada"}, "sessions_session_by_parent"),
    ({"by": "ada", "workspace_id": "w1"}, "sessions_session_by_(agent|space)"),
]


@pytest.fixture
def many(ada: Caller, ben: Caller) -> Caller:
    start_compact(AgentSession)
    first = save_session(caller=ada, summary="s")["session"]
    agents = [register_agent(caller, clock.now()) for caller in (ada, ben, ben)]
    AgentSession.unscoped.bulk_create(
        AgentSession(
            project=ada.project,
            pk=first + n,
            agent_id=agents[n % 3],
            workspace_id=f"w{n % 7}",
            parent_id=first + n // 5,
            saved_at=clock.now(),
        )
        for n in range(1, 1_200)
    )
    index_missing()
    plan_by_indexes()
    return ada


def test_a_list_reads_an_index_in_list_order(many: Caller) -> None:
    first = AgentSession.objects.in_project(many.project).earliest("pk").pk
    page = call(many, "session", {"action": "list", "limit": 5})["next"]
    for filters, index in INDEXES:
        query = {**filters, **({"parent": first + 3} if "parent" in filters else {})}
        for cursor in (None, page):
            plan = explained(statement(many, {"action": "list", "limit": 5, "cursor": cursor, **query}))
            assert re.search(rf"\b{index}\b", plan), (query, plan)
            assert not sorts_inside(plan), (query, plan)


def test_the_session_to_restore_and_the_current_one_are_found_by_an_index(many: Caller) -> None:
    with rolled_back():
        AgentSession.unscoped.update(saved_at=clock.now(), current_at=clock.now())
        plan_by_indexes()
        with CaptureQueriesContext(connection) as captured:
            assert find_last_saved(many.project_id, "ada", "w1")
            assert find_session(many)
        restored, current = (explained(query["sql"]) for query in captured.captured_queries)
    assert "sessions_session_last_saved" in restored
    assert "sessions_session_current" in current


def statement(caller: Caller, arguments: dict[str, Any]) -> str:
    """The SQL statement that reads the rows of the page."""
    with CaptureQueriesContext(connection) as captured:
        call(caller, "session", arguments)
    [found] = [query["sql"] for query in captured.captured_queries if "WITH page" in query["sql"]]
    return str(found)
