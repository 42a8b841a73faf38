"""Edits of pads without a mode, and with arguments that contradict each other: alike on every face."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from ctxhub.core.models import Project
from memory.models import PadChange
from tests.hub import McpClient, RestClient
from tests.memory.pads import CONTRADICTIONS, MEANT, SECTIONS, content_of, states_of
from tests.tables import dump_written

Edit = Callable[..., dict[str, Any]]


@pytest.fixture
def pad(ada_rest: RestClient) -> int:
    workflow = ada_rest.post("workflows/", {}).body["id"]
    said = {"workflow_id": workflow, "name": "n", "content": SECTIONS}
    return int(ada_rest.post("scratchpads/", said).body["scratchpad_id"])


@pytest.fixture(params=["MCP", "call", "PATCH"])
def edit(request: pytest.FixtureRequest, ada_mcp: McpClient, ada_rest: RestClient, pad: int) -> Edit:
    faces: dict[str, Edit] = {
        "MCP": lambda **said: ada_mcp.call("scratchpad", "update", scratchpad_id=pad, **said),
        "call": lambda **said: ada_rest.post("call/scratchpad/update/", {"scratchpad_id": pad, **said}).body,
        "PATCH": lambda **said: ada_rest.patch(f"scratchpads/{pad}/", said).body,
    }
    return faces[request.param]


@pytest.mark.parametrize(("said", "wanted", "change"), MEANT, ids=str)
def test_the_place_tells_the_mode(
    edit: Edit, pad: int, said: dict[str, Any], wanted: str, change: PadChange
) -> None:
    assert edit(content="new", **said)["result"] == "updated"
    assert content_of(pad) == wanted
    assert states_of(pad)[-1].change == change


@pytest.mark.parametrize(("said", "why"), CONTRADICTIONS, ids=str)
def test_a_contradiction_is_invalid_and_nothing_is_written(
    edit: Edit, apollo: Project, said: dict[str, Any], why: str
) -> None:
    before = dump_written(apollo)
    answer = edit(content="new", **said)
    assert answer["error"] == "invalid"
    assert re.search(why, answer["message"])
    assert "replace_lines takes line and end" in answer["hint"]
    assert dump_written(apollo) == before
