"""Lists of what is stale, or of what is not: `stale` of decision, constraint and memory list."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import PathPattern
from ctxhub.core.paths import rows as paths_rows
from ctxhub.toolbox.dispatch import call
from tests.core.stale import change
from tests.databases import take_statistics
from tests.hub import McpClient, RestClient
from tests.query_plans import explained, start_compact

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]

PATHS = {"decision": "decisions/", "constraint": "constraints/", "memory": "memories/"}
NAMES = {"decision": "key", "constraint": "text", "memory": "title"}
TOOLS = sorted(PATHS)


def write(caller: Caller, name: str, **more: Any) -> None:
    """A decision, a constraint and a memory of this name, about the files of the folder of this name."""
    more = {"paths": [f"{name}/**"], **more}
    call(caller, "decision", {"action": "set", "key": name, "value": "x", "scopes": ["all"], **more})
    rule = {"action": "add", "category": "c", "text": name, "scopes": ["all"], **more}
    call(caller, "constraint", rule)
    call(caller, "memory", {"action": "add", "title": name, "content": "x", **more})


@pytest.fixture
def rows(ada: Caller, ben: Caller) -> None:
    """Of three things `old` and `older` are stale, `new` is not, and `free` bears on no files."""
    for name in ("old", "older", "new"):
        write(ada, name, tags=["api", name])
    write(ada, "free", paths=[], tags=["free"])
    change(ben, "old/a.py", "older/a.py", "older/b.py")


def names(caller: Caller, tool: str, **query: Any) -> set[str]:
    items = call(caller, tool, {"action": "list", "format": "objects", **query})["items"]
    return {item[NAMES[tool]] for item in items}


@pytest.mark.parametrize("tool", TOOLS)
def test_true_lists_the_stale_and_false_the_others(rows: None, ada: Caller, tool: str) -> None:
    assert names(ada, tool, stale=True) == {"old", "older"}
    assert names(ada, tool, stale=False) == {"new", "free"}
    assert names(ada, tool) == {"old", "older", "new", "free"}


@pytest.mark.parametrize("tool", TOOLS)
def test_with_more_stale_rows_than_are_read_by_id(
    rows: None, ada: Caller, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths_rows, "FEW", 1)
    assert names(ada, tool, stale=True) == {"old", "older"}
    assert names(ada, tool, stale=True, tags=["older"]) == {"older"}


@pytest.mark.parametrize("tool", TOOLS)
def test_other_filters_hold_beside_it(rows: None, ada: Caller, tool: str) -> None:
    assert names(ada, tool, stale=True, tags=["older", "new"]) == {"older"}
    assert names(ada, tool, stale=False, tags=["older", "new"]) == {"new"}
    assert names(ada, tool, stale=True, tags=["new"]) == set()
    assert names(ada, tool, stale=True, by="ada") == {"old", "older"}
    assert names(ada, tool, stale=True, by="ben") == set()


@pytest.mark.parametrize("tool", ["decision", "constraint"])
def test_scopes_and_all_tags_hold_beside_it(rows: None, ada: Caller, tool: str) -> None:
    assert names(ada, tool, stale=True, scope="all") == {"old", "older"}
    assert names(ada, tool, stale=True, tags=["api", "old"], match="all") == {"old"}


def test_the_text_of_decisions_holds_beside_it(rows: None, ada: Caller) -> None:
    assert names(ada, "decision", stale=True, text="older") == {"older"}
    assert names(ada, "decision", stale=False, text="older") == set()


def test_priorities_of_constraints_hold_beside_it(rows: None, ada: Caller) -> None:
    assert names(ada, "constraint", stale=True, priority="medium", category="c") == {"old", "older"}
    assert names(ada, "constraint", stale=True, priority="high") == set()


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("stale", [True, False])
def test_pages_follow_one_another_with_the_total(rows: None, ada: Caller, tool: str, stale: bool) -> None:
    query = {"action": "list", "stale": stale, "limit": 1}
    first = call(ada, tool, query)
    second = call(ada, tool, {**query, "cursor": first["next"]})
    assert (first["count"], first["total"], second["count"], second["total"]) == (1, 2, 1, 2)
    assert first["rows"] != second["rows"]
    assert "next" not in second


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_confirmed_leaves_the_list(rows: None, ada: Caller, tool: str) -> None:
    found = call(ada, tool, {"action": "list", "stale": True, "format": "objects"})["items"]
    refs = [f"{tool}:{item.get('id', item.get('key'))}" for item in found]
    call(ada, "hub", {"action": "confirm", "refs": refs})
    assert names(ada, tool, stale=True) == set()


@pytest.mark.parametrize("tool", TOOLS)
def test_another_projects_rows_do_not_count(rows: None, ada: Caller, cy: Caller, tool: str) -> None:
    write(cy, "old")
    assert names(cy, tool, stale=True) == set()
    assert names(cy, tool, stale=False) == {"old"}


@pytest.mark.parametrize("tool", TOOLS)
def test_both_faces_take_it(rows: None, ada_mcp: McpClient, ada_rest: RestClient, tool: str) -> None:
    assert ada_mcp.call(tool, "list", stale=True)["total"] == 2
    assert ada_mcp.call(tool, "list", stale="false")["total"] == 2
    assert ada_rest.get(PATHS[tool], stale="true").body["count"] == 2
    page = ada_rest.get(PATHS[tool], stale="false", limit=1)
    assert (page.body["count"], page.body["total"]) == (1, 2)
    assert ada_rest.get(PATHS[tool]).body["count"] == 4


@pytest.mark.parametrize("tool", TOOLS)
def test_any_other_word_is_refused(ada_mcp: McpClient, ada_rest: RestClient, tool: str) -> None:
    answer = ada_mcp.call(tool, "list", stale="perhaps")
    assert answer["error"] == "invalid"
    assert "stale: must be a valid boolean" in answer["message"]
    refused = ada_rest.get(PATHS[tool], stale="perhaps")
    assert (refused.status, refused.body["error"]) == (400, "invalid")
    assert "stale: must be a valid boolean" in refused.body["message"]


@pytest.mark.parametrize("tool", TOOLS)
def test_only_who_asks_pays_and_one_statement(rows: None, ada: Caller, tool: str) -> None:
    def statements(**query: Any) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert call(ada, tool, {"action": "list", **query})["rows"]
        return len(captured)

    names(ada, tool)
    without = statements()
    assert statements(stale=False) == without
    assert statements(stale=True) == without + 1


def test_stale_rows_are_found_by_their_index(ada: Caller) -> None:
    start_compact(PathPattern)
    patterns = [
        PathPattern(
            project=ada.project, kind="memory", object_id=n, position=0, pattern="a", stale=n % 100 == 0
        )
        for n in range(2_000)
    ]
    PathPattern.unscoped.bulk_create(patterns)
    take_statistics()
    with CaptureQueriesContext(connection) as captured:
        assert len(paths_rows.stale_filter(ada.project_id, "memory", True).ids or ()) == 20
    assert "core_pathpattern_stale" in explained(captured.captured_queries[0]["sql"])
