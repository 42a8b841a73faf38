"""Edits of pads without a mode or with contradicting arguments: the same over MCP, REST calls and PATCH."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from ctxhub.core.models import Project
from memory.models import PadChange
from tests.hub import McpClient, RestClient
from tests.memory.pads import CONTRADICTIONS, INFERRED_MODES, SECTIONS, content_of, revisions_of
from tests.tables import dump_written

Edit = Callable[..., dict[str, Any]]


@pytest.fixture
def pad(ada_rest: RestClient) -> int:
    workflow = ada_rest.post("workflows/", {}).body["id"]
    body = {"workflow_id": workflow, "name": "n", "content": SECTIONS}
    return int(ada_rest.post("scratchpads/", body).body["scratchpad_id"])


@pytest.fixture(params=["MCP", "call", "PATCH"])
def edit(request: pytest.FixtureRequest, ada_mcp: McpClient, ada_rest: RestClient, pad: int) -> Edit:
    faces: dict[str, Edit] = {
        "MCP": lambda **arguments: ada_mcp.call("scratchpad", "update", scratchpad_id=pad, **arguments),
        "call": lambda **arguments: (
            ada_rest.post("call/scratchpad/update/", {"scratchpad_id": pad, **arguments}).body
        ),
        "PATCH": lambda **arguments: ada_rest.patch(f"scratchpads/{pad}/", arguments).body,
    }
    return faces[request.param]


@pytest.mark.parametrize(("arguments", "expected", "change"), INFERRED_MODES, ids=str)
def test_the_mode_is_inferred_from_the_place(
    edit: Edit, pad: int, arguments: dict[str, Any], expected: str, change: PadChange
) -> None:
    assert edit(content="new", **arguments)["result"] == "updated"
    assert content_of(pad) == expected
    assert revisions_of(pad)[-1].change == change


@pytest.mark.parametrize(("arguments", "message"), CONTRADICTIONS, ids=str)
def test_a_contradiction_is_invalid_and_nothing_is_written(
    edit: Edit, apollo: Project, arguments: dict[str, Any], message: str
) -> None:
    before = dump_written(apollo)
    answer = edit(content="new", **arguments)
    assert answer["error"] == "invalid"
    assert re.search(message, answer["message"])
    assert "replace_lines takes line and end" in answer["hint"]
    assert dump_written(apollo) == before
