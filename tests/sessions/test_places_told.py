"""Where a client works, as its connection tells it, is stored with what it saves."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from sessions.sittings.contents import read_states
from sessions.sittings.services import save_session
from tests.hub import LiveHub, McpClient, RestClient

FEATURE = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def saved(caller: Caller, **arguments: Any) -> tuple[str, str]:
    session = save_session(caller=caller.in_session("mine"), **arguments)["session"]
    state = read_states([session])[session]
    return state.branch, state.worktree


def test_what_the_connection_tells_is_stored_where_the_call_says_nothing(ada: Caller) -> None:
    assert saved(ada.at("main", "/src/shop"), summary="s") == ("main", "/src/shop")
    assert saved(ada.at("faster", None), summary="s") == ("faster", "/src/shop")
    assert saved(ada, summary="s") == ("faster", "/src/shop")


def test_an_argument_wins_and_null_clears(ada: Caller) -> None:
    there = ada.at("main", "/src/shop")
    assert saved(there, summary="s", branch="said") == ("said", "/src/shop")
    assert saved(there, branch=None, worktree="") == ("", "")


def test_a_place_alone_is_nothing_to_save(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="nothing to save"):
        saved(ada.at("main", "/src/shop"))


@pytest.mark.parametrize("bad", ["x" * 1_001, "a\0b", "\ud800", " ", 5, None, ["main"], FEATURE])
def test_what_cannot_be_stored_is_ignored(ada: Caller, bad: Any) -> None:
    saved(ada.at("main", "/src/shop"), summary="s")
    assert saved(ada.at(bad, bad), summary="s") == ("main", "/src/shop")


def test_control_characters_are_cut(ada: Caller) -> None:
    assert saved(ada.at("ma\u200bin\x1b", "/src\n"), summary="s") == ("main", "/src")


# -- The faces -------------------------------------------------------------------------------------


def place_of(client: McpClient, rest: RestClient, **meta: Any) -> tuple[str | None, str | None]:
    result = client.result("session", {"action": "save", "session": "mine", "summary": "s"}, meta)
    assert not result["isError"], result
    [row] = rest.get("sessions/").body["items"]
    state = rest.get(f"sessions/{row['session']}/").body.get("state", {})
    return state.get("branch"), state.get("worktree")


def test_headers_tell_it_and_meta_wins(hub: LiveHub, ada_token: str, ada_rest: RestClient) -> None:
    branch = "größer".encode().decode("latin-1")
    client = hub.mcp(ada_token, **{"Ctxhub-Branch": branch, "Ctxhub-Worktree": "/src/shop"})
    assert place_of(client, ada_rest) == ("größer", "/src/shop")
    meta = {"ctxhub/branch": "main", "ctxhub/worktree": 5}
    assert place_of(client, ada_rest, **meta) == ("main", "/src/shop")


@pytest.mark.parametrize("bad", ["x" * 2_000, FEATURE, " "])
def test_a_bad_header_fails_no_call(hub: LiveHub, ada_token: str, ada_rest: RestClient, bad: str) -> None:
    client = hub.mcp(ada_token, **{"Ctxhub-Branch": bad, "Ctxhub-Worktree": bad})
    assert place_of(client, ada_rest) == (None, None)
