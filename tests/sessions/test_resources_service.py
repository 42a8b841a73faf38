"""Tracking of files in sessions: counts, contents, importance, and whose session it is."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Agent, Event, Project
from ctxhub.toolbox.dispatch import call
from sessions.accesses.files import list_session_resources
from sessions.accesses.queries import list_accesses
from sessions.accesses.services import add_dependency, track_access
from sessions.models import Access, AgentSession, SessionResource
from sessions.sittings.services import save_session
from tests.tables import dump_project
from tracking.changes.services import record_change
from tracking.models import AccessKind, Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def track(caller: Caller, path: str = "src/app.py", access: str = "viewed", **more: Any) -> dict[str, Any]:
    return {**track_access(caller=caller, path=path, access=access, **more)}


def rows(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    return list_session_resources(caller, **query).objects()


def open_file(caller: Caller, path: str = "src/app.py", **more: Any) -> dict[str, Any]:
    [item] = call(caller, "get", {"refs": [f"resource:{path}"], **more})["items"]
    return dict(item)


# -- Tracking --------------------------------------------------------------------------------------


def test_an_access_is_counted_for_the_file_and_its_session(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        track(ada)
        now.shift(timedelta(minutes=5))
        answer = track(ada, access="edited")
    file = Resource.objects.in_project(apollo).get()
    assert (file.access_count, file.last_accessed) == (2, NOON + timedelta(minutes=5))
    assert file.best_access == AccessKind.EDITED
    link = SessionResource.objects.in_project(apollo).get()
    assert (link.session_id, link.access_count, link.modified) == (answer["session"], 2, True)
    assert Access.objects.in_project(apollo).count() == 2


def test_the_answer_has_path_tokens_importance_and_session(ada: Caller, apollo: Project) -> None:
    answer = track(ada, "./src//app.py", content="x = 1\n")
    session = AgentSession.objects.in_project(apollo).get()
    tokens = Resource.objects.in_project(apollo).get().tokens
    assert answer == {"path": "src/app.py", "tokens": tokens, "importance": 40, "session": session.pk}


@pytest.mark.parametrize(
    ("word", "access"),
    [
        *[("viewed", "viewed"), ("EDITED", "edited"), (" Executed ", "executed"), ("referenced",) * 2],
        *[("view", "viewed"), ("Edit", "edited"), ("EXECUTE", "executed"), ("reference", "referenced")],
        *[("1", "viewed"), ("2", "referenced"), ("3", "executed"), ("4", "edited")],
    ],
)
def test_accesses_in_all_their_words(ada: Caller, word: str, access: str) -> None:
    track(ada, access=word)
    assert [row["access"] for row in list_accesses(ada).objects()] == [access]


def test_the_importance_of_the_design(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        assert track(ada)["importance"] == 40
        assert track(ada, "src/b.py", "edited")["importance"] == 63
        assert track(ada, "src/c.py", importance=7)["importance"] == 7
        assert track(ada, "src/c.py", "edited")["importance"] == 7


def test_another_sessions_edits_are_not_this_ones(ada: Caller, ben: Caller) -> None:
    track(ada, access="edited")
    answer = track(ben, access="viewed")
    assert answer["importance"] == 30 + 15 + 5 + 5  # 20 ln(3) / ln(101) is 4.8.
    [row] = rows(ben)
    assert (row["access"], row["count"], row["modified"]) == ("viewed", 1, False)


def test_credentials_are_masked_and_counted(ada: Caller) -> None:
    answer = track(ada, content=f"A = '{TOKEN}'\nB = '{TOKEN}'\n")
    assert answer["masked"] == 2
    assert open_file(ada)["content"] == "A = '[credential: GitHub token]'\nB = '[credential: GitHub token]'\n"


def test_tracking_leaves_no_event(ada: Caller, apollo: Project) -> None:
    track(ada, content="x")
    add_dependency(caller=ada, source="a", target="b", type="imports")
    assert set(Event.objects.in_project(apollo).values_list("noun", flat=True)) <= {"agent"}


def test_it_executes_few_statements(ada: Caller) -> None:
    track(ada, content="x = 1")
    with CaptureQueriesContext(connection) as captured:
        track(ada, content="x = 1")
    statements = [query["sql"] for query in captured if "SAVEPOINT" not in query["sql"]]
    assert len(statements) <= 8, statements


# -- Whose session it is ---------------------------------------------------------------------------


def test_a_named_session_is_opened_and_found_again(ada: Caller) -> None:
    first = track(ada, session="window 1")["session"]
    assert track(ada, session="window 1")["session"] == first
    assert track(ada, session=str(first))["session"] == first
    assert track(ada, session=f"session:{first}")["session"] == first
    assert track(ada)["session"] != first


def test_two_windows_of_one_agent_do_not_mix(
    apollo: Project, django_capture_on_commit_callbacks: Any
) -> None:
    one, two = (Caller(project=apollo, agent="ada", window=Window()) for _ in range(2))
    with django_capture_on_commit_callbacks(execute=True):
        track(one, "a.py")
        track(two, "b.py", "edited")
    track(one, "c.py")
    assert {row["path"] for row in rows(one)} == {"a.py", "c.py"}
    assert {row["path"] for row in rows(two)} == {"b.py"}


def test_another_agents_session_is_not_allowed(ada: Caller, ben: Caller, apollo: Project) -> None:
    session = track(ben, session="ben's")["session"]
    before = dump_project(apollo)
    for named in (str(session), "ben's"):
        with pytest.raises(NotAllowed, match="another agent"):
            track(ada, "new.py", session=named, content="x")
        with pytest.raises(NotAllowed, match="another agent"):
            add_dependency(caller=ada.in_session(named), source="new", target="b", type="x")
    assert dump_project(apollo) == before


def test_another_agents_session_is_read(ada: Caller, ben: Caller) -> None:
    session = track(ben, session="ben's")["session"]
    assert [row["path"] for row in rows(ada, session=str(session))] == ["src/app.py"]
    assert list_accesses(ada, session="ben's").objects()[0]["agent"] == "ben"


def test_a_stranger_sees_nothing(ada: Caller, cy: Caller) -> None:
    session = str(track(ada, session="mine")["session"])
    assert (rows(cy), rows(cy, session="mine"), list_accesses(cy).rows) == ([], [], [])
    assert list_accesses(cy, path="src/app.py").rows == []
    for read in (rows, list_accesses, lambda caller, session: track(caller, session=session)):
        with pytest.raises(NotFound):
            read(cy, session=session)


def test_without_a_session_there_are_no_files(ada: Caller) -> None:
    assert list_session_resources(ada).answer() == {"columns": [], "rows": [], "count": 0, "total": 0}
    assert list_session_resources(ada, session="unknown").rows == []


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"path": "../x"},
        {"path": "/etc/passwd"},
        {"path": ""},
        {"path": f"src/{TOKEN}"},
        {"access": "deleted"},
        {"access": "5"},
        {"access": ""},
        {"session": "x" * 101},
        {"session": "memory:5"},
        {"hash": "x" * 201},
        {"size": -1},
        {"token_count": -1},
        {"type": "poem"},
        {"importance": 101},
        {"content": "a\0b"},
    ],
    ids=str,
)
def test_bad_input_writes_nothing(ada: Caller, apollo: Project, given: dict[str, Any]) -> None:
    before = dump_project(apollo)
    with pytest.raises(InvalidInput):
        track(ada, **given)
    assert dump_project(apollo) == before


def test_an_unknown_session_id_is_not_found(ada: Caller, apollo: Project) -> None:
    with pytest.raises(NotFound, match="999"):
        track(ada, session="999")
    assert not Agent.objects.in_project(apollo).filter(name="ada").exists()


# -- The files of a session ------------------------------------------------------------------------


def test_all_columns_of_a_file(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        track(ada, access="edited", content="x", hash="abc", size=3, token_count=9, type="data")
        [row] = rows(ada)
    assert row == {
        "path": "src/app.py",
        "type": "data",
        "access": "edited",
        "count": 1,
        "importance": 61,
        "relevance": 0,
        "included": False,
        "mode": None,
        "tokens": 9,
        "compressed_tokens": None,
        "size": 3,
        "hash": "abc",
        "modified": True,
        "at": "2026-11-21T12:00:00Z",
    }


@pytest.fixture
def worked(ada: Caller, apollo: Project) -> None:
    """b.py was accessed most often, c.py last, and a.py is the most relevant."""
    with time_machine.travel(NOON, tick=False) as now:
        for path in ("a.py", "b.py", "b.py", "c.py"):
            track(ada, path, session="work")
            now.shift(timedelta(minutes=1))
    link = SessionResource.objects.in_project(apollo).filter(resource__path="a.py")
    link.update(relevance=70, included=True, mode=2, compressed_tokens=5)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [("relevance", "acb"), ("Accessed", "bca"), ("recent", "cba")],
)
def test_each_order_in_pages(worked: None, ada: Caller, sort: str, expected: str) -> None:
    assert [row["path"][0] for row in rows(ada, session="work", sort=sort)] == list(expected)
    paths, cursor = [], None
    for _ in expected:
        page = list_session_resources(ada, session="work", sort=sort, limit=1, cursor=cursor)
        assert page.extra == {"total": 3}
        paths.append(page.objects()[0]["path"][0])
        cursor = page.next
    assert (paths, cursor) == (list(expected), None)


def test_of_equally_relevant_files_the_strongest_access_comes_first(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        for path, access in (
            ("edited", "edited"),
            ("run", "executed"),
            ("early", "viewed"),
            ("late", "viewed"),
        ):
            track(ada, path, access, session="work")
            now.shift(timedelta(minutes=1))
        save_session(caller=ada, session="work", files=[{"path": "saved", "hash": "1"}])
    expected = ["edited", "run", "late", "early", "saved"]
    assert [row["path"] for row in rows(ada, session="work")] == expected
    paths, cursor = [], None
    for _ in expected:
        page = list_session_resources(ada, session="work", limit=1, cursor=cursor)
        paths.append(page.objects()[0]["path"])
        cursor = page.next
    assert (paths, cursor) == (expected, None)


def test_what_was_prioritised_is_shown(worked: None, ada: Caller) -> None:
    first = rows(ada, session="work", limit=1)[0]
    assert (first["relevance"], first["included"], first["mode"], first["compressed_tokens"]) == (
        *(70, True, "compressed", 5),
    )


@pytest.mark.parametrize(
    "query",
    [{"sort": "name"}, {"limit": 0}, {"limit": 201}, {"cursor": "x"}, {"session": "x" * 101}],
    ids=str,
)
def test_a_bad_query_is_refused(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        rows(ada, **query)


def test_a_cursor_of_another_order_is_refused(worked: None, ada: Caller) -> None:
    cursor = list_session_resources(ada, session="work", limit=1).next
    for sort in ("accessed", "recent"):
        with pytest.raises(InvalidInput, match="cursor"):
            rows(ada, sort=sort, cursor=cursor)


# -- Accesses --------------------------------------------------------------------------------------


@pytest.fixture
def history(ada: Caller, ben: Caller) -> int:
    """Three accesses of two agents, a minute apart; returns Ada's session."""
    with time_machine.travel(NOON, tick=False) as now:
        session = track(ada, "a.py", session="first")["session"]
        now.shift(timedelta(minutes=1))
        track(ben, "a.py", "edited")
        now.shift(timedelta(minutes=1))
        track(ada, "b.py", "executed", session="second")
    return int(session)


def accessed(caller: Caller, **query: Any) -> list[tuple[str, str, str]]:
    found = list_accesses(caller, **query).objects()
    return [(row["path"], row["access"], row["agent"]) for row in found]


A, B, C = ("b.py", "executed", "ada"), ("a.py", "edited", "ben"), ("a.py", "viewed", "ada")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [A, B, C]),
        ({"path": "./a.py"}, [B, C]),
        ({"path": "unknown"}, []),
        ({"session": "first"}, [C]),
        ({"access": "EDIT"}, [B]),
        ({"access": 3}, [A]),
        ({"since": "2026-11-21T12:01:00Z"}, [A, B]),
        ({"path": "a.py", "session": "first", "access": "viewed", "since": "2026-11-21"}, [C]),
        ({"path": "a.py", "session": "second"}, []),
    ],
    ids=str,
)
def test_accesses_by_each_filter(
    history: int, ada: Caller, query: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    assert accessed(ada, **query) == expected


@pytest.mark.parametrize("session", ["unknown", "99"])
def test_accesses_of_an_unknown_session_are_not_found(ada: Caller, session: str) -> None:
    with pytest.raises(NotFound, match="There is no session"):
        list_accesses(ada, session=session)


def test_accesses_of_a_session_by_its_id_and_ref(history: int, ada: Caller) -> None:
    assert accessed(ada, session=str(history)) == accessed(ada, session=f"session:{history}") == [C]


def test_accesses_come_in_pages(history: int, ada: Caller) -> None:
    first = list_accesses(ada, limit=2)
    assert first.extra == {"total": 3}
    assert accessed(ada, limit=2, cursor=first.next) == [C]


@pytest.mark.parametrize(
    "query",
    [{"path": ".."}, {"access": "moved"}, {"since": "soon"}, {"limit": 0}, {"cursor": "x"}],
    ids=str,
)
def test_a_bad_query_of_accesses_is_refused(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        list_accesses(ada, **query)


# -- Opened by ref ---------------------------------------------------------------------------------


def test_get_shows_all_that_is_known_of_a_file(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        record_change(caller=ben, path="src/app.py", change="modified", description="Why.")
        call(ben, "file", {"paths": ["src/**"], "reason": "Rotate."})
        track(ada, content="one\ntwo\nthree\n", hash="abc", token_count=6)
        item = open_file(ada)
    assert item.pop("changes")[0]["description"] == "Why."
    assert item.pop("leases")[0]["by"] == "ben"
    assert item == {
        "ref": "resource:src/app.py",
        "path": "src/app.py",
        "type": "code",
        "size": 14,
        "tokens": 6,
        "hash": "abc",
        "importance": 40,
        "importance_parts": {"recency": 30.0, "frequency": 3.0, "access": 2.0, "type": 5.0},
        "content": "one\ntwo\nthree\n",
    }


def test_get_reads_lines_of_the_content(ada: Caller) -> None:
    track(ada, content="one\ntwo\nthree\n")
    assert open_file(ada, lines="2-2")["content"] == "two"
    assert open_file(ada, tail=1)["content"] == "three\n"


def test_a_digest_is_short(ada: Caller) -> None:
    track(ada, content="x" * 1_000)
    item = open_file(ada, detail="digest")
    assert item.keys() == {"ref", "path", "type", "tokens", "importance"}


def test_a_deleted_file_is_told_as_such(ada: Caller) -> None:
    track(ada, content="x")
    record_change(caller=ada, path="src/app.py", change="deleted")
    assert open_file(ada)["changes"][0]["change"] == "deleted"


def test_the_search_finds_tracked_content(ada: Caller, cy: Caller) -> None:
    track(ada, content="def rotate_hydraulics(): ...")
    answer = call(ada, "search", {"query": "hydraulics", "kinds": ["resource"], "format": "objects"})
    assert [item["ref"] for item in answer["items"]] == ["resource:src/app.py"]
    assert call(cy, "search", {"query": "hydraulics"})["count"] == 0
