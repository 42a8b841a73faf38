"""Workflows and scratchpads over the MCP wire."""

import json
from typing import Any

import pytest

from ctxhub.core.models import Project
from tests.hub import McpClient
from tests.memory.pads import content_of
from tests.tables import dump_project

TEXT = "# Findings\nA slow query\n\n# Plan\nMend it"


def new_workflow(client: McpClient, **fields: Any) -> int:
    return int(client.call("scratchpad", "create_workflow", **fields)["workflow_id"])


def pad(client: McpClient, content: str = TEXT, workflow: int | None = None, name: str = "notes") -> int:
    workflow = new_workflow(client) if workflow is None else workflow
    made = client.call("scratchpad", "create", workflow_id=workflow, name=name, content=content)
    return int(made["scratchpad_id"])


def tables(project: Project) -> Any:
    dump = dump_project(project)
    return [dump[f"memory_{name}"] for name in ("workflow", "scratchpad", "scratchpadrevision")]


# -- Each operation --------------------------------------------------------------------------------


def test_one_agent_writes_and_another_reads(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    workflow = new_workflow(ada_mcp, name="Refactoring", metadata={"team": "payments"})
    row_id = pad(ada_mcp, workflow=workflow)
    [listed] = ben_mcp.rows("scratchpad", "workflows")
    shown = {
        "id": workflow,
        "name": "Refactoring",
        "pads": 1,
        "active": True,
        "metadata": {"team": "payments"},
    }
    assert {name: listed[name] for name in shown} == shown
    assert set(listed) == {*shown, "created_at", "updated_at"}
    [row] = ben_mcp.rows("scratchpad", "list", workflow_id=workflow)
    assert (row["id"], row["name"], row["length"]) == (row_id, "notes", len(TEXT))
    found = ben_mcp.call("scratchpad", "get", scratchpad_id=row_id)["scratchpad"]
    assert (found["content"], found["workflow_id"], found["revision"]) == (TEXT, workflow, 1)


def test_a_pad_is_created_edited_restored_and_deleted(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = pad(ada_mcp)
    target = {"scratchpad_id": row_id}
    assert ben_mcp.call("scratchpad", "append", **target, content="more")["new_length"] == len(TEXT) + 6
    changed = ada_mcp.call(
        "scratchpad", "update", **target, content="new", mode="append_section", section="plan"
    )
    assert (changed["result"], changed["revision"], changed["mode"]) == ("updated", 3, "append_section")
    assert content_of(row_id).endswith("Mend it\n\nmore\nnew")
    rows = ada_mcp.rows("scratchpad", "revisions", **target)
    assert [(row["revision"], row["change"], row["agent"]) for row in rows] == [
        (3, "section_extended", "ada"),
        (2, "appended", "ben"),
        (1, "created", "ada"),
    ]
    revision = ada_mcp.call("scratchpad", "revisions", **target, revision=2)["scratchpad"]
    assert (revision["content"], revision["agent"], revision["revision"]) == (f"{TEXT}\n\nmore", "ben", 2)
    assert ada_mcp.call("scratchpad", "restore", **target, revision=1)["revision"] == 4
    assert content_of(row_id) == TEXT
    ref = f"scratchpad:{row_id}"
    assert ada_mcp.rows("delete", refs=[ref]) == [{"ref": ref, "result": "deleted"}]
    assert ada_mcp.call("scratchpad", "get", **target) == {"scratchpad": None}


def test_a_workflow_is_closed_reopened_and_deleted(ada_mcp: McpClient) -> None:
    workflow = new_workflow(ada_mcp)
    row_id = pad(ada_mcp, workflow=workflow)
    closed = ada_mcp.call("scratchpad", "close_workflow", workflow_id=workflow)
    assert closed == {"workflow_id": workflow, "active": False, "result": "updated"}
    refused = ada_mcp.call("scratchpad", "append", scratchpad_id=row_id, content="x")
    assert refused["error"] == "conflict"
    assert "reopen=true" in refused["hint"]
    ada_mcp.call("scratchpad", "close_workflow", workflow_id=workflow, reopen=True)
    assert "new_length" in ada_mcp.call("scratchpad", "append", scratchpad_id=row_id, content="x")
    ref = f"workflow:{workflow}"
    gone = ada_mcp.rows("delete", refs=[ref])
    assert gone == [{"ref": ref, "result": "deleted", "note": "with 1 scratchpad"}]
    assert ada_mcp.call("scratchpad", "workflows")["total"] == 0


def test_get_reads_parts_of_a_pad(ada_mcp: McpClient) -> None:
    row_id = pad(ada_mcp)

    def read(**part: Any) -> dict[str, Any]:
        found: dict[str, Any] = ada_mcp.call("scratchpad", "get", scratchpad_id=row_id, **part)["scratchpad"]
        return found

    assert (read(lines="2-3")["content"], read(lines="2-3")["lines"]) == ("A slow query\n", "2-3")
    assert (read(tail=1)["content"], read(tail=1)["total_lines"]) == ("Mend it", 5)
    assert read(outline=True)["outline"]["rows"] == [[1, "Findings", 1, 25], [1, "Plan", 4, 14]]


def test_get_reads_several_pads_and_lists_missing_ids(ada_mcp: McpClient) -> None:
    first, second = pad(ada_mcp, "a"), pad(ada_mcp, "b")
    answer = ada_mcp.call("scratchpad", "get", scratchpad_ids=[f"scratchpad:{second}", 10**9, str(first)])
    assert [found["content"] for found in answer["scratchpads"]] == ["b", "a"]
    assert answer["missing"] == [10**9]


@pytest.mark.parametrize("form", ["{}", "scratchpad:{}", " {} "])
def test_a_pads_id_may_come_as_text_or_as_a_ref(ada_mcp: McpClient, form: str) -> None:
    row_id = pad(ada_mcp)
    assert ada_mcp.call("scratchpad", "get", scratchpad_id=form.format(row_id))["scratchpad"]["id"] == row_id
    assert ada_mcp.call("scratchpad", "get", scratchpad_ids=form.format(row_id))["missing"] == []


@pytest.mark.parametrize("form", ["{}", "workflow:{}", " {} "])
def test_a_workflows_id_may_come_as_text_or_as_a_ref(ada_mcp: McpClient, form: str) -> None:
    workflow = new_workflow(ada_mcp)
    pad(ada_mcp, workflow=workflow)
    assert ada_mcp.call("scratchpad", "list", workflow_id=form.format(workflow))["count"] == 1


def test_the_action_is_inferred_from_the_arguments(ada_mcp: McpClient) -> None:
    workflow = new_workflow(ada_mcp, name="w")
    made = ada_mcp.call("scratchpad", workflow_id=workflow, name="notes", content="eagle")
    target = {"scratchpad_id": made["scratchpad_id"]}
    assert ada_mcp.call("scratchpad", **target, content="x")["new_length"] == 8
    assert ada_mcp.call("scratchpad", query="eagle")["total"] == 1
    assert ada_mcp.call("scratchpad", query="eagle", workflow_id=workflow)["total"] == 1
    assert ada_mcp.call("scratchpad", **target)["scratchpad"]["content"] == "eagle\n\nx"
    assert ada_mcp.call("scratchpad", scratchpad_ids=[target["scratchpad_id"]])["missing"] == []
    assert ada_mcp.call("scratchpad", workflow_id=workflow)["count"] == 1
    assert ada_mcp.call("scratchpad")["rows"][0][1] == "w"


def test_texts_are_never_parsed(ada_mcp: McpClient) -> None:
    row_id = pad(ada_mcp, '{"a": 1}')
    ada_mcp.call("scratchpad", "append", scratchpad_id=row_id, content='["b"]', separator="[1]")
    assert content_of(row_id) == '{"a": 1}[1]["b"]'


def test_search_get_stats_and_activity_include_pads(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    workflow = new_workflow(ada_mcp, name="eagle landing")
    row_id = pad(ada_mcp, "eagle", workflow)
    refs = {row["ref"] for row in ben_mcp.rows("search", query="eagle")}
    assert refs == {f"workflow:{workflow}", f"scratchpad:{row_id}"}
    items = ben_mcp.call("get", refs=sorted(refs))["items"]
    assert [item["ref"] for item in items] == sorted(refs)
    assert (items[0]["content"], items[1]["pads"]) == ("eagle", 1)
    digests = ben_mcp.call("get", refs=sorted(refs), detail="digest")["items"]
    assert ("metadata" in digests[1], digests[0]["length"]) == (False, 5)
    stats = ben_mcp.call("hub", "stats")
    assert (stats["workflows"], stats["scratchpads"]) == (1, 1)
    news = ben_mcp.call("hub", "updates", since="e0")
    assert (news["workflows"], news["scratchpads"]) == (1, 1)
    ada_mcp.call("scratchpad", "append", scratchpad_id=row_id, content="x")
    [row] = ben_mcp.rows("hub", "activity", verbs=["append"])
    assert (row["ref"], row["note"]) == (f"scratchpad:{row_id}", "notes")


# -- Filters and pages -----------------------------------------------------------------------------


@pytest.fixture
def filled(ada_mcp: McpClient) -> dict[str, int]:
    ids = {name: new_workflow(ada_mcp, name=name) for name in ("open", "closed")}
    pad(ada_mcp, "eagle one", ids["open"], "first")
    pad(ada_mcp, "eagle two\nand eagle three", ids["open"], "second")
    pad(ada_mcp, "eagle four", ids["closed"], "third")
    ada_mcp.call("scratchpad", "close_workflow", workflow_id=ids["closed"])
    return ids


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["closed", "open"]),
        ({"active": True}, ["open"]),
        ({"active": "false"}, ["closed"]),
        ({"text": "three"}, ["open"]),
        ({"text": "eagle", "active": False}, ["closed"]),
    ],
    ids=str,
)
def test_each_filter_narrows_the_workflows(
    filled: dict[str, int], ada_mcp: McpClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert [row["name"] for row in ada_mcp.rows("scratchpad", "workflows", **query)] == expected


def test_each_filter_narrows_the_search(filled: dict[str, int], ada_mcp: McpClient) -> None:
    def found(**query: Any) -> list[str]:
        return sorted(row["name"] for row in ada_mcp.rows("scratchpad", "search", query="eagle", **query))

    assert found() == ["first", "second", "third"]
    assert found(workflow_id=filled["open"]) == ["first", "second"]
    assert len(found(limit=1)) == 1
    second = ada_mcp.rows("scratchpad", "list", workflow_id=filled["open"])[1]["id"]
    assert found(scratchpad_id=second) == ["second", "second"]
    rows = ada_mcp.rows("scratchpad", "search", query="three", scratchpad_id=second)
    assert [(row["line"], row["snippet"]) for row in rows] == [(2, "and eagle «three»")]
    assert "snippet" not in ada_mcp.rows("scratchpad", "search", query="three", include_content=False)[0]


def test_revisions_are_paged_by_their_cursor(ada_mcp: McpClient) -> None:
    row_id = pad(ada_mcp)
    for n in range(4):
        ada_mcp.call("scratchpad", "append", scratchpad_id=row_id, content=str(n))
    found: list[int] = []
    cursor: dict[str, Any] = {}
    for _ in range(3):
        page = ada_mcp.call("scratchpad", "revisions", scratchpad_id=row_id, limit=2, **cursor)
        found += [row[0] for row in page["rows"]]
        cursor = {"cursor": page.get("next")}
    assert cursor == {"cursor": None}
    assert len(found) == len(set(found)) == 5


@pytest.mark.parametrize("action", ["workflows", "list", "revisions", "search"])
def test_a_list_can_return_objects_and_respects_max_tokens(
    ada_mcp: McpClient, filled: dict[str, int], action: str
) -> None:
    [first, *_] = ada_mcp.rows("scratchpad", "list", workflow_id=filled["open"])
    arguments = {
        "workflows": {},
        "list": {"workflow_id": filled["open"], "include_content": True},
        "revisions": {"scratchpad_id": first["id"]},
        "search": {"query": "eagle"},
    }[action]
    whole = ada_mcp.call("scratchpad", action, **arguments, format="objects")
    assert whole["count"] == len(whole["items"]) >= 1
    short = ada_mcp.call("scratchpad", action, **arguments, max_tokens=25)
    assert short["count"] < max(whole["count"], 2)
    assert ada_mcp.call("scratchpad", action, **arguments, format="xml")["error"] == "invalid"


# -- Bad input -------------------------------------------------------------------------------------

P, W = "PAD", "WORKFLOW"
HUGE = 10**30

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("create_workflow", {"name": "x" * 201}, "name"),
    ("workflows", {"text": " "}, "text"),
    ("workflows", {"limit": 0}, "limit"),
    ("workflows", {"limit": HUGE}, "limit"),
    ("workflows", {"cursor": "zzz"}, "cursor"),
    ("create", {"workflow_id": W, "name": ""}, "name"),
    ("create", {"workflow_id": W, "name": "x", "content": "\x00"}, "NUL"),
    ("list", {"workflow_id": W, "limit": 201}, "limit"),
    ("get", {}, "scratchpad_id"),
    ("get", {"scratchpad_id": P, "scratchpad_ids": [P]}, "scratchpad_id"),
    ("get", {"scratchpad_ids": []}, "scratchpad_ids"),
    ("get", {"scratchpad_id": P, "lines": "a"}, "lines"),
    ("get", {"scratchpad_id": P, "lines": ""}, "lines"),
    ("get", {"scratchpad_id": P, "tail": 0}, "tail"),
    ("get", {"scratchpad_id": P, "tail": 1, "lines": "1"}, "exclude"),
    ("get", {"scratchpad_id": P, "max_tokens": -1}, "max_tokens"),
    ("append", {"scratchpad_id": P, "content": ""}, "content"),
    ("append", {"scratchpad_id": P, "content": "\x00"}, "NUL"),
    ("update", {"scratchpad_id": P, "content": "x", "mode": "odd"}, "mode"),
    ("update", {"scratchpad_id": P, "content": "x", "mode": "insert"}, "line"),
    ("update", {"scratchpad_id": P, "content": "x", "end": 1}, "line"),
    ("update", {"scratchpad_id": P, "content": "x", "mode": "insert", "line": HUGE}, "line"),
    ("update", {"scratchpad_id": P, "content": "x", "mode": "replace_lines", "line": 1, "end": 0}, "end"),
    ("update", {"scratchpad_id": P, "content": "x", "mode": "section", "section": "Nowhere"}, "section"),
    ("revisions", {"scratchpad_id": P, "limit": 0}, "limit"),
    ("revisions", {"scratchpad_id": P, "cursor": "zzz"}, "cursor"),
    ("search", {"query": ""}, "query"),
    ("search", {"query": "x", "limit": 0}, "limit"),
]


@pytest.fixture
def ids(ada_mcp: McpClient) -> dict[str, int]:
    workflow = new_workflow(ada_mcp)
    return {W: workflow, P: pad(ada_mcp, workflow=workflow)}


@pytest.mark.parametrize(("action", "arguments", "named"), BAD, ids=str)
def test_bad_input_is_named_and_nothing_is_written(
    ada_mcp: McpClient,
    apollo: Project,
    ids: dict[str, int],
    action: str,
    arguments: dict[str, Any],
    named: str,
) -> None:
    before = tables(apollo)
    filled = {
        name: [ids.get(one, one) for one in value]
        if isinstance(value, list)
        else ids.get(value, value)
        if isinstance(value, str)
        else value
        for name, value in arguments.items()
    }
    answer = ada_mcp.call("scratchpad", action, **filled)
    assert answer["error"] == "invalid"
    assert named in answer["message"]
    assert tables(apollo) == before


@pytest.mark.parametrize("unknown", [0, -1, 999_999, 2**63, HUGE, "scratchpad:999999"])
def test_writes_on_an_unknown_pad_are_not_found(ada_mcp: McpClient, unknown: Any) -> None:
    for action, arguments in (
        ("append", {"content": "x"}),
        ("update", {"content": "x"}),
        ("restore", {"revision": 1}),
    ):
        answer = ada_mcp.call("scratchpad", action, scratchpad_id=unknown, **arguments)
        assert (answer["error"], bool(answer["hint"])) == ("not_found", True)


@pytest.mark.parametrize("unknown", [0, -1, 999_999, 2**63, HUGE])
def test_writes_on_an_unknown_workflow_are_not_found_and_reads_are_empty(
    ada_mcp: McpClient, unknown: int
) -> None:
    for action, arguments in (("create", {"name": "x"}), ("close_workflow", {})):
        assert ada_mcp.call("scratchpad", action, workflow_id=unknown, **arguments)["error"] == "not_found"
    assert ada_mcp.call("scratchpad", "list", workflow_id=unknown)["count"] == 0
    assert ada_mcp.call("scratchpad", "search", query="x", workflow_id=unknown)["count"] == 0


def test_a_stale_length_is_a_conflict_with_the_current_length(ada_mcp: McpClient) -> None:
    row_id = pad(ada_mcp, "text")
    answer = ada_mcp.call("scratchpad", "update", scratchpad_id=row_id, content="x", expected_length=3)
    assert (answer["error"], answer["current"]) == ("conflict", {"length": 4, "revision": 1})
    assert content_of(row_id) == "text"


def test_an_unknown_section_lists_the_known_ones(ada_mcp: McpClient) -> None:
    arguments = {"scratchpad_id": pad(ada_mcp), "content": "x", "mode": "section", "section": "nowhere"}
    assert ada_mcp.call("scratchpad", "update", **arguments)["allowed"] == ["Findings", "Plan"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("begin", "create_workflow"),
        ("list_scratchpads", "list"),
        ("create-scratchpad", "create"),
        ("get_scratchpad", "get"),
        ("append-scratchpad", "append"),
        ("search_scratchpads", "search"),
        ("update-workflow-status", "close_workflow"),
        ("list-workflows", "workflows"),
        ("tail-scratchpad", "get"),
        ("undo", "restore"),
    ],
)
def test_action_names_of_other_tools_get_a_suggestion(ada_mcp: McpClient, name: str, expected: str) -> None:
    assert ada_mcp.call("scratchpad", name)["did_you_mean"] == expected


@pytest.mark.parametrize(
    ("action", "name", "expected"),
    [
        ("update", "line_number", "line"),
        ("update", "start_line", "line"),
        ("update", "end_line", "end"),
        ("update", "section_marker", "section"),
        ("get", "line_range", "lines"),
        ("get", "tail_size", "tail"),
        ("get", "max_content_chars", "max_tokens"),
        ("append", "pad_id", "scratchpad_id"),
        ("workflows", "is_active", "active"),
        ("list", "offset", "cursor"),
    ],
)
def test_argument_names_of_other_tools_get_a_suggestion(
    ada_mcp: McpClient, action: str, name: str, expected: str
) -> None:
    assert ada_mcp.call("scratchpad", action, **{name: "x"})["did_you_mean"] == {name: expected}


# -- Rights and requests ---------------------------------------------------------------------------


def test_a_repeated_request_is_written_once(ada_mcp: McpClient) -> None:
    row_id = pad(ada_mcp, "text")
    arguments = {"action": "append", "scratchpad_id": row_id, "content": "once"}
    first, again = (
        json.loads(
            ada_mcp.result("scratchpad", arguments, {"ctxhub/request_id": "r-1"})["content"][0]["text"]
        )
        for _ in range(2)
    )
    assert first == again
    assert content_of(row_id) == "text\n\nonce"
