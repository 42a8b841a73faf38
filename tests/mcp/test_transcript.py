"""Every method, right and wrong, in both eras: over both transports the answers are those on record."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from ctxhub import __version__
from ctxhub.core.kit.caller import Caller
from ctxhub.mcp.json_rpc import RpcError, read_message
from ctxhub.toolbox.instructions import instructions
from ctxhub.toolbox.tool_list import list_tools
from tests.golden.comparing import compare
from tests.hub import McpClient
from tests.mcp.transcript import CONVERSATIONS, META, Conversation, Message, headers_of
from tests.stdio import answered

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

MARK = {"jsonrpc": "2.0", "id": "mark", "method": "ping"}


def test_stdio_answers_as_on_record(ada: Caller, tmp_path: Path) -> None:
    said = [converse(conversation, ada, tmp_path) for conversation in CONVERSATIONS]
    compare("mcp_transcript.txt", "\n".join(said))


def test_http_answers_as_stdio(ada: Caller, ada_mcp: McpClient, tmp_path: Path) -> None:
    compared = 0
    for conversation in CONVERSATIONS:
        if not conversation.crosses:
            answers = {shown(a["id"]): a for a in answers_of(conversation, ada, tmp_path)}
            for message, headers in with_headers(conversation):
                assert ada_mcp.send("POST", "/mcp", message, headers).body == answers[shown(message["id"])]
                compared += 1
    assert compared > 150


def with_headers(conversation: Conversation) -> Iterator[tuple[Message, dict[str, str]]]:
    """The requests that HTTP takes."""
    for message in conversation.messages:
        if is_request(message) and (headers := headers_of(message, conversation.version)):
            yield message, headers


def is_request(message: Message | str) -> TypeGuard[Message]:
    try:
        read = read_message(as_line(message).encode())
    except RpcError:
        return False
    return read is not None and read.id is not None


def converse(conversation: Conversation, caller: Caller, folder: Path) -> str:
    """The conversation over stdio, each message with its answers below it."""
    answers = iter(answers_of(conversation, caller, folder))
    lines = [f"# {conversation.name}"]
    for message in conversation.messages:
        lines.append(f"> {shown(message)}")
        while (answer := next(answers))["id"] != MARK["id"]:
            lines.append(f"< {shown(shortened(answer, caller))}")
    return "\n".join([*lines, ""])


def answers_of(conversation: Conversation, caller: Caller, folder: Path) -> Iterator[Message]:
    lines = (line for message in conversation.messages for line in (as_line(message), json.dumps(MARK)))
    return iter(answered(caller, lines, folder))


def as_line(message: Message | str) -> str:
    return message if isinstance(message, str) else json.dumps(message)


def shown(message: Any) -> str:
    text = json.dumps(message, sort_keys=True, ensure_ascii=False)
    return text.replace(json.dumps(META, sort_keys=True), "META").replace(__version__, "VERSION")


def shortened(answer: Message, caller: Caller) -> Message:
    """Other golden files hold the tools and the instructions."""
    result = answer.get("result", {})
    if result.get("tools") == list_tools(caller):
        result["tools"] = "list_tools"
    if result.get("instructions") == instructions(caller):
        result["instructions"] = "INSTRUCTIONS"
    return answer
