"""Conversations that are saved as messages, and items and files as texts, over MCP and REST."""

import json
from typing import Any

import pytest

from ctxhub.core.kit.errors import InvalidInput
from sessions.sittings.conversations import conversation_text
from tests.hub import McpClient, RestClient

CHAT = [{"role": "user", "content": "Why is it slow?"}, {"role": "assistant", "content": "It asks\ntwice."}]
AS_TEXT = "user: Why is it slow?\n\nassistant: It asks\ntwice."
KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def told(content: Any, **more: Any) -> str:
    return conversation_text([{"role": "assistant", "content": content, **more}])


# -- Messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", [CHAT, json.dumps(CHAT), str(CHAT), {"messages": CHAT}, {"model": "m", "messages": CHAT}], ids=str
)
def test_messages_are_kept_as_a_text(form: Any) -> None:
    assert conversation_text(form) == AS_TEXT


@pytest.mark.parametrize(
    "text", ["[1] first\n[2] second", '["a", "b"]', "[]", '{"a": 1}', "user: [x]", "  a "]
)
def test_a_text_that_is_no_list_of_messages_stays_as_it_is(text: str) -> None:
    assert conversation_text(text) == text


def test_one_message_and_texts_among_messages_are_understood() -> None:
    assert conversation_text({"role": "user", "content": "Hi."}) == "user: Hi."
    assert conversation_text(["user: Hi.", CHAT[0]]) == "user: Hi.\n\nuser: Why is it slow?"


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        ({"type": "text", "text": "Hi."}, "Hi."),
        ({"type": "output_text", "text": "Hi.", "annotations": []}, "Hi."),
        ("Hi.", "Hi."),
        ({"type": "image", "source": {"type": "base64", "data": "aGk="}}, "[image]"),
        ({"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}, "[image]"),
        ({"type": "tool_use", "id": "t1", "name": "search", "input": {"query": "x"}}, "[tool call: search]"),
        ({"type": "tool_result", "tool_use_id": "t1", "content": "long"}, "[tool result]"),
        ({"type": "thinking", "thinking": "..."}, "[thinking]"),
        ({"type": "web_page"}, "[web page]"),
        ({"inlineData": {"data": "aGk="}}, "[inlineData]"),
    ],
    ids=str,
)
def test_a_part_is_its_text_or_leaves_a_mark(part: Any, kept: str) -> None:
    assert told([{"type": "text", "text": "First."}, part]) == f"assistant: First.\n{kept}"


def test_calls_beside_the_content_leave_marks() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]
    assert told(None, tool_calls=calls) == "assistant: [tool call: search]"
    assert told("Let me see.", tool_calls=calls) == "assistant: Let me see.\n[tool call: search]"
    assert told(None, function_call={"name": "search"}) == "assistant: [tool call: search]"


def test_the_parts_of_other_apis_are_read() -> None:
    assert conversation_text([{"role": "model", "parts": [{"text": "Hi."}]}]) == "model: Hi."
    assert conversation_text([{"role": "user", "text": "Hi."}]) == "user: Hi."
    assert told("") == "assistant:"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([{"content": "Hi."}], "conversation[0] needs role"),
        ([CHAT[0], {"role": "user"}], "conversation[1] needs content"),
        ([{"role": "user", "content": None}], "conversation[0] needs content"),
        ([{"role": "user", "content": 5}], "conversation[0].content must be a text or a part, not 5"),
        ([{"role": "user", "content": [[]]}], "conversation[0].content[0] must be a text or a part"),
        ([{"role": 5, "content": "Hi."}], "conversation[0] needs role"),
        ([5], "conversation[0] must be a message, not 5"),
        ({"text": "Hi."}, "has no role"),
        (json.dumps([CHAT[0], {"role": "user"}]), "conversation[1] needs content"),
    ],
    ids=str,
)
def test_what_is_no_message_is_refused_with_a_way_to_write_it(bad: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        conversation_text(bad)
    assert words in refused.value.message
    assert "Write" in refused.value.hint


# -- Over the wire ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [CHAT, json.dumps(CHAT)], ids=["list", "text"])
def test_messages_are_saved_and_restored(form: Any, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    saved = ada_mcp.call("session", "save", conversation=form)
    assert ada_rest.post("sessions/", {"conversation": form, "session": "again"}).status == 201
    for session in (saved["session"], "again"):
        restored = ada_mcp.call("session", "restore", session=session)
        assert restored["conversations"]["rows"][0][3] == AS_TEXT


def test_the_last_message_is_kept_when_a_budget_cuts(ada_mcp: McpClient) -> None:
    chat = [{"role": "user", "content": f"Question {n}? " + "word " * 40} for n in range(30)]
    ada_mcp.call("session", "save", conversation=chat)
    restored = ada_mcp.call("session", "restore", budget_tokens=300)
    assert restored["conversations"]["rows"][0][3].startswith("…")
    assert "user: Question 29?" in restored["conversations"]["rows"][0][3]


def test_a_credential_in_a_message_is_masked(ada_mcp: McpClient) -> None:
    saved = ada_mcp.call("session", "save", conversation=[{"role": "user", "content": f"Use {KEY}."}])
    assert saved["masked"] == 1
    restored = ada_mcp.call("session", "restore")
    assert restored["conversations"]["rows"][0][3] == "user: Use [credential: GitHub token]."


@pytest.mark.parametrize("bad", [5, True, [5], [{"content": "Hi."}]], ids=str)
def test_a_bad_conversation_is_refused_alike(bad: Any, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    reply = ada_rest.post("sessions/", {"conversation": bad})
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    refused = ada_mcp.call("session", "save", conversation=bad)
    assert "role" in refused["message"] + refused.get("hint", "")
    assert ada_mcp.rows("session", "list", implicit=True) == []


# -- Items and files as texts ----------------------------------------------------------------------


@pytest.mark.parametrize("form", [["write tests"], "write tests", '["write tests"]'], ids=str)
def test_a_text_is_an_item(form: Any, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    first = ada_mcp.call("session", "save", items=form)["session"]
    second = ada_rest.post("sessions/", {"items": form}).body["session"]
    for session in (first, second):
        [item] = ada_rest.get(f"sessions/{session}/", full=True).body["items"]
        assert (item["category"], item["content"], item["importance"]) == ("", "write tests", 5)


def test_texts_and_objects_stand_in_one_list(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    items = ["first", {"content": "second", "importance": 9}, '{"content": "third"}']
    files = ["a.py", {"path": "b.py", "hash": "1"}]
    session = ada_mcp.call("session", "save", items=items, files=files)["session"]
    found = ada_rest.get(f"sessions/{session}/", full=True).body["items"]
    assert [(item["content"], item["importance"]) for item in found] == [
        ("first", 5),
        ("second", 9),
        ("third", 5),
    ]
    assert [row["path"] for row in ada_mcp.rows("session", "resources", session=session)] == ["b.py", "a.py"]


@pytest.mark.parametrize("form", [["src/a.py"], "src/a.py", [{"path": "./src/a.py"}]], ids=str)
def test_a_text_is_the_path_of_a_file(form: Any, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    first = ada_mcp.call("session", "save", files=form)["session"]
    second = ada_rest.post("sessions/", {"files": form}).body["session"]
    for session in (first, second):
        restored = ada_mcp.call(
            "session", "restore", session=session, files=[{"path": "src/a.py", "hash": "1"}]
        )
        assert restored["files"]["columns"] == ["path"]  # Whether it changed is unknown.
        assert restored["files"]["rows"] == [["src/a.py"]]


def test_a_path_alone_keeps_the_hash_that_was_known(ada_mcp: McpClient) -> None:
    saved = ada_mcp.call("session", "save", session="work", files=[{"path": "a.py", "hash": "1"}])["session"]
    ada_mcp.call("session", "track", session="work", path="a.py", access="edited", hash="2")
    ada_mcp.call("session", "save", session="work", files=["a.py"])
    restored = ada_mcp.call("session", "restore", session=saved, files=[{"path": "a.py", "hash": "2"}])
    assert restored["files"]["rows"] == [["a.py", False]]


def test_a_present_file_without_a_hash_is_not_missing(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    ada_mcp.call("session", "save", files=[{"path": "a.py", "hash": "1"}, {"path": "b.py", "hash": "1"}])
    present = ["a.py", {"path": "b.py"}]
    expected = [["b.py", "missing"], ["a.py", None]]
    assert ada_mcp.call("session", "restore", files=present)["files"]["rows"] == expected
    assert ada_rest.post("sessions/restore/", {"files": present}).body["files"]["rows"] == expected


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"items": [""]}, "items[0] needs content: a text."),
        ({"items": [5]}, "items[0] must be a text, or an object with category, content, importance, tokens"),
        ({"files": ["../a"]}, "files[0].path"),
        ({"files": [""]}, "files[0] needs path: a text."),
        ({"items": "null"}, "items"),
        ({"items": ["x"] * 51}, "items has 51 entries; the limit is 50."),
    ],
    ids=str,
)
def test_a_bad_entry_is_refused_alike(
    body: dict[str, Any], words: str, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    reply = ada_rest.post("sessions/", body)
    assert (reply.status, words in reply.body["message"]) == (400, True), reply.body
    assert words in ada_mcp.call("session", "save", **body)["message"]
    assert ada_mcp.rows("session", "list", implicit=True) == []
