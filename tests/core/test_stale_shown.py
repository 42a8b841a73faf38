"""What is stale says so wherever it is shown, and ranks lower."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.search.search import search
from ctxhub.toolbox.dispatch import call
from tests.core.stale import change, write_rows
from tracking.models import FileChange

pytestmark = pytest.mark.django_db


@pytest.fixture
def refs(ada: Caller) -> list[str]:
    return write_rows(ada, ["src/a.py", "src/b.py"])


@pytest.fixture
def stale(refs: list[str], ben: Caller) -> str:
    """Each of the refs is stale, since this time."""
    change(ben, "src/a.py", "src/b.py", "src/a.py")
    first = FileChange.objects.in_project(ben.project_id).order_by("pk")[0]
    return format_time(first.at)


@pytest.mark.parametrize("detail", ["full", "digest"])
def test_get_says_how_many_changes_since_when(ada: Caller, refs: list[str], stale: str, detail: str) -> None:
    items = call(ada, "get", {"refs": refs, "detail": detail})["items"]
    assert [(item["stale"], item["stale_since"]) for item in items] == [(3, stale)] * 3


def test_get_says_nothing_of_what_is_not_stale(ada: Caller, refs: list[str]) -> None:
    for item in call(ada, "get", {"refs": refs})["items"]:
        assert not {"stale", "stale_since"} & item.keys()


def test_each_tool_says_it(ada: Caller, refs: list[str], stale: str) -> None:
    decision = call(ada, "decision", {"action": "get", "key": "api/auth"})["decision"]
    memory = call(ada, "memory", {"action": "get", "id": int(refs[2].partition(":")[2])})
    assert (decision["stale"], decision["stale_since"]) == (3, stale)
    assert (memory["stale"], memory["stale_since"]) == (3, stale)


@pytest.mark.parametrize("tool", ["decision", "constraint", "memory"])
def test_lists_have_a_column_while_a_row_is_stale(
    ada: Caller, ben: Caller, refs: list[str], tool: str
) -> None:
    assert "stale" not in call(ada, tool, {"action": "list"})["columns"]
    change(ben, "src/a.py")
    items = call(ada, tool, {"action": "list", "format": "objects"})["items"]
    assert [item["stale"] for item in items] == [1]


def test_a_search_says_it_and_ranks_it_lower(ada: Caller, ben: Caller) -> None:
    call(ada, "decision", {"action": "set", "key": "fresh", "value": "Cookies", "paths": ["docs/**"]})
    for name in ("one", "two"):
        paths = [f"src/{name}.py"]
        call(ada, "memory", {"action": "add", "title": "Keys rotate", "content": name, "paths": paths})
    before = search(ada.project_id, "keys rotate").hits
    change(ben, f"src/{before[0].document.body}.py")
    found = call(ada, "search", {"query": "keys rotate", "format": "objects", "match": "any"})
    assert found["items"][0].get("stale") is None
    hits = search(ada.project_id, "keys rotate").hits
    assert [hit.ref for hit in hits] == [before[1].ref, before[0].ref]
    assert hits[1].ranked.strength == pytest.approx(0.85 * before[0].ranked.strength)
    assert [hit.stale and hit.stale.count for hit in hits] == [None, 1]


def test_a_search_of_memories_says_it(ada: Caller, stale: str) -> None:
    [item] = call(ada, "memory", {"action": "search", "query": "rotate", "format": "objects"})["items"]
    assert item["stale"] == 3


def test_a_search_takes_no_statement_more(ada: Caller, refs: list[str], ben: Caller) -> None:
    def statements() -> list[str]:
        with CaptureQueriesContext(connection) as queries:
            call(ada, "search", {"query": "JWT keys"})
        return [each["sql"] for each in queries]

    fresh = statements()
    change(ben, "src/a.py")
    assert len(statements()) == len(fresh)
    looks = [each for each in fresh if "stale > 0" in each]
    assert looks
    assert all("core_searchtext" in each for each in looks)


# -- Briefings -------------------------------------------------------------------------------------


def texts(answer: dict[str, Any], name: str) -> list[str]:
    [section] = [each for each in answer["sections"] if each["name"] == name]
    return [row[1] for row in section["rows"]]


def test_a_brief_ends_stale_rows_with_a_mark(ada: Caller, stale: str) -> None:
    answer = call(ada, "brief", {"task": "rotate the JWT keys, no secrets in logs"})
    mark = f" [stale: 3 changes since {stale[:10]}]"
    for name in ("constraints", "decisions", "memories"):
        assert [text.endswith(mark) for text in texts(answer, name)] == [True]


def test_a_brief_of_fresh_rows_has_no_mark(ada: Caller, refs: list[str]) -> None:
    assert "stale" not in str(call(ada, "brief", {}))


def test_a_brief_lists_stale_rows_behind_others_as_good(ada: Caller, ben: Caller) -> None:
    for key in ("a", "b", "c"):
        value = "JWT" if key != "c" else "Cookies"
        call(ada, "decision", {"action": "set", "key": key, "value": value, "paths": [f"src/{key}.py"]})
    first, second = texts(call(ada, "brief", {"task": "JWT"}), "decisions")
    rows = [row[0] for row in call(ada, "brief", {"task": "JWT"})["sections"][0]["rows"]]
    change(ben, f"src/{rows[0].partition(':')[2]}.py")
    marked = texts(call(ada, "brief", {"task": "JWT"}), "decisions")
    assert (marked[0], marked[1].partition(" [")[0]) == (second, first)


def test_check_marks_stale_rows(ada: Caller, stale: str) -> None:
    answer = call(ada, "check", {"paths": ["src/a.py"], "format": "objects"})
    for name in ("constraints", "decisions"):
        [item] = answer[name]["items"]
        assert item["text"].endswith(f" [stale: 3 changes since {stale[:10]}]")


def test_one_change_is_one(ada: Caller, ben: Caller, refs: list[str]) -> None:
    change(ben, "src/a.py")
    answer = call(ada, "check", {"paths": ["src/a.py"], "format": "objects"})
    assert "[stale: 1 change since 20" in answer["decisions"]["items"][0]["text"]


@pytest.mark.parametrize("tool", ["brief", "check"])
def test_a_briefing_looks_once(ada: Caller, ben: Caller, stale: str, tool: str) -> None:
    arguments = {"task": "JWT"} if tool == "brief" else {"paths": ["src/a.py"]}
    with CaptureQueriesContext(connection) as queries:
        call(ada, tool, arguments)
    assert len([each for each in queries if "position = 0 AND stale > 0" in each["sql"]]) == 1
